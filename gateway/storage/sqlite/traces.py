"""Traces in SQLite: the decisions about each message, as JSON, without content."""

import json
import sqlite3
from datetime import UTC, datetime

from pydantic_core import to_json

from db.sqlite import SqliteDatabase
from gateway.policy.decision import Decision
from gateway.storage.sqlite.pruning import delete_some
from gateway.stores import Trace

COLUMNS = (
    "id, message_id, platform, account, conversation, kind, at, decisions, outcome, milliseconds"
)
Row = tuple[str, str, str, str, str, str, float, str, str, float]


def insert_trace(db: sqlite3.Connection, trace: Trace) -> None:
    """Keep a trace, inside the caller's transaction."""
    decisions = [decision[:4] for decision in trace.decisions]  # the rest is for the moment
    if trace.slot is not None:
        db.execute("DELETE FROM traces WHERE slot = ?", (trace.slot,))
    db.execute(
        f"INSERT OR REPLACE INTO traces ({COLUMNS}, slot) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - a constant
        (
            trace.id,
            trace.message_id,
            trace.platform,
            trace.account,
            trace.conversation,
            trace.kind,
            trace.at.timestamp(),
            to_json(decisions).decode(),
            trace.outcome,
            trace.milliseconds,
            trace.slot,
        ),
    )


class SqliteTraces:
    """Implements `gateway.stores.Traces`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def add(self, trace: Trace) -> None:
        """Keep a trace; one with a known id is replaced."""
        await self._database.run_job(lambda db: insert_trace(db, trace))

    async def find(self, message_id: str, limit: int = 20) -> list[Trace]:
        """The traces of a platform's message id, newest first."""

        def job(db: sqlite3.Connection) -> list[Row]:
            return db.execute(
                f"SELECT {COLUMNS} FROM traces WHERE message_id = ? ORDER BY at DESC LIMIT ?",  # noqa: S608 - a constant
                (message_id, limit),
            ).fetchall()

        return [_trace(row) for row in await self._database.run_job(job)]

    async def recent(self, limit: int = 50) -> list[Trace]:
        """The latest traces, newest first."""

        def job(db: sqlite3.Connection) -> list[Row]:
            return db.execute(
                f"SELECT {COLUMNS} FROM traces ORDER BY at DESC LIMIT ?",  # noqa: S608 - a constant
                (limit,),
            ).fetchall()

        return [_trace(row) for row in await self._database.run_job(job)]

    async def ended(self, outcome: str, limit: int) -> list[Trace]:
        """The latest traces with this outcome, newest first."""

        def job(db: sqlite3.Connection) -> list[Row]:
            return db.execute(
                f"SELECT {COLUMNS} FROM traces WHERE outcome = ? ORDER BY at DESC LIMIT ?",  # noqa: S608 - a constant
                (outcome, limit),
            ).fetchall()

        return [_trace(row) for row in await self._database.run_job(job)]

    async def prune(self, before: datetime, refused: datetime) -> int:
        """Delete traces from before then, those of refusals from before `refused`; how many."""
        limit, short = before.timestamp(), refused.timestamp()

        def job(db: sqlite3.Connection) -> int:
            old = delete_some(db, "traces", "id", "at < ?", limit)
            return old + delete_some(db, "traces", "id", "slot IS NOT NULL AND at < ?", short)

        return await self._database.run_job(job)


def _trace(row: Row) -> Trace:
    decisions = tuple(Decision(*item) for item in json.loads(row[7]))
    at = datetime.fromtimestamp(row[6], UTC)
    return Trace(*row[:6], at, decisions, row[8], row[9])
