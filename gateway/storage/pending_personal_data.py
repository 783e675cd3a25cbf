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
    """True when a kept value is about one of these people: WhatsApp's window, the identities it
    knows them under, and what the program asked of them or showed to them a moment ago."""
    if platform == PROGRAM:
        asked = _asked_of(value)
        return bool(asked) and asked in persons
    _, _, subject = key.partition(":")
    return any(str(PersonId(platform, account, one)) in persons for one in (subject, value) if one)


def _asked_of(value: str) -> str:
    """The `str(PersonId)` whose question or list a value is, in JSON or in a first line of its own;
    empty for any other value."""
    if not value.startswith("{"):
        return value.partition("\n")[0]
    try:
        kept = json.loads(value)
    except ValueError:
        return ""
    return str(kept.get("person") or "") if isinstance(kept, dict) else ""
