"""The outbox in SQLite."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import structlog

from db.sqlite import SqliteDatabase
from gateway.message import Outbound, Receipt
from gateway.ports import Clock
from gateway.ports.outbox import (
    KEEP_DEAD,
    KEEP_RECEIPTS,
    DeadLetter,
    OutboxEntry,
    SendState,
)
from gateway.stores.codec import (
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
    """Implements `gateway.ports.outbox.Outbox`."""

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
