"""The small durable memory of each adapter, in Redis: WhatsApp windows, the last message seen."""

from datetime import timedelta

from gateway.errors import BadInput
from gateway.ports import AdapterState
from gateway.storage.redis.client import RedisClient, milliseconds
from gateway.storage.redis.keys import Keys

MAX_KEY = 200
MAX_VALUE = 4_000


class RedisAdapterStates:
    """Implements `gateway.ports.stores.AdapterStates`."""

    def __init__(self, client: RedisClient) -> None:
        self._client = client
        self._keys = Keys(client)

    def of(self, platform: str, account: str) -> AdapterState:
        """The memory of one account."""
        return _AccountState(self._client, self._keys, platform, account)

    async def prune(self) -> int:
        """Values go by themselves: always 0."""
        return 0


class _AccountState:
    def __init__(self, client: RedisClient, keys: Keys, platform: str, account: str) -> None:
        self._client = client
        self._keys = keys
        self._owner = (platform, account)

    async def get(self, key: str) -> str | None:
        """The value, None when there is none or it expired."""
        found = await self._client.command("GET", self._keys.state(*self._owner, key))
        return None if found is None else bytes(found).decode()

    async def put(self, key: str, value: str, ttl: timedelta) -> None:
        """Keep a value for `ttl`. Raises `BadInput` beyond the bounds of `AdapterState`."""
        if len(key) > MAX_KEY or len(value) > MAX_VALUE:
            raise BadInput(f"adapter state holds keys up to {MAX_KEY}, values up to {MAX_VALUE}")
        name, keep = self._keys.state(*self._owner, key), milliseconds(ttl.total_seconds())
        await self._client.command("SET", name, value, "PX", keep)
