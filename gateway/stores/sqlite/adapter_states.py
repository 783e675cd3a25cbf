"""The state of adapters in SQLite."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta

from db.sqlite import SqliteDatabase
from gateway.errors import BadInput
from gateway.ports import AdapterState, Clock
from gateway.ports.adapter import StateEntry
from gateway.stores.sqlite.pruning import delete_some

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
        return _AccountState(self._database, self._clock, platform, account)

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


class _AccountState:
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
            raise BadInput(f"adapter state holds keys up to {MAX_KEY}, values up to {MAX_VALUE}")
        row = (*self._owner, key, value, (self._clock.now() + ttl).timestamp())
        await self._database.run_job(lambda db: db.execute(PUT, row))
