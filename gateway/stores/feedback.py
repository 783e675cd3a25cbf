"""Feedback on answers: a thumb up or down, stored by the turn of the answer."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from db import Database, Statement, among
from db.database import delete_some, deleting_some
from db.values import micros, storable

PUT: Final = Statement("""
    INSERT INTO feedback (message_key, person, tenant, turn, rating, at)
    VALUES (:message_key, :person, :tenant, :turn, :rating, :at)
    ON CONFLICT (message_key, person) DO UPDATE SET tenant = excluded.tenant,
        turn = excluded.turn, rating = excluded.rating, at = excluded.at
""")
TAKE_BACK: Final = Statement("""
    DELETE FROM feedback WHERE message_key = :message_key AND person = :person
        AND rating <> :opposite
""")
OF: Final = Statement(f"""
    SELECT turn, count(*) FILTER (WHERE rating > 0), count(*) FILTER (WHERE rating < 0)
    FROM feedback WHERE {among("turn", "turn_ids")} GROUP BY turn
""")
PRUNE: Final = deleting_some("feedback", "message_key, person", "at < :before", "at")

Rating: TypeAlias = Literal[1, -1]
UP, DOWN = "👍", "👎"
_TONES: Final = frozenset(map(chr, range(0x1F3FB, 0x1F400)))
_VARIATION: Final = "\ufe0f"


class Feedback(Struct, frozen=True):
    """One person's thumb under one message. `message_key` identifies the message, `turn_id` is the
    id that `parley why` shows, `person` a `str(PersonId)`."""

    message_key: str
    person: str
    tenant: str
    turn_id: str
    rating: Rating
    at: datetime


class Thumbs(Struct, frozen=True):
    """The number of people with each thumb under the messages of a turn."""

    up: int = 0
    down: int = 0


def rating_of(emoji: str) -> Rating | None:
    """Return the rating of a reaction in any skin tone; None for other reactions."""
    plain = "".join(c for c in emoji[:8] if c not in _TONES and c != _VARIATION)
    return {UP: 1, DOWN: -1}.get(plain)  # type: ignore[return-value]  # the values are ratings


class FeedbackStore:
    """Stores at most one thumb per person and message. Everything raises `StoreUnavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, feedback: Feedback) -> None:
        """Store a thumb; it replaces an earlier one of the person under the message."""
        params = {
            "message_key": storable(feedback.message_key),
            "person": storable(feedback.person),
            "tenant": storable(feedback.tenant),
            "turn": storable(feedback.turn_id),
            "rating": feedback.rating,
            "at": micros(feedback.at),
        }
        await self._database.change(PUT, params)

    async def take_back(self, message_key: str, person: str, rating: Rating | None) -> None:
        """Delete the thumb, if it is this one; with None, any."""
        params = {
            "message_key": storable(message_key),
            "person": storable(person),
            "opposite": -(rating or 0),
        }
        await self._database.change(TAKE_BACK, params)

    async def of(self, turn_ids: Sequence[str]) -> dict[str, Thumbs]:
        """Return the thumbs of these turns; those without any are left out."""
        rows = await self._database.fetch(OF, {"turn_ids": list(turn_ids)})
        return {turn_id: Thumbs(up, down) for turn_id, up, down in rows}

    async def prune(self, before: datetime) -> int:
        """Delete some thumbs from before then; returns how many, 0 at the end."""
        return await delete_some(self._database, PRUNE, {"before": micros(before)})
