"""Hands accepted events to this worker: its share of the partitions, each in order."""

from collections.abc import Callable, Iterable, Sequence

import structlog
from pydantic import ValidationError

from gateway.ports.stores import InboxEntry
from gateway.storage.redis.client import RedisClient
from gateway.storage.redis.inbox import WORK, entry_of
from gateway.storage.redis.keys import PARTITIONS, Keys
from gateway.storage.redis.stream_reader import StreamItem, StreamReader

LEASE = 10.0
"""Seconds after which the work of a process that died goes to another one. A third more may pass
until that one looks."""

log = structlog.get_logger(__name__)


class RedisWorkSource:
    """Implements `gateway.ports.stores.WorkSource`.

    The living workers share the partitions evenly. One that has too many, because another worker
    came, hands over those of which nothing is in its hands any more; so that it knows, `RedisInbox`
    reports what it finished to `finished`.
    """

    def __init__(self, client: RedisClient, worker: str, *, lease: float = LEASE) -> None:
        """`worker` must be new for every process that starts; `lease` is in seconds."""
        keys = Keys(client)
        streams = [(str(p), keys.inbox(p)) for p in range(PARTITIONS)]
        self._feed = StreamReader(client, WORK, worker, streams, _load, lease=lease, shared=True)

    @property
    def partitions(self) -> int:
        """How many partitions this worker has."""
        return self._feed.owned

    @property
    def in_hand(self) -> int:
        """Events that were taken and are not finished."""
        return self._feed.in_hand

    async def run(self, take: Callable[[InboxEntry], None], has_room: Callable[[], bool]) -> None:
        """Call `take` for every event, while `has_room()`; until cancelled."""
        await self._feed.run(take, has_room)

    def finished(self, ids: Iterable[str]) -> None:
        """These events are done, whoever did them."""
        self._feed.done(ids)

    async def release(self) -> None:
        """After `run` was ended: let another worker go on at once."""
        await self._feed.leave()


async def _load(found: Sequence[dict[bytes, bytes]]) -> list[StreamItem[InboxEntry]]:
    items = []
    for fields in found:
        try:
            entry = entry_of(fields)
        except (ValidationError, KeyError, ValueError):
            log.exception("event_unreadable", id=fields.get(b"id", b"").decode())
        else:
            items.append(StreamItem(entry.id, entry))
    return items
