"""Passes accepted events to the workers that share the partitions, and queued sends to the
connected processes."""

from collections.abc import Callable, Iterable, Sequence

import structlog
from pydantic import ValidationError

from gateway.ports.inbox import InboxEntry
from gateway.ports.outbox import OutboxEntry
from gateway.stores.redis.client import RedisClient, quoted
from gateway.stores.redis.inbox import WORK, parse_entry
from gateway.stores.redis.keys import PARTITIONS, Keys
from gateway.stores.redis.outbox import SENDS, load_entries
from gateway.stores.redis.stream_reader import StreamItem, StreamReader

LEASE = 10.0
"""Seconds after which another process takes the work of a dead one. It may notice a third of that
later."""
log = structlog.get_logger(__name__)


class RedisWorkSource:
    """Implements `gateway.ports.inbox.WorkSource`.

    Living workers share the partitions evenly. A worker with too many, because another one joined,
    releases partitions without unfinished events; `RedisInbox` reports finished events to
    `finished`.
    """

    def __init__(self, client: RedisClient, worker: str, *, lease: float = LEASE) -> None:
        """`worker` must be unique for every process; `lease` is in seconds."""
        keys = Keys(client)
        streams = [(str(p), keys.inbox(p)) for p in range(PARTITIONS)]
        self._feed = StreamReader(client, WORK, worker, streams, _load, lease=lease, shared=True)

    @property
    def partitions(self) -> int:
        """The number of partitions of this worker."""
        return self._feed.owned

    @property
    def unfinished(self) -> int:
        """The number of events that were taken and are not finished."""
        return self._feed.unfinished

    async def run(self, take: Callable[[InboxEntry], None], has_room: Callable[[], bool]) -> None:
        await self._feed.run(take, has_room)

    def finished(self, ids: Iterable[str]) -> None:
        """Record that these events are done, in any process."""
        self._feed.done(ids)

    async def release(self) -> None:
        await self._feed.leave()


async def _load(rows: Sequence[dict[bytes, bytes]]) -> list[StreamItem[InboxEntry]]:
    items = []
    for fields in rows:
        try:
            entry = parse_entry(fields)
        except (ValidationError, KeyError, ValueError):
            log.exception("event_unreadable", id=fields.get(b"id", b"").decode())
        else:
            items.append(StreamItem(entry.id, entry))
    return items


class RedisSendSource:
    """Implements `gateway.ports.outbox.SendSource`. Of several processes that are connected to one
    account, the first one sends; when it ends, another continues with the unconfirmed sends.
    `RedisOutbox` reports sent and dead items to `settled`."""

    def __init__(self, client: RedisClient, worker: str, *, lease: float = LEASE) -> None:
        """`worker` must be unique for every process; `lease` is in seconds."""
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
        streams = [(quoted(*account), self._keys.outbox(account)) for account in accounts]
        self._feed = StreamReader(
            self._client, SENDS, self._worker, streams, self._load, lease=self._lease, shared=False
        )
        await self._feed.run(lambda entry: take((entry,)), has_room)

    def settled(self, keys: Iterable[str]) -> None:
        """Record that these sends no longer wait."""
        if self._feed is not None:
            self._feed.done(keys)

    async def release(self) -> None:
        if self._feed is not None:
            await self._feed.leave()

    async def _load(self, rows: Sequence[dict[bytes, bytes]]) -> list[StreamItem[OutboxEntry]]:
        entries = await load_entries(self._client, self._keys, rows)
        return [StreamItem(entry.outbound.key, entry) for entry in entries]
