"""Queued sends in SQLite. A sent item keeps its key and its receipt, not its text."""

import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime

from db.sqlite import SqliteDatabase
from gateway.message import Outbound, Receipt
from gateway.ports import Clock
from gateway.ports.outbox import DeadLetter, OutboxEntry
from gateway.stores.codec import outbound_from_json, outbound_to_json, readable
from gateway.stores.retention import KEEP_DEAD, KEEP_RECEIPTS
from gateway.stores.sqlite.pruning import delete_some

MAX_REASON = 500
COLUMNS = "seq, outbound, attempts, created_at, begun, not_before"
_Row = tuple[int, bytes, int, float, int, float | None]


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
    """Implements `Outbox`, `DeadLetters` and `OutboxReader`."""

    def __init__(self, database: SqliteDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def add(self, outbound: Sequence[Outbound]) -> None:
        now = self._clock.now().timestamp()
        await self._database.run_job(lambda db: insert_outbound(db, outbound, now))

    async def waiting(self, limit: int) -> list[OutboxEntry]:

        def job(db: sqlite3.Connection) -> list[_Row]:
            return db.execute(
                f"SELECT {COLUMNS} FROM outbox WHERE state = 'waiting' ORDER BY seq LIMIT ?",  # noqa: S608 - a constant
                (limit,),
            ).fetchall()

        return readable(await self._database.run_job(job), _entry)

    async def begin(self, key: str) -> None:

        def job(db: sqlite3.Connection) -> None:
            db.execute("UPDATE outbox SET begun = 1 WHERE key = ?", (key,))

        await self._database.run_job(job)

    async def tried(
        self, key: str, reason: str, *, unsure: bool = False, not_before: datetime | None = None
    ) -> None:
        until = None if not_before is None else not_before.timestamp()

        def job(db: sqlite3.Connection) -> None:
            db.execute(
                "UPDATE outbox SET attempts = attempts + 1, reason = ?, begun = ?, not_before = ?"
                " WHERE key = ?",
                (reason[:MAX_REASON], unsure, until, key),
            )

        await self._database.run_job(job)

    async def sent(self, key: str, receipt: Receipt, stands_at: str = "") -> None:
        now = self._clock.now().timestamp()

        def job(db: sqlite3.Connection) -> None:
            db.execute(
                "UPDATE outbox SET state = 'sent', attempts = attempts + 1, outbound = x'',"
                " message_id = ?, settled_at = ? WHERE key = ?",
                (stands_at or receipt.message_id, now, key),
            )

        await self._database.run_job(job)

    async def reply_at(self, stands_at: str) -> str:
        query = "SELECT key FROM outbox WHERE message_id = ? AND state = 'sent'"
        row = await self._database.run_job(lambda db: db.execute(query, (stands_at,)).fetchone())
        return "" if row is None else str(row[0])

    async def dead(self, keys: Sequence[str], reason: str) -> None:
        now = self._clock.now().timestamp()

        def job(db: sqlite3.Connection) -> None:
            db.executemany(
                "UPDATE outbox SET state = 'dead', reason = ?, settled_at = ? WHERE key = ?",
                [(reason[:MAX_REASON], now, key) for key in keys],
            )

        await self._database.run_job(job)

    async def dead_letters(self, limit: int) -> list[DeadLetter]:

        def job(db: sqlite3.Connection) -> list[tuple[object, ...]]:
            return db.execute(
                f"SELECT reason, settled_at, {COLUMNS} FROM outbox"  # noqa: S608 - a constant
                " WHERE state = 'dead' ORDER BY settled_at DESC, seq DESC LIMIT ?",
                (limit,),
            ).fetchall()

        return readable(await self._database.run_job(job), _letter)

    async def requeue(self, keys: Sequence[str]) -> int:
        now = self._clock.now().timestamp()

        def job(db: sqlite3.Connection) -> int:
            return db.executemany(
                "UPDATE outbox SET state = 'waiting', attempts = 0, reason = '', created_at = ?,"
                " begun = 0, not_before = NULL, settled_at = NULL WHERE key = ? AND state = 'dead'",
                [(now, key) for key in keys],
            ).rowcount

        return max(0, await self._database.run_job(job))

    async def drop(self, keys: Sequence[str]) -> int:

        def job(db: sqlite3.Connection) -> int:
            return db.executemany(
                "DELETE FROM outbox WHERE key = ? AND state = 'dead'", [(key,) for key in keys]
            ).rowcount

        return max(0, await self._database.run_job(job))

    async def waiting_keys(self, limit: int) -> list[str]:

        def job(db: sqlite3.Connection) -> list[str]:
            rows = db.execute(
                "SELECT key FROM outbox WHERE state = 'waiting' ORDER BY seq LIMIT ?", (limit,)
            )
            return [str(key) for (key,) in rows]

        return await self._database.run_job(job)

    async def entries(self, keys: Sequence[str]) -> list[OutboxEntry]:

        def job(db: sqlite3.Connection) -> list[_Row]:
            rows = (
                db.execute(
                    f"SELECT {COLUMNS} FROM outbox WHERE key = ? AND state = 'waiting'",  # noqa: S608 - a constant
                    (key,),
                ).fetchone()
                for key in keys
            )
            return sorted(row for row in rows if row is not None)

        return readable(await self._database.run_job(job), _entry)

    async def prune(self) -> int:
        """Delete receipts after `KEEP_RECEIPTS` and dead letters after `KEEP_DEAD`."""
        sent = (self._clock.now() - KEEP_RECEIPTS).timestamp()
        dead = (self._clock.now() - KEEP_DEAD).timestamp()

        def job(db: sqlite3.Connection) -> int:
            gone = delete_some(db, "outbox", "seq", "state = 'sent' AND settled_at <= ?", sent)
            given_up = "state = 'dead' AND settled_at <= ?"
            return gone + delete_some(db, "outbox", "seq", given_up, dead)

        return await self._database.run_job(job)


def _entry(
    seq: int, data: bytes, tries: int, at: float, begun: int, not_before: float | None
) -> OutboxEntry:
    until = None if not_before is None else datetime.fromtimestamp(not_before, UTC)
    created = datetime.fromtimestamp(at, UTC)
    return OutboxEntry(seq, outbound_from_json(data), tries, created, bool(begun), until)


def _letter(
    reason: str,
    settled_at: float,
    seq: int,
    data: bytes,
    tries: int,
    at: float,
    begun: int,
    not_before: float | None,
) -> DeadLetter:
    entry = _entry(seq, data, tries, at, begun, not_before)
    return DeadLetter(entry, reason, datetime.fromtimestamp(settled_at, UTC))
