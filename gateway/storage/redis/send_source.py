"""Hands queued sends to the process that is connected to their account."""

from collections.abc import Callable, Iterable, Sequence

from gateway.ports.stores import OutboxEntry
from gateway.storage.redis.client import RedisClient, quoted
from gateway.storage.redis.keys import Keys
from gateway.storage.redis.outbox import SENDS, load_entries
from gateway.storage.redis.stream_reader import StreamItem, StreamReader
from gateway.storage.redis.work_source import LEASE


class RedisSendSource:
    """Implements `gateway.ports.stores.SendSource`. Of several processes that are connected to one
    account, the first sends; when it is gone, another one goes on with what was not confirmed.
    `RedisOutbox` reports what was sent or given up to `settled`."""

    def __init__(self, client: RedisClient, worker: str, *, lease: float = LEASE) -> None:
        """`worker` must be new for every process that starts; `lease` is in seconds."""
        self._client = client
        self._worker = worker
        self._lease = lease
        self._keys = Keys(client)
        self._feed: StreamReader[OutboxEntry] | None = None

    async def run(
        self,
        accounts: Sequence[tuple[str, str]],
        take: Callable[[Sequence[OutboxEntry]], None],
        has_room: Callable[[], bool],
    ) -> None:
        """Call `take` for the sends of these (platform, account) pairs, while `has_room()`; until
        cancelled."""
        streams = [(quoted(*account), self._keys.outbox(account)) for account in accounts]
        self._feed = StreamReader(
            self._client, SENDS, self._worker, streams, self._load, lease=self._lease, shared=False
        )
        await self._feed.run(lambda entry: take((entry,)), has_room)

    def settled(self, keys: Iterable[str]) -> None:
        """These sends wait no more."""
        if self._feed is not None:
            self._feed.done(keys)

    async def release(self) -> None:
        """After `run` was ended: let another process go on at once."""
        if self._feed is not None:
            await self._feed.leave()

    async def _load(self, found: Sequence[dict[bytes, bytes]]) -> list[StreamItem[OutboxEntry]]:
        entries = await load_entries(self._client, self._keys, found)
        return [StreamItem(entry.outbound.key, entry) for entry in entries]
