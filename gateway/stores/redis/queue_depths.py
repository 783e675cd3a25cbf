"""The load of Redis for all processes together, and the number of living workers."""

from gateway.ports.stores import QueueDepths
from gateway.stores.redis.client import RedisClient, Script, milliseconds
from gateway.stores.redis.inbox import WORK
from gateway.stores.redis.keys import PARTITIONS, Keys

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
