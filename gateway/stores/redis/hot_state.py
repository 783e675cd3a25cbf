"""All hot state of one Redis."""

import os
import socket
import uuid

from gateway.ports import Clock
from gateway.ports.inbox import QueueDepths
from gateway.stores.redis.adapter_state import RedisAdapterStates
from gateway.stores.redis.buckets import RedisBuckets
from gateway.stores.redis.client import RedisClient, Script, milliseconds
from gateway.stores.redis.inbox import WORK, RedisInbox
from gateway.stores.redis.keys import PARTITIONS, Keys
from gateway.stores.redis.outbox import RedisOutbox
from gateway.stores.redis.sources import LEASE, RedisSendSource, RedisWorkSource

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
        self, url: str, clock: Clock, *, prefix: str = "parley", lease: float = LEASE
    ) -> None:
        """`prefix` separates installations in one Redis; `lease` is the time in seconds after which
        the work of a dead process is taken over."""
        self.client = RedisClient(url, prefix=prefix)
        self.worker = process_name()
        self.work = RedisWorkSource(self.client, self.worker, lease=lease)
        self.sends = RedisSendSource(self.client, self.worker, lease=lease)
        self.depths = RedisQueueDepths(self.client, lease)
        self.inbox = RedisInbox(self.client, clock, self.work.finished)
        self.outbox = RedisOutbox(self.client, clock, self.sends.settled)
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
