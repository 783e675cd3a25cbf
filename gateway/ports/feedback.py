"""Feedback on answers: a thumb up or down, stored by the turn of the answer."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

from pydantic_core import to_json

from gateway.message import Place

Rating: TypeAlias = Literal[1, -1]
KEEP_FEEDBACK: Final = timedelta(days=90)
UP, DOWN = "👍", "👎"
_TONES: Final = frozenset(map(chr, range(0x1F3FB, 0x1F400)))
_VARIATION: Final = "\ufe0f"


@dataclass(frozen=True, slots=True)
class Feedback:
    """One person's thumb under one message. `stands_at` identifies the message, `turn_id` is the
    id that `parley why` shows, `person` a `str(PersonId)`."""

    stands_at: str
    person: str
    tenant: str
    turn_id: str
    rating: Rating
    at: datetime


@dataclass(frozen=True, slots=True)
class Thumbs:
    """The number of people with each thumb under the messages of a turn."""

    up: int = 0
    down: int = 0


def rating_of(emoji: str) -> Rating | None:
    """Return the rating of a reaction in any skin tone; None for other reactions."""
    plain = "".join(c for c in emoji[:8] if c not in _TONES and c != _VARIATION)
    return {UP: 1, DOWN: -1}.get(plain)  # type: ignore[return-value]  # the values are ratings


def stands_at(place: Place, message_id: str) -> str:
    """Return the address of a message as one text; Telegram numbers messages per chat."""
    where = (place.platform, place.account, place.channel_id, message_id)
    return to_json(where).decode()
