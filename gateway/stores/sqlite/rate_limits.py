"""The buckets of the rate limits in SQLite, and keys that one process claims."""

import sqlite3
from collections.abc import Sequence
from datetime import timedelta

from db.sqlite import SqliteDatabase
from gateway.policy.rate_limits import Bucket, BucketRule, Taken, take
from gateway.ports import Clock
from gateway.stores.sqlite.pruning import delete_some

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
