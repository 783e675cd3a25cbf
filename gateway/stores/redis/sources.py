"""Passes accepted events to the workers that share the partitions, and queued sends to the
connected processes.

A reader reads the streams of which it holds the lease. The consumer group of a stream remembers
delivered, unfinished entries. It has one consumer, because the lease decides who reads: a new
holder reads the unfinished entries first, oldest first, and then new ones. A notification list on
which the process blocks says when to read.
"""

import asyncio
import random
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any, Generic, TypeVar

import structlog
from msgspec import Struct
from pydantic import ValidationError

from db.errors import StoreUnavailable
from gateway.immutable import replace
from gateway.ports.queues import InboxEntry, OutboxEntry
from gateway.stores.redis.client import LONGEST_WAIT, RedisClient, Script, quoted
from gateway.stores.redis.epoch import CURRENT, STALE, Epoch
from gateway.stores.redis.inbox import WORK, parse_entry
from gateway.stores.redis.keys import GROUP, PARTITIONS, Keys
from gateway.stores.redis.outbox import SENDS, load_entries
from gateway.stores.redis.partition_leases import StreamLeases

T = TypeVar("T")
AT_ONCE = 200
"""Entries per read."""
ROOM_PAUSE = 0.02
"""Seconds until `has_room` is called again."""
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 2.0
"""Seconds between attempts while Redis is unavailable; doubled each time."""
FROM_START = "0"
NEW = ">"
STORED = b"stored"
"""The name under which a reader finds the time at which Redis stored an entry, in milliseconds."""
SKEWED = timedelta(seconds=30)
"""Smaller differences between the clocks of two processes do not matter."""

# The first entry creates a stream, the first reader its group.
READ = Script.of(
    CURRENT
    + """
local worker, group, left = ARGV[1], ARGV[2], tonumber(ARGV[3])
if not is_current(KEYS[#KEYS], ARGV[4], ARGV[5]) then return 'stale' end
local rows = {}
for i = 1, (#KEYS - 1) / 2 do
  if left <= 0 then break end
  local stream, from = KEYS[2 * i], ARGV[i + 5]
  if redis.call('GET', KEYS[2 * i - 1]) ~= worker then
    rows[#rows + 1] = {i - 1, 'lost', {}}
  else
    local function read()
      return redis.pcall('XREADGROUP', 'GROUP', group, 'owner', 'COUNT', left,
                         'STREAMS', stream, from)
    end
    local found = read()
    if found and found.err and found.err:find('NOGROUP') then
      found = nil
      if redis.call('EXISTS', stream) == 1 then
        redis.call('XGROUP', 'CREATE', stream, group, '0')
        found = read()
      end
    end
    if found and found.err then return found end
    local entries = found and found[1] and found[1][2] or {}
    if #entries > 0 or from ~= '>' then
      rows[#rows + 1] = {i - 1, #entries < left and 'all' or 'part', entries}
      left = left - #entries
    end
  end
end
return rows
"""
)

log = structlog.get_logger(__name__)


class StreamItem(Struct, Generic[T], frozen=True):
    """An entry of a stream with the id under which it is reported as done."""

    id: str
    value: T


Load = Callable[[Sequence[dict[bytes, bytes]]], Awaitable[Sequence[StreamItem[T]]]]
"""Parses the fields of entries; leaves out unreadable ones."""


