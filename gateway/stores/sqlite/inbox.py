"""The inbox in SQLite, and the backlog of inbox and outbox."""

import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import structlog

from db.sqlite import SqliteDatabase
from gateway.message import Outbound
from gateway.ports import Clock
from gateway.ports.inbox import Backlog, Finished, InboxEntry
from gateway.ports.outbox import KEEP_OPEN
from gateway.stores.codec import (
    event_from_json,
    event_to_json,
    parse_rows,
    time_of,
)
from gateway.stores.sqlite.hot_state import delete_some
from gateway.stores.sqlite.outbox import insert_outbound

log = structlog.get_logger(__name__)

BACKLOG = """
    SELECT (SELECT count(*) FROM inbox WHERE done = 0),
        (SELECT min(received_at) FROM inbox WHERE done = 0),
        (SELECT count(*) FROM outbox WHERE state = 'waiting'),
        (SELECT min(created_at) FROM outbox WHERE state = 'waiting'),
        (SELECT count(*) FROM outbox WHERE state = 'dead')
"""


def finish_events(
    db: sqlite3.Connection,
    ids: Sequence[str],
    outbound: Sequence[Outbound],
    now: float,
    begun: str = "",
    *,
    lost: bool = False,
) -> Finished:
    """Mark events as answered by these sends, inside the caller's transaction. No send is queued
    if all of them were finished before, or are unknown and not `lost`."""
    marked = db.executemany(
        "UPDATE inbox SET done = 1, event = x'' WHERE id = ? AND NOT done", [(i,) for i in ids]
    )
    if ids and marked.rowcount < 1:
        known = [db.execute("SELECT 1 FROM inbox WHERE id = ?", (i,)).fetchone() for i in ids]
        if all(known):
            return Finished.ELSEWHERE
        if not lost:
            return Finished.UNKNOWN
    insert_outbound(db, outbound, now, begun)
    return Finished.HERE


class SqliteInbox:
    """Implements `gateway.ports.inbox.Inbox`. A finished event keeps its id until it expires, and
    no content."""

    def __init__(self, database: SqliteDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(self, entry: InboxEntry, hold: timedelta) -> bool:
        received = entry.received_at.timestamp()
        row = (
            entry.id,
            entry.conversation,
            event_to_json(entry.event),
            received,
            received + hold.total_seconds(),
            entry.reason,
        )

        def job(db: sqlite3.Connection) -> bool:
            db.execute(
                "DELETE FROM inbox WHERE id = ? AND done AND expires_at <= ?", (row[0], row[3])
            )
            added = db.execute(
                "INSERT OR IGNORE INTO inbox"
                " (id, conversation, event, received_at, expires_at, reason)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                row,
            )
            return added.rowcount == 1

        return await self._database.run_job(job)

    async def unfinished(self, limit: int) -> list[InboxEntry]:
        query = (
            "SELECT id, conversation, event, received_at, reason FROM inbox WHERE done = 0"
            " ORDER BY arrival LIMIT ?"
        )
        rows = await self._database.run_job(lambda db: db.execute(query, (limit,)).fetchall())
        return parse_rows(rows, _entry)

    async def finish(
        self,
        ids: Sequence[str],
        outbound: Sequence[Outbound],
        begun: str = "",
        *,
        lost: bool = False,
    ) -> Finished:
        now = self._clock.now().timestamp()
        return await self._database.run_job(
            lambda db: finish_events(db, ids, outbound, now, begun, lost=lost)
        )

    async def prune(self) -> int:
        """Delete expired finished events, and unanswered ones after `KEEP_OPEN`."""
        now = self._clock.now()
        oldest = (now - KEEP_OPEN).timestamp()

        def job(db: sqlite3.Connection) -> tuple[int, int]:
            over = "done = 1 AND expires_at <= ?"  # as the index has it
            finished = delete_some(db, "inbox", "arrival", over, now.timestamp())
            left = "done = 0 AND received_at <= ?"
            return finished, delete_some(db, "inbox", "arrival", left, oldest)

        finished, left = await self._database.run_job(job)
        if left:
            log.warning("events_expired", events=left)
        return finished + left


def _entry(id_: str, conversation: str, event: bytes, at: float, reason: str) -> InboxEntry:
    return InboxEntry(
        id_, conversation, event_from_json(event), datetime.fromtimestamp(at, UTC), reason
    )


class SqliteBacklog:
    """Implements `gateway.ports.inbox.BacklogReader`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def look(self) -> Backlog:
        row = await self._database.run_job(lambda db: db.execute(BACKLOG).fetchone())
        events, first_event, sends, first_send, dead = row
        return Backlog(events, time_of(first_event), sends, time_of(first_send), dead)
