"""Storage of linked identities, and of requests to link two identities."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from msgspec import Struct

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


class Linked(Struct, frozen=True):
    """A linked identity, and the time of the link if known."""

    side: LinkSide
    since: datetime | None = None


class LinkRequest(Struct, frozen=True):
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


class LinkStep(Struct, frozen=True):
    """The outcome of a step, and the request after it, or as it ended."""

    outcome: LinkOutcome
    request: LinkRequest | None = None