class StreamReader(Generic[T]):
    """Passes on the entries of `streams`, those of one stream in order, each once per process."""

    def __init__(
        self,
        client: RedisClient,
        kind: str,
        worker: str,
        streams: Sequence[tuple[str, str]],
        load: Load[T],
        epoch: Epoch,
        *,
        lease: float,
        shared: bool,
    ) -> None:
        """`streams` are pairs of a name and a key; `lease` is in seconds."""
        self._client = client
        self._epoch = epoch
        self._epoch_id = epoch.id
        self._worker = worker
        self._streams = [key for _, key in streams]
        self._load = load
        self._lease = lease
        self._leases = StreamLeases(
            client, kind, worker, [name for name, _ in streams], epoch, seconds=lease, shared=shared
        )
        self._wakeup = Keys(client).wakeup(kind, worker)
        self._from: dict[int, str] = {}
        self._draining: set[int] = set()
        self._waiting: deque[tuple[int, StreamItem[T]]] = deque()
        self._unfinished: dict[str, int] = {}
        self._held: Counter[int] = Counter()
        self._done_meanwhile: set[str] = set()
        self._loading = False
        self._renew_at = 0.0

    @property
    def owned(self) -> int:
        """The number of streams that this process reads."""
        return len(self._leases.owned)

    @property
    def unfinished(self) -> int:
        """The number of entries that were taken and are not finished."""
        return len(self._unfinished)

    def has_passed_on(self, position: int) -> bool:
        """Return True if this process reads a stream and has passed on all that was in it when it
        took the lease, and all that it has read since."""
        read = position in self._leases.owned and self._from.get(position) == NEW
        waits = any(waiting == position for waiting, _ in self._waiting)
        return read and not (waits or self._loading) and self._leases.valid

    def done(self, ids: Iterable[str]) -> None:
        """Record that this or another process finished these entries."""
        done = {id_ for id_ in ids if id_ in self._unfinished}
        self._release_entries(done)
        self._done_meanwhile |= done  # a running read may still return them

    def again(self, ids: Iterable[str]) -> None:
        """Read the streams of these entries again, because this process did not finish them."""
        unfinished = [id_ for id_ in ids if id_ in self._unfinished]
        positions = {self._unfinished[id_] for id_ in unfinished}
        self._release_entries(unfinished)
        for position in positions & set(self._from):
            self._reset(position)

    async def run(self, hand: Callable[[T], None], has_room: Callable[[], bool]) -> None:
        """Pass on entries until cancelled; continues after outages of Redis."""
        self._renew_at, pause = 0.0, FIRST_PAUSE
        self._from = dict.fromkeys(self._leases.owned, FROM_START)
        while True:
            try:
                await self._run_once(hand, has_room)
            except StoreUnavailable as error:
                if pause == FIRST_PAUSE:
                    log.warning("redis_unavailable", reading=self._wakeup, error=str(error))
                await asyncio.sleep(pause * random.uniform(0.8, 1.2))  # noqa: S311 - spreads retries
                pause = min(2 * pause, LONGEST_PAUSE)
            else:
                if pause != FIRST_PAUSE:
                    log.warning("redis_available", reading=self._wakeup)
                    pause = FIRST_PAUSE

    async def leave(self) -> None:
        """Release everything after `run` ended, so that another process continues at once. If Redis
        is unavailable, the leases expire."""
        for position in set(self._from):
            self._forget(position)
        try:
            await self._leases.leave()
        except StoreUnavailable as error:
            log.warning("leases_not_released", reading=self._wakeup, error=str(error))

    async def _run_once(self, hand: Callable[[T], None], has_room: Callable[[], bool]) -> None:
        if time.monotonic() >= self._renew_at or self._epoch_id != self._epoch.id:
            await self._renew()
        self._pass_on(hand, has_room)
        if self._waiting:
            await asyncio.sleep(ROOM_PAUSE)
        elif not await self._read():
            await self._wait()

    def _pass_on(self, hand: Callable[[T], None], has_room: Callable[[], bool]) -> None:
        while self._waiting and self._leases.valid and has_room():
            _, item = self._waiting.popleft()
            try:
                hand(item.value)
            except Exception:  # one entry must not stop the others; it stays unfinished
                log.exception("entry_not_handled", id=item.id)

    async def _renew(self) -> None:
        change = await self._leases.renew()
        if self._epoch_id != self._epoch.id:  # an earlier state has entries that were done
            self._epoch_id = self._epoch.id
            for position in self._leases.owned & set(self._from):
                self._reset(position)
        for position in change.lost:
            self._forget(position)
        for position in change.gained:
            self._reset(position)
        owned, surplus = self._leases.owned, self._leases.surplus
        by_load = sorted(owned, key=lambda position: self._held[position])
        self._draining = set(by_load[:surplus])
        for position in self._draining:
            self._reset(position)
        idle = [position for position in self._draining if not self._held[position]]
        if idle:
            await self._leases.release(idle)
            for position in idle:
                self._forget(position)
        settled = not self._draining and len(owned) >= self._leases.share
        self._renew_at = time.monotonic() + self._lease / (3 if settled else 12)

    async def _read(self) -> bool:
        """Read available entries; False if there were none."""
        positions = [p for p in self._from if p in self._leases.owned and p not in self._draining]
        random.shuffle(positions)  # a busy stream must not delay the others
        keys = [key for p in positions for key in (self._leases.names[p], self._streams[p])]
        if not keys:
            return False
        known = (self._epoch.id, self._epoch.mark)
        starts = [self._from[p] for p in positions]
        self._done_meanwhile.clear()
        try:
            rows = await self._client.run(
                READ, [*keys, self._epoch.key], [self._worker, GROUP, AT_ONCE, *known, *starts]
            )
            if rows == STALE:
                await self._epoch.check()
                self._renew_at = 0.0
                return True
            self._loading = True
            for index, extent, entries in rows:
                await self._enqueue(positions[index], starts[index], extent, entries)
        except (StoreUnavailable, asyncio.CancelledError):
            for position in positions:  # the group may have delivered entries that were lost
                self._reset(position)
            raise
        finally:
            self._loading = False
        return bool(rows)

    async def _enqueue(self, position: int, start: str, extent: bytes, entries: Any) -> None:
        if extent == b"lost":
            self._leases.owned.discard(position)
            self._forget(position)
            return
        if start != NEW and self._from.get(position) == start:
            self._from[position] = NEW if extent == b"all" else entries[-1][0].decode()
        rows = [
            {**dict(zip(row[::2], row[1::2], strict=True)), STORED: id_.partition(b"-")[0]}
            for id_, row in entries
            if row
        ]
        for item in await self._load(rows):
            if item.id not in self._unfinished and item.id not in self._done_meanwhile:
                self._unfinished[item.id] = position
                self._held[position] += 1
                self._waiting.append((position, item))

    async def _wait(self) -> None:
        """Wait for a notification, or until the leases are due."""
        seconds = min(self._renew_at - time.monotonic(), LONGEST_WAIT)
        if seconds > 0 and await self._client.pop(self._wakeup, seconds) == b"leases":
            self._renew_at = 0.0

    def _reset(self, position: int) -> None:
        """Discard entries of a stream that were not passed on, and read it again from its start."""
        self._from[position] = FROM_START
        waiting = [item.id for p, item in self._waiting if p == position]
        if waiting:
            self._waiting = deque(entry for entry in self._waiting if entry[0] != position)
            self._release_entries(waiting)

    def _release_entries(self, ids: Iterable[str]) -> None:
        for id_ in ids:
            self._held[self._unfinished.pop(id_)] -= 1

    def _forget(self, position: int) -> None:
        self._reset(position)
        del self._from[position]


