"""Thumbs under answers, in SQLite."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from db.sqlite import SqliteDatabase
from gateway.feedback import Feedback, Rating, Thumbs
from gateway.storage.sqlite.pruning import delete_some

PUT: Final = "INSERT OR REPLACE INTO feedback VALUES (?, ?, ?, ?, ?, ?)"
TAKE_BACK: Final = "DELETE FROM feedback WHERE stands_at = ? AND person = ? AND rating <> ?"
OF: Final = """
    SELECT exchange, sum(rating > 0), sum(rating < 0) FROM feedback
    WHERE exchange IN (SELECT value FROM json_each(?)) GROUP BY exchange
"""


class SqliteFeedback:
    """Implements `gateway.feedback.FeedbackStore`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def put(self, feedback: Feedback) -> None:
        """Keep it."""
        row = (
            feedback.stands_at,
            feedback.person,
            feedback.tenant,
            feedback.exchange,
            feedback.rating,
            feedback.at.timestamp(),
        )
        await self._database.run_job(lambda db: db.execute(PUT, row).rowcount)

    async def take_back(self, stands_at: str, person: str, rating: Rating | None) -> None:
        """Forget it, if it is this one."""
        row = (stands_at, person, -(rating or 0))
        await self._database.run_job(lambda db: db.execute(TAKE_BACK, row).rowcount)

    async def of(self, exchanges: Sequence[str]) -> dict[str, Thumbs]:
        """The thumbs of these exchanges."""
        asked = (json.dumps(list(exchanges)),)
        rows = await self._database.run_job(lambda db: db.execute(OF, asked).fetchall())
        return {exchange: Thumbs(up, down) for exchange, up, down in rows}

    async def prune(self, before: datetime) -> int:
        """Delete some of what is from before then."""

        def job(db: sqlite3.Connection) -> int:
            return delete_some(db, "feedback", "stands_at, person", "at < ?", before.timestamp())

        return await self._database.run_job(job)
