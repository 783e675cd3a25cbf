"""How much waits in Redis for all processes together, and how many workers are alive."""

from gateway.ports.stores import QueueDepths
from gateway.storage.redis.client import RedisClient, Script, milliseconds
from gateway.storage.redis.inbox import WORK
from gateway.storage.redis.keys import PARTITIONS, Keys

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
    """Looks when asked to. `latest` is what was seen last, None before that."""

    def __init__(self, client: RedisClient, lease: float) -> None:
        """`lease` in seconds: who gave no sign of life for longer is no living worker."""
        self._client = client
        self._keys = Keys(client)
        self._lease = lease
        self.latest: QueueDepths | None = None

    async def look(self) -> QueueDepths:
        """Count. Raises `StoreUnavailable`; what was seen last is then not known any more."""
        keys, self.latest = self._keys, None
        accounts = await self._client.command("SMEMBERS", keys.accounts)
        outboxes = [self._client.key("outbox", account.decode()) for account in accounts]
        inboxes = [keys.inbox(partition) for partition in range(PARTITIONS)]
        found = await self._client.run(
            LOOK,
            [keys.dead, keys.workers(WORK), *inboxes, *outboxes],
            [milliseconds(self._lease), PARTITIONS],
        )
        self.latest = QueueDepths(*map(int, found))
        return self.latest