LEASE = 10.0
"""Seconds after which another process takes the work of a dead one. It may notice a third of that
later."""


class RedisWorkSource:
    """Passes accepted events to a worker process: those of one conversation in order, and one
    worker at a time processes a conversation.

    Living workers share the partitions evenly. A worker with too many, because another one joined,
    releases partitions without unfinished events; `RedisInbox` reports finished events to
    `finished`.
    """

    def __init__(
        self, client: RedisClient, worker: str, epoch: Epoch, *, lease: float = LEASE
    ) -> None:
        """`worker` must be unique for every process; `lease` is in seconds."""
        keys = Keys(client)
        streams = [(str(p), keys.inbox(p)) for p in range(PARTITIONS)]
        self._epoch = epoch
        self._feed = StreamReader(
            client, WORK, worker, streams, self._load, epoch, lease=lease, shared=True
        )

    @property
    def partitions(self) -> int:
        """The number of partitions of this worker."""
        return self._feed.owned

    @property
    def unfinished(self) -> int:
        """The number of events that were taken and are not finished."""
        return self._feed.unfinished

    async def run(self, take: Callable[[InboxEntry], None], has_room: Callable[[], bool]) -> None:
        """Call `take` for every event while `has_room()`; until cancelled. Continues after outages
        of the store."""
        await self._feed.run(take, has_room)

    async def _load(self, rows: Sequence[dict[bytes, bytes]]) -> list[StreamItem[InboxEntry]]:
        items = []
        for fields in rows:
            try:
                entry = parse_entry(fields)
                stored = int(fields[STORED]) / 1000 - self._epoch.ahead
            except (ValidationError, KeyError, ValueError):
                log.exception("event_unreadable", id=fields.get(b"id", b"").decode())
            else:
                skew = timedelta(seconds=stored) - timedelta(seconds=entry.received_at.timestamp())
                if abs(skew) >= SKEWED:
                    entry = replace(entry, skew=skew)
                items.append(StreamItem(entry.id, entry))
        return items

    def finished(self, ids: Iterable[str]) -> None:
        """Record that these events are done, in any process."""
        self._feed.done(ids)

    async def release(self) -> None:
        """After `run` ended: let another process continue at once. Never raises."""
        await self._feed.leave()


