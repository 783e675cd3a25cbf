"""Linked identities, and requests to link two of them that wait for both to confirm."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from gateway.message import Place

LinkState = Literal["offered", "redeemed", "confirmed", "linked"]
"""`offered`: a code waits to be entered. `redeemed`: it was. `confirmed`: the redeemer has
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
"""The result of a step. `agreed`: the redeemer confirmed, now or in the same exchange before;
`waiting`: it had confirmed already; `early`: the maker confirms before the redeemer did; the rest
from `unknown` on are refusals."""


@dataclass(frozen=True, slots=True)
class LinkSide:
    """An identity in a link. `person` is a `str(PersonId)`, `name` its display name, `place` its
    direct conversation, None where that is not known."""

    person: str
    name: str = ""
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Linked:
    """An identity that is linked, since when; None for links older than this was noted."""

    side: LinkSide
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """A request to link two identities. `redeemer` is None until the code was entered."""

    id: str
    tenant: str
    state: LinkState
    maker: LinkSide
    redeemer: LinkSide | None
    until: datetime

    def opposite(self, person: str) -> LinkSide | None:
        """The other side of the request."""
        return self.redeemer if person == self.maker.person else self.maker

    def own(self, person: str) -> LinkSide | None:
        """This person's side of the request, None for anybody else."""
        return next((s for s in (self.maker, self.redeemer) if s and s.person == person), None)


@dataclass(frozen=True, slots=True)
class LinkStep:
    """The result of a step, and the request as it is afterwards, or was when it ended."""

    outcome: LinkOutcome
    request: LinkRequest | None = None


class LinkStore(Protocol):
    """Requests to link, and links. A person takes part in one request at a time.

    `person` is the `str(PersonId)` of the principal; only `memory/service/links.py` calls these
    methods.
    Two identities of one account (`platform:account`) never become linked, at most 10 do.
    """

    async def offer(self, tenant: str, maker: LinkSide, code: str, until: datetime) -> None:
        """Keep the hash of a one-time code in place of the maker's last one."""
        ...

    async def redeem(
        self, tenant: str, redeemer: LinkSide, code: str, request_id: str, now: datetime,
        until: datetime,
    ) -> LinkStep:  # fmt: skip
        """Use a code up. Nothing is linked: from now until `until` both sides have to confirm.

        The outcome is `redeemed`, `unknown`, `own`, `busy`, `already`, `same_account` (the code is
        used up) or `too_many`. The same code by the same redeemer again is `redeemed` again.
        """
        ...

    async def active(self, tenant: str, person: str, now: datetime) -> LinkRequest | None:
        """The request that this person takes part in, once its code was entered."""
        ...

    async def confirm(
        self, tenant: str, person: str, request_id: str, exchange: str, now: datetime
    ) -> LinkStep:
        """One side confirms: the redeemer first, then the maker, which links both.

        Linking ends the other open requests of everybody who is one person then: their sides
        agreed to fewer identities. `exchange` names the work that does this: the same again has the
        same outcome. The outcome
        is `agreed`, `waiting`, `early`, `linked`, `unknown`, `same_account` or `too_many`; the last
        two end the request.
        """
        ...

    async def cancel(
        self, tenant: str, person: str, now: datetime, request_id: str = ""
    ) -> LinkRequest | None:
        """End the request that this person takes part in, with `request_id` that one only; the
        request as it was, also one whose code nobody entered."""
        ...

    async def expire(self, now: datetime) -> list[LinkRequest]:
        """End at most 100 requests whose time is over; those that were not completed."""
        ...

    async def linked(self, tenant: str, person: str) -> list[Linked]:
        """The identities that are linked with this one, without itself."""
        ...

    async def unlink(self, tenant: str, person: str) -> list[Linked]:
        """Take an identity out of its links; the identities it was linked with."""
        ...
