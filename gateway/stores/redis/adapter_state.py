"""The state of adapters in Redis."""

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from urllib.parse import unquote

from gateway.errors import BadInput
from gateway.ports import AdapterState
from gateway.ports.adapter import StateEntry
from gateway.stores.redis.client import RedisClient, milliseconds
from gateway.stores.redis.keys import Keys

MAX_KEY = 200
MAX_VALUE = 4_000
SCANNED_AT_ONCE = 500
MAX_SCANS = 10_000


class RedisAdapterStates:
    """Implements `gateway.ports.adapter.AdapterStates`."""

    def __init__(self, client: RedisClient) -> None:
        self._client = client
        self._keys = Keys(client)

    def of(self, platform: str, account: str) -> AdapterState:
        return _AccountState(self._client, self._keys, platform, account)

    async def entries(self) -> AsyncIterator[StateEntry]:
        prefix, cursor = self._client.key("state", ""), 0
        for _ in range(MAX_SCANS):
            cursor, names = await self._client.command(
                "SCAN", cursor, "MATCH", f"{prefix}*", "COUNT", SCANNED_AT_ONCE
            )
            values = await self._client.batch([("GET", name) for name in names])
            for name, value in zip(names, values, strict=True):
                platform, account, key = map(unquote, name.decode().removeprefix(prefix).split(":"))
                yield StateEntry(platform, account, key, (value or b"").decode())
            cursor = int(cursor)
            if not cursor:
                return

    async def delete(self, entries: Sequence[StateEntry]) -> None:
        await self._client.batch([("DEL", self._keys.state(*entry[:3])) for entry in entries])

    async def prune(self) -> int:
        """Return 0: values expire by themselves."""
        return 0


class _AccountState:
    def __init__(self, client: RedisClient, keys: Keys, platform: str, account: str) -> None:
        self._client = client
        self._keys = keys
        self._owner = (platform, account)

    async def get(self, key: str) -> str | None:
        value = await self._client.command("GET", self._keys.state(*self._owner, key))
        return None if value is None else bytes(value).decode()

    async def put(self, key: str, value: str, ttl: timedelta) -> None:
        if len(key) > MAX_KEY or len(value) > MAX_VALUE:
            raise BadInput(f"adapter state holds keys up to {MAX_KEY}, values up to {MAX_VALUE}")
        name, keep = self._keys.state(*self._owner, key), milliseconds(ttl.total_seconds())
        await self._client.command("SET", name, value, "PX", keep)
