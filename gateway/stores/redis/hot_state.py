"""All hot state of one Redis."""

import os
import socket
import uuid
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from urllib.parse import unquote

from gateway.errors import UsageError
from gateway.policy.rate_limits import Bucket, BucketRule, Taken
from gateway.ports import AdapterState, Clock
from gateway.ports.adapter import StateEntry
from gateway.ports.queues import Backlog, QueueDepths
from gateway.stores.hot_losses import HotLosses
from gateway.stores.redis.client import (
    MAX_SCANS,
    SCANNED_AT_ONCE,
    Argument,
    RedisClient,
    Script,
    milliseconds,
)
from gateway.stores.redis.epoch import Epoch
from gateway.stores.redis.inbox import WORK, RedisInbox
from gateway.stores.redis.keys import PARTITIONS, Keys
from gateway.stores.redis.outbox import RedisOutbox
from gateway.stores.redis.processes import RedisProcesses
from gateway.stores.redis.sources import LEASE, RedisSendSource, RedisWorkSource

MAX_KEY = 200
MAX_VALUE = 4_000


class RedisAdapterStates:
    """Implements `gateway.ports.adapter.AdapterStates`."""

    def __init__(self, client: RedisClient) -> None:
        self._client = client
        self._keys = Keys(client)

    def of(self, platform: str, account: str) -> AdapterState:
        return _RedisState(self._client, self._keys, platform, account)

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


class _RedisState:
    def __init__(self, client: RedisClient, keys: Keys, platform: str, account: str) -> None:
        self._client = client
        self._keys = keys
        self._owner = (platform, account)

    async def get(self, key: str) -> str | None:
        value = await self._client.command("GET", self._keys.state(*self._owner, key))
        return None if value is None else bytes(value).decode()

    async def put(self, key: str, value: str, ttl: timedelta) -> None:
        if len(key) > MAX_KEY or len(value) > MAX_VALUE:
            raise UsageError(f"adapter state holds keys up to {MAX_KEY}, values up to {MAX_VALUE}")
        name, keep = self._keys.state(*self._owner, key), milliseconds(ttl.total_seconds())
        await self._client.command("SET", name, value, "PX", keep)


KEEP_BUCKETS = 60.0
"""Seconds after which any bucket is full again and can be dropped."""

# A double needs 17 digits to be restored exactly.
TAKE = Script.of("""
local now, keep, reserve = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local filled, waits, empty, longest = {}, {}, 0, 0
local number = (#ARGV - 3) / 3
for i = 1, number do
  local per_minute = tonumber(ARGV[3 * i + 1])
  local tokens = per_minute
  local held = redis.call('HMGET', KEYS[i], 'tokens', 'at')
  if held[1] then
    local gained = math.max(0, now - tonumber(held[2])) * per_minute / 60
    tokens = math.min(tokens, tonumber(held[1]) + gained)
  end
  waits[i] = 0
  if tokens < 1 then waits[i] = (1 - tokens) * 60 / per_minute end
  filled[i] = tokens
end
for i = 1, number do
  local wait = waits[i]
  if reserve > 0 and ARGV[3 * i + 2] == 'shared' then wait = math.min(wait, waits[reserve]) end
  if i ~= reserve and wait > 0 and (empty == 0 or wait > longest) then empty, longest = i, wait end
end
local answer = {empty, string.format('%.17g', longest)}
for i = 1, number do
  local tokens, level = filled[i], KEYS[number + i]
  if empty == 0 and tokens >= 1 then tokens = tokens - 1 end
  tokens = string.format('%.17g', tokens)
  redis.call('HSET', KEYS[i], 'tokens', tokens, 'at', ARGV[1])
  redis.call('PEXPIRE', KEYS[i], keep)
  if ARGV[3 * i + 3] ~= '' then
    redis.call('ZREMRANGEBYSCORE', level, '-inf', now - keep / 1000)
    redis.call('ZADD', level, ARGV[1], ARGV[3 * i + 3])
    redis.call('PEXPIRE', level, keep)
  end
  answer[i + 2] = tokens
end
return answer
""")

HELD = Script.of("""
local found = {}
for i = 1, #KEYS do found[i] = redis.call('HMGET', KEYS[i], 'tokens', 'at') end
return found
""")
LISTED = ("user:", "channel:", "workspace:")
"""The buckets that `used` finds."""
MAX_USED = 2_000
"""Names of used buckets that are read at once."""


