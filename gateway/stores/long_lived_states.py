"""The state of adapters that has to outlive the hot state, in the database."""

from datetime import timedelta
from typing import Final

from msgspec import Struct

from db import Database, Statement
from db.database import delete_some, deleting_some
from db.statements import BY_KEY
from db.values import micros, storable
from gateway.errors import UsageError
from gateway.ports import AdapterState, Clock
from gateway.stores.sqlite.hot_state import MAX_KEY, MAX_VALUE

SCHEMA: Final = (
    f"""CREATE TABLE long_lived_states (
        platform text NOT NULL, account text NOT NULL, key text NOT NULL, value text NOT NULL,
        until bigint NOT NULL, PRIMARY KEY (platform, account, key)
    ) {BY_KEY}""",
    "CREATE INDEX long_lived_states_until ON long_lived_states (until)",
)
GET: Final = Statement("""
    SELECT value FROM long_lived_states
    WHERE platform = :platform AND account = :account AND key = :key AND until > :now
""")
PUT: Final = Statement("""
    INSERT INTO long_lived_states (platform, account, key, value, until)
    VALUES (:platform, :account, :key, :value, :until)
    ON CONFLICT (platform, account, key)
    DO UPDATE SET value = excluded.value, until = excluded.until
""")
PRUNE: Final = deleting_some(
    "long_lived_states", "platform, account, key", "until <= :now", "until"
)


class LongLivedStates(Struct, frozen=True):
    """The long-lived state of each account. Every method raises `StoreUnavailable`."""

    database: Database
    clock: Clock

    def of(self, platform: str, account: str) -> AdapterState:
        """Return the state of this account."""
        return _LongLivedState(self.database, self.clock, platform, account)

    async def prune(self) -> int:
        """Delete some expired values; returns how many, 0 at the end."""
        return await delete_some(self.database, PRUNE, {"now": micros(self.clock.now())})


class _LongLivedState(Struct, frozen=True):
    database: Database
    clock: Clock
    platform: str
    account: str

    async def get(self, key: str) -> str | None:
        params = {**self._name(key), "now": micros(self.clock.now())}
        rows = await self.database.fetch(GET, params)
        return str(rows[0][0]) if rows else None

    async def put(self, key: str, value: str, ttl: timedelta) -> None:
        if len(key) > MAX_KEY or len(value) > MAX_VALUE:
            raise UsageError(f"adapter state holds keys up to {MAX_KEY}, values up to {MAX_VALUE}")
        until = micros(self.clock.now() + ttl)
        params = {**self._name(key), "value": storable(value), "until": until}
        await self.database.change(PUT, params)

    def _name(self, key: str) -> dict[str, str]:
        return {"platform": self.platform, "account": self.account, "key": storable(key)}
