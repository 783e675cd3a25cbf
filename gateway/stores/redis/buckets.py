"""Token buckets and once-only marks in Redis.

The script repeats the arithmetic of `gateway.policy.rate_limits.take`, operation by operation: both
calculate in double precision, and a property test compares them to the last bit.
"""

from collections.abc import Sequence
from datetime import timedelta

from gateway.policy.rate_limits import Bucket, BucketRule, Taken
from gateway.stores.redis.client import Argument, RedisClient, Script, milliseconds
from gateway.stores.redis.keys import Keys

KEEP_BUCKETS = 60.0
"""Seconds after which any bucket is full again and can be dropped."""

# A double needs 17 digits to be restored exactly.
TAKE = Script.of("""
local now, keep, reserve = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local filled, waits, empty, longest = {}, {}, 0, 0
for i = 1, #KEYS do
  local per_minute = tonumber(ARGV[2 * i + 2])
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
for i = 1, #KEYS do
  local wait = waits[i]
  if reserve > 0 and ARGV[2 * i + 3] == 'shared' then wait = math.min(wait, waits[reserve]) end
  if i ~= reserve and wait > 0 and (empty == 0 or wait > longest) then empty, longest = i, wait end
end
local answer = {empty, string.format('%.17g', longest)}
for i = 1, #KEYS do
  local tokens = filled[i]
  if empty == 0 and tokens >= 1 then tokens = tokens - 1 end
  tokens = string.format('%.17g', tokens)
  redis.call('HSET', KEYS[i], 'tokens', tokens, 'at', ARGV[1])
  redis.call('PEXPIRE', KEYS[i], keep)
  answer[i + 2] = tokens
end
return answer
""")


class RedisBuckets:
    """Implements `gateway.ports.buckets.Buckets`."""

    def __init__(self, client: RedisClient) -> None:
        self._client = client
        self._keys = Keys(client)

    async def take(self, rules: Sequence[BucketRule], now: float) -> Taken:
        if not rules:
            return Taken(True, ())
        keys = [self._keys.bucket(rule.key) for rule in rules]
        reserves = [i for i, rule in enumerate(rules, 1) if rule.level == "reserve"]
        arguments: list[Argument] = [
            repr(now),
            milliseconds(KEEP_BUCKETS),
            max(reserves, default=0),
        ]
        for rule in rules:
            shared = rule.level in ("channel", "workspace")
            arguments += [rule.per_minute, "shared" if shared else "own"]
        empty, longest, *tokens = await self._client.run(TAKE, keys, arguments)
        buckets = tuple(Bucket(float(held), now) for held in tokens)
        if empty:
            return Taken(False, buckets, rules[empty - 1].level, float(longest))
        return Taken(True, buckets)

    async def once(self, key: str, ttl: timedelta) -> bool:
        name, keep = self._keys.once(key), milliseconds(ttl.total_seconds())
        return await self._client.command("SET", name, "1", "NX", "PX", keep) is not None

    async def prune(self) -> int:
        """Return 0: everything expires by itself."""
        return 0