class RedisSendSource:
    """Passes queued sends to the process that is connected to their account, oldest first.

    Of several processes that are connected to one account, the first one sends; when it ends,
    another continues with the unconfirmed sends. `RedisOutbox` reports sent and dead items to
    `settled`."""

    def __init__(
        self, client: RedisClient, worker: str, epoch: Epoch, *, lease: float = LEASE
    ) -> None:
        """`worker` must be unique for every process; `lease` is in seconds."""
        self._client = client
        self._worker = worker
        self._epoch = epoch
        self._lease = lease
        self._keys = Keys(client)
        self._feed: StreamReader[OutboxEntry] | None = None
        self._positions: dict[tuple[str, str], int] = {}

    async def run(
        self,
        accounts: Sequence[tuple[str, str]],
        take: Callable[[Sequence[OutboxEntry]], None],
        has_room: Callable[[], bool],
    ) -> None:
        """Call `take` for the sends of these (platform, account) pairs while `has_room()`; until
        cancelled. Continues after outages of the store."""
        streams = [(quoted(*account), self._keys.outbox(account)) for account in accounts]
        self._positions = {account: position for position, account in enumerate(accounts)}
        self._feed = StreamReader(
            *(self._client, SENDS, self._worker, streams, self._load, self._epoch),
            lease=self._lease,
            shared=False,
        )
        await self._feed.run(lambda entry: take((entry,)), has_room)

    def has_passed_on(self, account: tuple[str, str]) -> bool:
        """Return True if this process sends for a (platform, account) pair and `take` received the
        sends that waited when it began, so that none of them comes later."""
        position = self._positions.get(account)
        return (
            self._feed is not None and position is not None and self._feed.has_passed_on(position)
        )

    def settled(self, keys: Iterable[str]) -> None:
        """Record that these sends no longer wait."""
        if self._feed is not None:
            self._feed.done(keys)

    def refused(self, keys: Iterable[str]) -> None:
        """Pass these sends on again, as far as this process still sends for their account."""
        if self._feed is not None:
            self._feed.again(keys)

    async def release(self) -> None:
        """After `run` ended: let another process continue at once. Never raises."""
        if self._feed is not None:
            await self._feed.leave()

    async def _load(self, rows: Sequence[dict[bytes, bytes]]) -> list[StreamItem[OutboxEntry]]:
        entries = await load_entries(self._client, self._keys, rows, self._epoch.doubt)
        return [StreamItem(entry.outbound.key, entry) for entry in entries]
