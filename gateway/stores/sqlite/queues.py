"""The inbox and the outbox in SQLite, and the backlog of both."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog

from db.sqlite import SqliteDatabase
from gateway.message import Outbound, Receipt
from gateway.ports import Clock
from gateway.ports.queues import (
    KEEP_DEAD,
    KEEP_OPEN,
    KEEP_RECEIPTS,
    Backlog,
    DeadLetter,
    Finished,
    InboxEntry,
    OutboxEntry,
    SendState,
)
from gateway.stores.codec import (
    event_from_json,
    event_to_json,
    outbound_from_json,
    outbound_to_json,
    parse_rows,
    time_of,
)
from gateway.stores.sqlite.hot_state import delete_some

log = structlog.get_logger(__name__)

MAX_REASON = 500
REQUEUED = 2
"""In the column `begun`: a send that may have arrived, and that an operator queued again."""
RESTORED = 3
"""In the column `begun`: a send that waited in a copy which was restored."""
COLUMNS = "seq, outbound, attempts, created_at, begun, not_before"
BEGIN = "UPDATE outbox SET begun = 1 WHERE key = ? AND state = 'waiting' AND (begun = 0 OR ?)"
TRIED = """
    UPDATE outbox SET attempts = attempts + 1, reason = ?, begun = ?, not_before = ? WHERE key = ?
"""
SENT = """
    UPDATE outbox SET state = 'sent', attempts = attempts + 1, outbound = x'', message_id = ?,
        settled_at = ? WHERE key = ?
"""
OF_TURN = """
    SELECT key, state, attempts, reason, created_at, settled_at FROM outbox
    WHERE key >= ? AND key < ? ORDER BY key LIMIT ?
"""
REQUEUE = f"""
    UPDATE outbox SET state = 'waiting', attempts = 0, reason = '', created_at = ?,
        begun = CASE WHEN begun THEN {REQUEUED} ELSE 0 END, not_before = NULL, settled_at = NULL
    WHERE key = ? AND state = 'dead'
