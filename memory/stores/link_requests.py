"""How a request to link two identities is kept, and what each step does to it; the same in both
engines, which read and write the rows."""

import json
from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Final, cast

from gateway.message import Place
from gateway.people import Audience
from memory.ports.links import LinkOutcome, LinkRequest, LinkSide, LinkState
from memory.stores.limits import MAX_LINKED

EXPIRE_AT_ONCE: Final = 100
ACTIVE: Final[tuple[LinkState, ...]] = ("redeemed", "confirmed")


@dataclass(frozen=True, slots=True)
class KeptRequest:
    """A row of `link_requests`. `settled` is the exchange that changed it last."""

    request: LinkRequest
    settled: str

    @property
    def active(self) -> bool:
        """True when the code was entered and a confirmation is missing."""
        return self.request.state in ACTIVE


def account_of(person: str) -> str:
    """The "platform:account" of a `str(PersonId)`."""
    platform, _, rest = person.partition(":")
    return f"{platform}:{rest.partition(':')[0]}"


def obstacle(persons: Collection[str]) -> LinkOutcome | None:
    """The reason why these identities cannot be linked with one another, None where they can."""
    if len({account_of(person) for person in persons}) < len(persons):
        return "same_account"
    return "too_many" if len(persons) > MAX_LINKED else None


def redeemed(
    kept: KeptRequest, redeemer: LinkSide, request_id: str, until: datetime
) -> KeptRequest:
    """The request after its code was entered."""
    request = replace(kept.request, id=request_id, state="redeemed", redeemer=redeemer, until=until)
    return KeptRequest(request, "")


def confirming(kept: KeptRequest | None, person: str, exchange: str, now: datetime) -> LinkOutcome:
    """The outcome of a confirmation; `linked` still depends on `obstacle`."""
    if kept is None or kept.request.own(person) is None or kept.request.until <= now:
        return "unknown"
    again, state = kept.settled == exchange, kept.request.state
    if state == "linked":
        return "linked" if again else "unknown"
    if state not in ACTIVE:
        return "unknown"
    if person == kept.request.maker.person:
        return "linked" if state == "confirmed" else "early"
    return "agreed" if state == "redeemed" or again else "waiting"


def sides_text(request: LinkRequest) -> str:
    """Both sides as JSON."""
    sides = (request.maker, request.redeemer)
    return json.dumps([None if side is None else _side(side) for side in sides])


def request_of(tenant: str, id_: str, state: str, sides: str, until: datetime) -> LinkRequest:
    """The request that a row holds; the table checks the state."""
    maker, redeemer = json.loads(sides)
    other = None if redeemer is None else _side_of(redeemer)
    return LinkRequest(id_, tenant, cast("LinkState", state), _side_of(maker), other, until)


def place_text(place: Place | None) -> str:
    """A place as JSON, empty for none."""
    return "" if place is None else json.dumps(asdict(place))


def place_of(text: str) -> Place | None:
    """The place that `place_text` wrote."""
    if not text:
        return None
    fields = json.loads(text)
    return Place(**{**fields, "audience": Audience(fields["audience"])})


def _side(side: LinkSide) -> dict[str, str]:
    return {"person": side.person, "name": side.name, "place": place_text(side.place)}


def _side_of(fields: dict[str, str]) -> LinkSide:
    return LinkSide(fields["person"], fields["name"], place_of(fields["place"]))
