"""Leases on streams: they decide which process reads, and expire after a crash of their holder.

Every holder calls `renew` a few times per lease. Redis' own clock measures it, and the script that
reads a stream checks the lease first, so a process that was suspended for too long reads nothing
more.
"""

import time
from collections.abc import Collection, Sequence
from typing import Any

from msgspec import Struct

from db.errors import StoreUnavailable
from gateway.stores.redis.client import RedisClient, Script, milliseconds
from gateway.stores.redis.epoch import CURRENT, STALE, Epoch
from gateway.stores.redis.keys import Keys

# For one lease after a loss, a process takes only streams that it had: it may still work on them.
RENEW = Script.of(
    CURRENT
    + """
local worker, lease, shared = ARGV[1], tonumber(ARGV[2]), ARGV[3] == '1'
local epoch, had, last = KEYS[#KEYS], ARGV[6], #KEYS - 1
if not is_current(epoch, ARGV[4], ARGV[5]) then return 'stale' end
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local began = redis.call('HMGET', epoch, 'kind', 'began')
local kind = began[1] or ''
local lost = kind ~= '' and kind ~= 'restored' and now - tonumber(began[2] or '0') < lease
redis.call('ZADD', KEYS[1], now, worker)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - lease)
redis.call('PEXPIRE', KEYS[1], 10 * lease)
local share = last - 1
if shared then share = math.ceil(share / redis.call('ZCARD', KEYS[1])) end
local kept, free, gained = {}, {}, {}
for i = 2, last do
  local owner = redis.call('GET', KEYS[i])
  if owner == worker then
    redis.call('PEXPIRE', KEYS[i], lease)
    kept[#kept + 1] = i - 2
  elseif not owner and (not lost or had:find(',' .. (i - 2) .. ',', 1, true)) then
    free[#free + 1] = i
  end
end
for _, i in ipairs(free) do
  if #kept + #gained >= share then break end
  redis.call('SET', KEYS[i], worker, 'PX', lease)
  gained[#gained + 1] = i - 2
end
return {share, kept, gained, redis.call('HINCRBY', epoch, 'mark', 1)}
"""
)

# The other processes are notified about free streams.
RELEASE = Script.of("""
local worker, wakeups, leaving = ARGV[1], ARGV[2], ARGV[3] == '1'
for i = 2, #KEYS do
  if redis.call('GET', KEYS[i]) == worker then redis.call('DEL', KEYS[i]) end
end
if leaving then
  redis.call('ZREM', KEYS[1], worker)
  redis.call('DEL', wakeups .. worker)
end
for _, other in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
  if other ~= worker then
    redis.call('LPUSH', wakeups .. other, 'leases')
    redis.call('LTRIM', wakeups .. other, 0, 3)
    redis.call('PEXPIRE', wakeups .. other, 60000)
  end
end
""")


class LeaseChange(Struct, frozen=True):
    """The result of a renewal: positions of streams."""

    gained: frozenset[int]
    lost: frozenset[int]


class StreamLeases:
    """The leases of one process on streams of one kind, by their position in `names`.

    `shared`: every living process gets an equal share; otherwise the first one gets all.
    """

    def __init__(
        self,
        client: RedisClient,
        kind: str,
        worker: str,
        names: Sequence[str],
        epoch: Epoch,
        *,
        seconds: float,
        shared: bool,
    ) -> None:
        keys = Keys(client)
        self._epoch = epoch
        self._client = client
        self._worker = worker
        self._seconds = seconds
        self._shared = shared
        self._workers = keys.workers(kind)
        self._wakeups = keys.wakeup(kind)
        self._valid_until = 0.0
        self.names = [keys.lease(kind, name) for name in names]
        self.owned: set[int] = set()
        self.share = len(names)

    @property
    def valid(self) -> bool:
        """False once the leases may have expired."""
        return time.monotonic() < self._valid_until

    @property
    def surplus(self) -> int:
        """The number of streams above this process's share."""
        return max(0, len(self.owned) - self.share)

    async def renew(self) -> LeaseChange:
        """Report that this process runs, extend its leases, and take free streams up to its
        share."""
        began = time.monotonic()
        answer = await self._renewed()
        if answer == STALE:
            await self._epoch.check()
            answer = await self._renewed()
        if answer == STALE:
            raise StoreUnavailable("Redis: its state changes just now")
        self.share, kept, gained, mark = answer
        self._epoch.learn(int(mark))
        before = self.owned
        self.owned = {*kept, *gained}
        self._valid_until = began + self._seconds
        # An expired and regained lease may have been another process's in between.
        return LeaseChange(
            frozenset(gained) | (self.owned - before), frozenset(before - self.owned)
        )

    async def _renewed(self) -> Any:
        had = "".join(f",{position}" for position in sorted(self.owned))
        return await self._client.run(
            RENEW,
            [self._workers, *self.names, self._epoch.key],
            [
                *(self._worker, milliseconds(self._seconds), int(self._shared)),
                *(self._epoch.id, self._epoch.mark, f"{had},"),
            ],
        )

    async def release(self, positions: Collection[int]) -> None:
        """Release streams."""
        self.owned -= set(positions)
        await self._release(positions, leaving=False)

    async def leave(self) -> None:
        """Release everything and deregister."""
        self.owned = set()
        await self._release(range(len(self.names)), leaving=True)

    async def _release(self, positions: Collection[int], *, leaving: bool) -> None:
        keys = [self._workers, *(self.names[position] for position in positions)]
        await self._client.run(
            RELEASE, keys, [self._worker, self._wakeups, int(leaving)], repeatable=True
        )