class RedisBuckets:
    """Implements `gateway.ports.usage.Buckets`."""

    def __init__(self, client: RedisClient) -> None:
        self._client = client
        self._keys = Keys(client)

    async def take(self, rules: Sequence[BucketRule], now: float) -> Taken:
        if not rules:
            return Taken(True, ())
        keys = [self._keys.bucket(rule.key) for rule in rules]
        keys += [self._keys.used_buckets(rule.key.partition(":")[0]) for rule in rules]
        reserves = [i for i, rule in enumerate(rules, 1) if rule.level == "reserve"]
        arguments: list[Argument] = [
            repr(now),
            milliseconds(KEEP_BUCKETS),
            max(reserves, default=0),
        ]
        for rule in rules:
            shared = rule.level in ("channel", "workspace")
            listed = rule.key if rule.key.startswith(LISTED) else ""
            arguments += [rule.per_minute, "shared" if shared else "own", listed]
        empty, longest, *tokens = await self._client.run(TAKE, keys, arguments)
        buckets = tuple(Bucket(float(held), now) for held in tokens)
        if empty:
            return Taken(False, buckets, rules[empty - 1].level, float(longest))
        return Taken(True, buckets)

    async def held(self, keys: Sequence[str]) -> list[Bucket | None]:
        if not keys:
            return []
        found = await self._client.run(HELD, [self._keys.bucket(key) for key in keys], [])
        return [Bucket(float(one[0]), float(one[1])) if one[0] else None for one in found]

    async def used(self, prefix: str, since: float, limit: int) -> dict[str, Bucket]:
        level = self._keys.used_buckets(prefix.partition(":")[0])
        after = f"({since!r}"
        rows = await self._client.command(
            "ZREVRANGEBYSCORE", level, "+inf", after, "LIMIT", 0, MAX_USED
        )
        names = [name for name in (bytes(row).decode() for row in rows) if name.startswith(prefix)]
        names = names[:limit]
        held = zip(names, await self.held(names), strict=True)
        return {name: bucket for name, bucket in held if bucket is not None}

    async def claim(self, key: str, ttl: timedelta) -> bool:
        name, keep = self._keys.claimed(key), milliseconds(ttl.total_seconds())
        return await self._client.command("SET", name, "1", "NX", "PX", keep) is not None

    async def prune(self) -> int:
        """Return 0: everything expires by itself."""
        return 0


LOOK = Script.of("""
local clock = redis.call('TIME')
local since = clock[1] * 1000 + math.floor(clock[2] / 1000) - ARGV[1]
local function lengths(first, last)
  local sum = 0
  for i = first, last do sum = sum + redis.call('XLEN', KEYS[i]) end
  return sum
end
local partitions = tonumber(ARGV[2])
return {
  lengths(3, 2 + partitions),
  lengths(3 + partitions, #KEYS),
  redis.call('ZCARD', KEYS[1]),
  redis.call('ZCOUNT', KEYS[2], since, '+inf'),
}
""")


class RedisHotState:
    """The stores and sources of one process. Call `client.start()` before use."""

    def __init__(
        self,
        url: str,
        clock: Clock,
        *,
        prefix: str = "parley",
        lease: float = LEASE,
        record: HotLosses | None = None,
    ) -> None:
        """`prefix` separates installations in one Redis; `lease` is the time in seconds after which
        the work of a dead process is taken over. `record` is the database's side of the epoch."""
        self.client = RedisClient(url, prefix=prefix)
        self.worker = process_name()
        self.depths = RedisQueueDepths(self.client, lease)
        self.epoch = Epoch(self.client, clock, record, lambda: self.depths.latest)
        self.work = RedisWorkSource(self.client, self.worker, self.epoch, lease=lease)
        self.sends = RedisSendSource(self.client, self.worker, self.epoch, lease=lease)
        self.backlog = RedisBacklog(self.client, self.depths)
        self.processes = RedisProcesses(self.client, self.worker)
        self.inbox = RedisInbox(self.client, clock, self.work.finished)
        self.outbox = RedisOutbox(
            *(self.client, clock, self.sends.settled, self.sends.refused, self.worker),
            self.epoch.has_lost,
        )
        self.buckets = RedisBuckets(self.client)
        self.states = RedisAdapterStates(self.client)


def process_name() -> str:
    """Return a name that is unique among processes and tells host and process id."""
    return f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}"


class RedisQueueDepths:
    """Counts on demand. `latest` is the last result, None before the first."""

    def __init__(self, client: RedisClient, lease: float) -> None:
        """A worker without a sign of life for `lease` seconds is dead."""
        self._client = client
        self._keys = Keys(client)
        self._lease = lease
        self.latest: QueueDepths | None = None

    async def look(self) -> QueueDepths:
        """Count. Raises `StoreUnavailable`; the last result is then discarded."""
        keys, self.latest = self._keys, None
        accounts = await self._client.command("SMEMBERS", keys.accounts)
        outboxes = [self._client.key("outbox", account.decode()) for account in accounts]
        inboxes = [keys.inbox(partition) for partition in range(PARTITIONS)]
        counts = await self._client.run(
            LOOK,
            [keys.dead, keys.workers(WORK), *inboxes, *outboxes],
            [milliseconds(self._lease), PARTITIONS],
        )
        self.latest = QueueDepths(*map(int, counts))
        return self.latest


class RedisBacklog:
    """Implements `gateway.ports.queues.BacklogReader`."""

    def __init__(self, client: RedisClient, depths: RedisQueueDepths) -> None:
        self._client = client
        self._keys = Keys(client)
        self._depths = depths

    async def look(self) -> Backlog:
        depths = await self._depths.look()
        accounts = await self._client.command("SMEMBERS", self._keys.accounts)
        return Backlog(
            depths.events,
            await self._oldest([self._keys.inbox(partition) for partition in range(PARTITIONS)]),
            depths.sends,
            await self._oldest([self._client.key("outbox", one.decode()) for one in accounts]),
            depths.dead,
        )

    async def _oldest(self, streams: Sequence[str]) -> datetime | None:
        """Return the time of the oldest entry of these streams."""
        firsts = await self._client.batch(
            [("XRANGE", stream, "-", "+", "COUNT", 1) for stream in streams]
        )
        times = [float(fields[b"at"]) for first in firsts for _, fields in first]
        return datetime.fromtimestamp(min(times), UTC) if times else None
