"""Storage of linked identities, and of requests to link two identities."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from gateway.message import Place

LinkState = Literal["offered", "redeemed", "confirmed", "linked"]
"""`offered`: a code waits to be entered. `redeemed`: it was entered. `confirmed`: the redeemer has
confirmed, and the maker is asked. `linked`: both have confirmed."""

LinkOutcome = Literal[
    "redeemed",
    "agreed",
    "waiting",
    "early",
    "linked",
    "unknown",
    "own",
    "busy",
    "already",
    "same_account",
    "too_many",
]
"""The result of a step. `agreed`: the redeemer confirmed, now or in the same turn before;
`waiting`: it had confirmed already; `early`: the maker confirms before the redeemer did; the rest
from `unknown` on are refusals."""


@dataclass(frozen=True, slots=True)
class LinkSide:
    """An identity in a link. `person` is a `str(PersonId)`, `name` a display name, `place` the
    direct conversation if known."""

    person: str
    name: str = ""
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Linked:
    """A linked identity, and the time of the link if known."""

    side: LinkSide
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """A request to link two identities. `redeemer` is None until the code is entered."""

    id: str
    tenant: str
    state: LinkState
    maker: LinkSide
    redeemer: LinkSide | None
    until: datetime

    def opposite(self, person: str) -> LinkSide | None:
        """Return the other side of the request."""
        return self.redeemer if person == self.maker.person else self.maker

    def own(self, person: str) -> LinkSide | None:
        """Return this person's side of the request; None for other people."""
        return next((s for s in (self.maker, self.redeemer) if s and s.person == person), None)


@dataclass(frozen=True, slots=True)
class LinkStep:
    """The outcome of a step, and the request after it, or as it ended."""

    outcome: LinkOutcome
    request: LinkRequest | None = None


class LinkStore(Protocol):
    """Requests to link, and links. A person takes part in one request at a time.

    `person` is the `str(PersonId)` of the caller; only `memory/service/links.py` uses this store.
    Up to 10 identities are linked, never two of one account (`platform:account`).
    """

    async def offer(self, tenant: str, maker: LinkSide, code: str, until: datetime) -> None:
        """Store the hash of a one-time code, replacing the maker's last one."""
        ...

    async def redeem(
        self, tenant: str, redeemer: LinkSide, code: str, request_id: str, now: datetime,
        until: datetime,
    ) -> LinkStep:  # fmt: skip
        """Enter a code. Nothing is linked: both sides have to confirm before `until`.

        The outcome is `redeemed`, `unknown`, `own`, `busy`, `already`, `same_account` (the code is
        used up) or `too_many`. Entering it again by the same person is `redeemed` again.
        """
        ...

    async def active(self, tenant: str, person: str, now: datetime) -> LinkRequest | None:
        """Return this person's request if its code was entered."""
        ...

    async def confirm(
        self, tenant: str, person: str, request_id: str, turn_id: str, now: datetime
    ) -> LinkStep:
        """Confirm one side: first the redeemer's, then the maker's, which links both.

        Linking ends the other open requests of all linked identities. The same `turn_id` again has
        the same outcome: `agreed`, `waiting`, `early`, `linked`, `unknown`, or `same_account` or
        `too_many`, which end the request.
        """
        ...

    async def cancel(
        self, tenant: str, person: str, now: datetime, request_id: str = ""
    ) -> LinkRequest | None:
        """End this person's request (only `request_id` if given), its code entered or not; return
        it as it was."""
        ...

    async def expire(self, now: datetime) -> list[LinkRequest]:
        """End up to 100 expired requests; return those that were not completed."""
        ...

    async def linked(self, tenant: str, person: str) -> list[Linked]:
        """Return the other identities that are linked with this one."""
        ...

    async def unlink(self, tenant: str, person: str) -> list[Linked]:
        """Unlink an identity; return those it was linked with."""
        ...