"""


def insert_outbound(
    db: sqlite3.Connection, outbound: Sequence[Outbound], now: float, begun: str = ""
) -> None:
    """Queue sends inside the caller's transaction; known keys are left unchanged. The one with the
    key `begun` is stored as begun."""
    db.executemany(
        "INSERT OR IGNORE INTO outbox (key, outbound, created_at, begun) VALUES (?, ?, ?, ?)",
        [(item.key, outbound_to_json(item), now, item.key == begun) for item in outbound],
    )


class SqliteOutbox:
    """Implements `gateway.ports.queues.Outbox`."""

    def __init__(self, database: SqliteDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(self, outbound: Sequence[Outbound]) -> None:
        now = self._clock.now().timestamp()
        await self._database.run_job(lambda db: insert_outbound(db, outbound, now))

    async def waiting(self, limit: int) -> list[OutboxEntry]:
        query = f"SELECT {COLUMNS} FROM outbox WHERE state = 'waiting' ORDER BY seq LIMIT ?"
        return parse_rows(await self._fetch(query, limit), _outbox_entry)

    async def begin(self, outbound: Outbound, *, again: bool = False) -> bool:
        return await self._change(BEGIN, [(outbound.key, again)]) > 0

    async def tried(
        self, key: str, reason: str, *, unsure: bool = False, not_before: datetime | None = None
    ) -> None:
        until = None if not_before is None else not_before.timestamp()
        row = (reason[:MAX_REASON], unsure, until, key)
        await self._database.run_job(lambda db: db.execute(TRIED, row))

    async def sent(self, key: str, receipt: Receipt, message_key: str = "") -> None:
        row = (message_key or receipt.message_id, self._clock.now().timestamp(), key)
        await self._database.run_job(lambda db: db.execute(SENT, row))

    async def reply_at(self, message_key: str) -> str:
        query = "SELECT key FROM outbox WHERE message_id = ? AND state = 'sent' LIMIT 1"
        return "".join(key for (key,) in await self._fetch(query, message_key))

    async def dead(self, keys: Sequence[str], reason: str) -> None:
        now = self._clock.now().timestamp()
        update = "UPDATE outbox SET state = 'dead', reason = ?, settled_at = ? WHERE key = ?"
        rows = [(reason[:MAX_REASON], now, key) for key in keys]
        await self._database.run_job(lambda db: db.executemany(update, rows))

    async def dead_letters(self, limit: int) -> list[DeadLetter]:
        query = (
            f"SELECT reason, settled_at, {COLUMNS} FROM outbox"
            " WHERE state = 'dead' ORDER BY settled_at DESC, seq DESC LIMIT ?"
        )
        return parse_rows(await self._fetch(query, limit), _letter)

    async def knows(self, key: str) -> bool:
        return bool(await self._fetch("SELECT 1 FROM outbox WHERE key = ?", key))

    async def deliveries(self, turn_id: str, limit: int) -> list[SendState]:
        rows = await self._fetch(OF_TURN, f"{turn_id}:", f"{turn_id};", limit)
        return [_delivery(*row) for row in rows]

    async def requeue(self, keys: Sequence[str]) -> int:
        now = self._clock.now().timestamp()
        return await self._change(REQUEUE, [(now, key) for key in keys])

    async def drop(self, keys: Sequence[str]) -> int:
        delete = "DELETE FROM outbox WHERE key = ? AND state = 'dead'"
        return await self._change(delete, [(key,) for key in keys])

    async def waiting_keys(self, limit: int) -> list[str]:
        query = "SELECT key FROM outbox WHERE state = 'waiting' ORDER BY seq LIMIT ?"
        return [key for (key,) in await self._fetch(query, limit)]

    async def entries(self, keys: Sequence[str]) -> list[OutboxEntry]:
        query = (
            f"SELECT {COLUMNS} FROM outbox WHERE state = 'waiting'"
            " AND key IN (SELECT value FROM json_each(?)) ORDER BY seq"
        )
        return parse_rows(await self._fetch(query, json.dumps(keys)), _outbox_entry)

    async def prune(self) -> int:
        """Delete receipts after `KEEP_RECEIPTS` and dead letters after `KEEP_DEAD`."""
        sent = (self._clock.now() - KEEP_RECEIPTS).timestamp()
        dead = (self._clock.now() - KEEP_DEAD).timestamp()

        def job(db: sqlite3.Connection) -> int:
            gone = delete_some(db, "outbox", "seq", "state = 'sent' AND settled_at <= ?", sent)
            given_up = "state = 'dead' AND settled_at <= ?"
            return gone + delete_some(db, "outbox", "seq", given_up, dead)

        return await self._database.run_job(job)

    async def _fetch(self, query: str, *params: object) -> list[Any]:
        return await self._database.run_job(lambda db: db.execute(query, params).fetchall())

    async def _change(self, statement: str, rows: list[tuple[object, ...]]) -> int:
        """Run a statement for each row; returns the number of changed rows."""
        changed = await self._database.run_job(lambda db: db.executemany(statement, rows).rowcount)
        return max(0, changed)


def _outbox_entry(
    seq: int, data: bytes, tries: int, at: float, begun: int, not_before: float | None
) -> OutboxEntry:
    until = time_of(not_before)
    created = datetime.fromtimestamp(at, UTC)
    item = outbound_from_json(data)
    restored = begun == RESTORED and not item.replaces
    may_have_arrived = restored or begun in (1, REQUEUED)
    return OutboxEntry(
        seq, item, tries, created, may_have_arrived, begun == REQUEUED, until, restored
    )


def _letter(reason: str, settled_at: float, *row: Any) -> DeadLetter:
    return DeadLetter(_outbox_entry(*row), reason, datetime.fromtimestamp(settled_at, UTC))


def _delivery(
    key: str, state: Any, attempts: int, reason: str, at: float, settled: float | None
) -> SendState:
    return SendState(key, state, attempts, reason, time_of(at), time_of(settled))


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
    """Implements `gateway.ports.queues.Inbox`. A finished event keeps its id until it expires, and
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
    """Implements `gateway.ports.queues.BacklogReader`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def look(self) -> Backlog:
        row = await self._database.run_job(lambda db: db.execute(BACKLOG).fetchone())
        events, first_event, sends, first_send, dead = row
        return Backlog(events, time_of(first_event), sends, time_of(first_send), dead)
