"""Feedback on answers."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from db import Database, Statement, among
from db.database import delete_some, deleting_some
from db.values import micros, storable
from gateway.ports.feedback import Feedback, Rating, Thumbs

PUT: Final = Statement("""
    INSERT INTO feedback (stands_at, person, tenant, turn, rating, at)
    VALUES (:stands_at, :person, :tenant, :turn, :rating, :at)
    ON CONFLICT (stands_at, person) DO UPDATE SET tenant = excluded.tenant,
        turn = excluded.turn, rating = excluded.rating, at = excluded.at
""")
TAKE_BACK: Final = Statement("""
    DELETE FROM feedback WHERE stands_at = :stands_at AND person = :person AND rating <> :opposite
""")
OF: Final = Statement(f"""
    SELECT turn, count(*) FILTER (WHERE rating > 0), count(*) FILTER (WHERE rating < 0)
    FROM feedback WHERE {among("turn", "turn_ids")} GROUP BY turn
""")  # noqa: S608 - constants
PRUNE: Final = deleting_some("feedback", "stands_at, person", "at < :before", "at")


class FeedbackStore:
    """Stores at most one thumb per person and message. Everything raises `StoreUnavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, feedback: Feedback) -> None:
        """Store a thumb; it replaces an earlier one of the person under the message."""
        params = {
            "stands_at": storable(feedback.stands_at),
            "person": storable(feedback.person),
            "tenant": storable(feedback.tenant),
            "turn": storable(feedback.turn_id),
            "rating": feedback.rating,
            "at": micros(feedback.at),
        }
        await self._database.change(PUT, params)

    async def take_back(self, stands_at: str, person: str, rating: Rating | None) -> None:
        """Delete the thumb, if it is this one; with None, any."""
        params = {
            "stands_at": storable(stands_at),
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
