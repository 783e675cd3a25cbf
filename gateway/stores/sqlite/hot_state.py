"""The hot state in SQLite beside the queues: states of adapters, buckets of the rate limits, and
keys that one process claims."""

import sqlite3
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Final

from db.sqlite import SqliteDatabase
from gateway.errors import UsageError
from gateway.policy.rate_limits import Bucket, BucketRule, Taken, take
from gateway.ports import AdapterState, Clock
from gateway.ports.adapter import StateEntry

PRUNED_AT_ONCE: Final = 500
"""Rows per call, which take some milliseconds; the caller repeats the call."""


def delete_some(db: sqlite3.Connection, table: str, key: str, where: str, *values: object) -> int:
    """Delete at most `PRUNED_AT_ONCE` of the rows for which `where` holds; returns how many.

    `table`, `key` (the columns of its key) and `where` are constants of this program; `values` are
    the parameters.
    """
    some = f"SELECT {key} FROM {table} WHERE {where} LIMIT {PRUNED_AT_ONCE}"
    return db.execute(f"DELETE FROM {table} WHERE ({key}) IN ({some})", values).rowcount


GET = """
    SELECT value FROM adapter_state
    WHERE platform = ? AND account = ? AND key = ? AND expires_at > ?
"""
PUT = """
    INSERT INTO adapter_state VALUES (?, ?, ?, ?, ?) ON CONFLICT (platform, account, key)
    DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at
"""
MAX_KEY = 200
MAX_VALUE = 4_000
MAX_ROWS = 100_000
"""Values that `entries` yields."""


class SqliteAdapterStates:
    """Implements `gateway.ports.adapter.AdapterStates`."""

    def __init__(self, database: SqliteDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def of(self, platform: str, account: str) -> AdapterState:
        return _SqliteState(self._database, self._clock, platform, account)

    async def entries(self) -> AsyncIterator[StateEntry]:
        query = "SELECT platform, account, key, value FROM adapter_state LIMIT ?"
        rows = await self._database.run_job(lambda db: db.execute(query, (MAX_ROWS,)).fetchall())
        for row in rows:
            yield StateEntry(*row)

    async def delete(self, entries: Sequence[StateEntry]) -> None:
        query = "DELETE FROM adapter_state WHERE platform = ? AND account = ? AND key = ?"
        names = [entry[:3] for entry in entries]
        await self._database.run_job(lambda db: db.executemany(query, names))

    async def prune(self) -> int:
        """Delete expired values; returns how many."""
        now = self._clock.now().timestamp()
        key = "platform, account, key"
        return await self._database.run_job(
            lambda db: delete_some(db, "adapter_state", key, "expires_at <= ?", now)
        )


class _SqliteState:
    def __init__(self, database: SqliteDatabase, clock: Clock, platform: str, account: str) -> None:
        self._database = database
        self._clock = clock
        self._owner = (platform, account)

    async def get(self, key: str) -> str | None:
        row = (*self._owner, key, self._clock.now().timestamp())
        value = await self._database.run_job(lambda db: db.execute(GET, row).fetchone())
        return None if value is None else str(value[0])

    async def put(self, key: str, value: str, ttl: timedelta) -> None:
        if len(key) > MAX_KEY or len(value) > MAX_VALUE:
            raise UsageError(f"adapter state holds keys up to {MAX_KEY}, values up to {MAX_VALUE}")
        row = (*self._owner, key, value, (self._clock.now() + ttl).timestamp())
        await self._database.run_job(lambda db: db.execute(PUT, row))


LAST_SIGN = "\U0010ffff"
KEEP_BUCKETS = 60.0
"""Seconds after which any bucket is full again and its row can be deleted."""


class SqliteBuckets:
    """Implements `gateway.ports.usage.Buckets`."""

    def __init__(self, database: SqliteDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def take(self, rules: Sequence[BucketRule], now: float) -> Taken:
        if not rules:
            return Taken(True, ())

        def job(db: sqlite3.Connection) -> Taken:
            held = [_read(db, rule.key) for rule in rules]
            taken = take(rules, held, now)
            db.executemany(
                "INSERT INTO buckets VALUES (?, ?, ?) ON CONFLICT (key)"
                " DO UPDATE SET tokens = excluded.tokens, at = excluded.at",
                [
                    (rule.key, bucket.tokens, bucket.at)
                    for rule, bucket in zip(rules, taken.buckets, strict=True)
                ],
            )
            return taken

        return await self._database.run_job(job)

    async def held(self, keys: Sequence[str]) -> list[Bucket | None]:
        return await self._database.run_job(lambda db: [_read(db, key) for key in keys])

    async def used(self, prefix: str, since: float, limit: int) -> dict[str, Bucket]:
        def job(db: sqlite3.Connection) -> dict[str, Bucket]:
            rows = db.execute(
                "SELECT key, tokens, at FROM buckets WHERE key >= ? AND key < ? AND at > ?"
                " ORDER BY tokens LIMIT ?",
                (prefix, f"{prefix}{LAST_SIGN}", since, limit),
            )
            return {key: Bucket(tokens, at) for key, tokens, at in rows}

        return await self._database.run_job(job)

    async def claim(self, key: str, ttl: timedelta) -> bool:
        now = self._clock.now().timestamp()

        def job(db: sqlite3.Connection) -> bool:
            db.execute("DELETE FROM claimed_keys WHERE key = ? AND expires_at <= ?", (key, now))
            added = db.execute(
                "INSERT OR IGNORE INTO claimed_keys VALUES (?, ?)", (key, now + ttl.total_seconds())
            )
            return added.rowcount == 1

        return await self._database.run_job(job)

    async def prune(self) -> int:
        """Delete full buckets and expired marks; returns the number of rows."""
        now = self._clock.now().timestamp()

        def job(db: sqlite3.Connection) -> int:
            full = delete_some(db, "buckets", "key", "at <= ?", now - KEEP_BUCKETS)
            return full + delete_some(db, "claimed_keys", "key", "expires_at <= ?", now)

        return await self._database.run_job(job)


def _read(db: sqlite3.Connection, key: str) -> Bucket | None:
    row = db.execute("SELECT tokens, at FROM buckets WHERE key = ?", (key,)).fetchone()
    return None if row is None else Bucket(row[0], row[1])
