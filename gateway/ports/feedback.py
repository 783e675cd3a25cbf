"""What people think of an answer: a thumb up or down under it, kept by the exchange it ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, Protocol, TypeAlias

from pydantic_core import to_json

from gateway.message import Place

Rating: TypeAlias = Literal[1, -1]

KEEP_FEEDBACK: Final = timedelta(days=90)
UP, DOWN = "👍", "👎"
_TONES: Final = frozenset(map(chr, range(0x1F3FB, 0x1F400)))
_VARIATION: Final = "\ufe0f"


@dataclass(frozen=True, slots=True)
class Feedback:
    """One person's thumb under one message. `stands_at` is `stands_at` of the message, `exchange`
    the id that `parley why` shows, `person` a `str(PersonId)`."""

    stands_at: str
    person: str
    tenant: str
    exchange: str
    rating: Rating
    at: datetime


@dataclass(frozen=True, slots=True)
class Thumbs:
    """How many people put each thumb under the messages of an exchange."""

    up: int = 0
    down: int = 0


class FeedbackStore(Protocol):
    """Thumbs, at most one of a person under a message. Everything raises `StoreUnavailable`."""

    async def put(self, feedback: Feedback) -> None:
        """Keep it, in the place of what the same person thought of the same message before."""
        ...

    async def take_back(self, stands_at: str, person: str, rating: Rating | None) -> None:
        """Forget it, if it is this one; with None whichever it is."""
        ...

    async def of(self, exchanges: Sequence[str]) -> dict[str, Thumbs]:
        """The thumbs of these exchanges; those without any are left out."""
        ...

    async def prune(self, before: datetime) -> int:
        """Delete some of what is from before then; returns how many, 0 in the end."""
        ...


def rating_of(emoji: str) -> Rating | None:
    """The rating that a reaction is, in whatever skin tone; None for any other reaction."""
    plain = "".join(c for c in emoji[:8] if c not in _TONES and c != _VARIATION)
    return {UP: 1, DOWN: -1}.get(plain)  # type: ignore[return-value]  # the values are ratings


def stands_at(place: Place, message_id: str) -> str:
    """Which message of which chat, as one text; Telegram counts its messages in every chat anew."""
    where = (place.platform, place.account, place.channel_id, message_id)
    return to_json(where).decode()
