"""Assigns queued events, sends and adapter state to people."""

import json
from collections.abc import Collection
from typing import Final

from gateway.message import InboundEvent, Outbound, author_of, place_of
from gateway.observe.correlation import correlation_id
from gateway.people import Audience, PersonId

PROGRAM: Final = "parley"
"""The platform name under which the program stores values of its own."""


def is_by(event: InboundEvent, persons: Collection[str]) -> bool:
    """Return True if one of these people (`str(PersonId)`) caused the event."""
    author, place = author_of(event), place_of(event)
    if author is None:
        return False
    ids = (author.id, *author.aliases)
    return any(str(PersonId(place.platform, place.account, one)) in persons for one in ids)


def is_for(outbound: Outbound, persons: Collection[str]) -> bool:
    """Return True if a send answers one of these people, or only they read it."""
    place = outbound.place
    readers = [outbound.private_to]
    if place.audience is Audience.DIRECT:
        readers.append(place.channel_id)
    named = {str(PersonId(place.platform, place.account, one)) for one in readers if one}
    return outbound.person in persons or not named.isdisjoint(persons)


def answers(exchange: str, table: str, key: str) -> bool:
    """Return True if the answer to this exchange needs a row: its event, or the permission to send
    (WhatsApp's window, which expires within 24 hours)."""
    if table == "inbox":
        return correlation_id(key) == exchange
    return bool(exchange) and table == "adapter_state" and key.startswith("window:")


def concerns(platform: str, account: str, key: str, value: str, persons: Collection[str]) -> bool:
    """Return True if a stored value is about one of these people: WhatsApp's window, their known
    identities, and recent questions or lists of the program."""
    if platform == PROGRAM:
        reader = _asked_of(value)
        return bool(reader) and reader in persons
    _, _, subject = key.partition(":")
    return any(str(PersonId(platform, account, one)) in persons for one in (subject, value) if one)


def _asked_of(value: str) -> str:
    """Return the `str(PersonId)` of a question or list, from JSON or from its first line; empty for
    any other value."""
    if not value.startswith("{"):
        return value.partition("\n")[0]
    try:
        kept = json.loads(value)
    except ValueError:
        return ""
    return str(kept.get("person") or "") if isinstance(kept, dict) else ""
