"""What of the events and sends that wait is somebody's."""

import json
from collections.abc import Collection
from typing import Final

from gateway.message import InboundEvent, Outbound, author_of, place_of
from gateway.observe.correlation import correlation_id
from gateway.people import Audience, PersonId

PROGRAM: Final = "parley"
"""The platform under whose name the program keeps values of its own."""


def is_by(event: InboundEvent, persons: Collection[str]) -> bool:
    """Whether one of these people (`str(PersonId)`) caused the event."""
    author, place = author_of(event), place_of(event)
    if author is None:
        return False
    ids = (author.id, *author.aliases)
    return any(str(PersonId(place.platform, place.account, one)) in persons for one in ids)


def is_for(outbound: Outbound, persons: Collection[str]) -> bool:
    """Whether a send answers one of these people, or is read by them alone."""
    place = outbound.place
    readers = [outbound.private_to]
    if place.audience is Audience.DIRECT:
        readers.append(place.channel_id)
    named = {str(PersonId(place.platform, place.account, one)) for one in readers if one}
    return outbound.person in persons or not named.isdisjoint(persons)


def answers(exchange: str, table: str, key: str) -> bool:
    """True when the answer to this exchange needs a row: its event, and what permits to send at all
    (WhatsApp's window, a time that expires within 24 hours)."""
    if table == "inbox":
        return correlation_id(key) == exchange
    return bool(exchange) and table == "adapter_state" and key.startswith("window:")


def concerns(platform: str, account: str, key: str, value: str, persons: Collection[str]) -> bool:
    """Whether a value of an adapter is about one of these people: WhatsApp's window and the
    identities it knows them under; or a question that the program asked them."""
    if platform == PROGRAM:
        asked = (f"{one}\n" for one in persons)
        named = (f'"person": {json.dumps(one)}' for one in persons)
        return value.startswith(tuple(asked)) or any(one in value for one in named)
    _, _, subject = key.partition(":")
    return any(str(PersonId(platform, account, one)) in persons for one in (subject, value) if one)
