"""Thumbs under answers, in PostgreSQL."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from db.postgres import PostgresDatabase
from gateway.feedback import Feedback, Rating, Thumbs
from gateway.storage.postgres.rows import storable

PRUNED_AT_ONCE: Final = 5_000
PUT: Final = """
    INSERT INTO feedback (stands_at, person, tenant, exchange, rating, at)
    VALUES (%s, %s, %s, %s, %s, %s)
    ON CONFLICT (stands_at, person) DO UPDATE SET tenant = excluded.tenant,
        exchange = excluded.exchange, rating = excluded.rating, at = excluded.at
"""
TAKE_BACK: Final = "DELETE FROM feedback WHERE stands_at = %s AND person = %s AND rating <> %s"
OF: Final = """
    SELECT exchange, count(*) FILTER (WHERE rating > 0), count(*) FILTER (WHERE rating < 0)
    FROM feedback WHERE exchange = ANY (%s::text[]) GROUP BY exchange
"""
PRUNE: Final = """
    DELETE FROM feedback WHERE (stands_at, person) IN (
        SELECT stands_at, person FROM feedback WHERE at < %s ORDER BY at LIMIT %s
        FOR UPDATE SKIP LOCKED
    )
"""


class PostgresFeedback:
    """Implements `gateway.feedback.FeedbackStore`."""

    def __init__(self, pool: PostgresDatabase) -> None:
        self._pool = pool

    async def put(self, feedback: Feedback) -> None:
        """Keep it."""
        ids = (feedback.stands_at, feedback.person, feedback.tenant, feedback.exchange)
        await self._pool.change_raw(PUT, (*map(storable, ids), feedback.rating, feedback.at))

    async def take_back(self, stands_at: str, person: str, rating: Rating | None) -> None:
        """Forget it, if it is this one."""
        row = (storable(stands_at), storable(person), -(rating or 0))
        await self._pool.change_raw(TAKE_BACK, row)

    async def of(self, exchanges: Sequence[str]) -> dict[str, Thumbs]:
        """The thumbs of these exchanges."""
        rows = await self._pool.fetch_raw(OF, (list(exchanges),))
        return {exchange: Thumbs(up, down) for exchange, up, down in rows}

    async def prune(self, before: datetime) -> int:
        """Delete some thousand of what is from before then."""
        return await self._pool.change_raw(PRUNE, (before, PRUNED_AT_ONCE))
