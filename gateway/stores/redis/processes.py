"""The processes that share the work, by their latest report. Redis' own clock measures all times,
so that the clocks of machines do not matter."""

from typing import Final

import msgspec

from gateway.ports.processes import ProcessReport, SeenProcess
from gateway.stores.redis.client import RedisClient, Script, milliseconds
from gateway.stores.redis.keys import Keys

MISSING_AFTER: Final = 15.0
"""Seconds without a report after which a process counts as missing: three missed reports."""
FORGOTTEN_AFTER: Final = 3600.0
"""Seconds without a report after which a process is forgotten."""
MAX_PROCESSES: Final = 256
"""Processes that are kept, the latest ones: a process that crashes at each start has a new name
each time."""

# KEYS: reports, latest, first, ended. A gap starts the watch anew.
REPORT: Final = Script.of("""
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local name, gap, keep, most = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local function forget(names)
  for _, old in ipairs(names) do
    redis.call('HDEL', KEYS[1], old)
    for i = 2, 4 do redis.call('ZREM', KEYS[i], old) end
  end
end
if name ~= '' then
  local last = redis.call('ZSCORE', KEYS[2], name)
  if ARGV[2] == '' then
    if last then redis.call('ZADD', KEYS[4], now, name) end
  else
    if not last or now - last > gap then redis.call('ZADD', KEYS[3], now, name) end
    redis.call('HSET', KEYS[1], name, ARGV[2])
    redis.call('ZADD', KEYS[2], now, name)
    redis.call('ZREM', KEYS[4], name)
    forget(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now - keep))
    forget(redis.call('ZRANGE', KEYS[2], 0, -most - 1))
    for i = 1, 4 do redis.call('PEXPIRE', KEYS[i], keep) end
  end
end
local seen = {}
for _, each in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  local latest = now - redis.call('ZSCORE', KEYS[2], each)
  local first = now - (redis.call('ZSCORE', KEYS[3], each) or now)
  local ended = redis.call('ZSCORE', KEYS[4], each) and 1 or 0
  local report = redis.call('HGET', KEYS[1], each)
  if report then seen[#seen + 1] = {each, report, latest, first, ended} end
end
return seen
""")


class RedisProcesses:
    """Every method raises `StoreUnavailable`."""

    def __init__(self, client: RedisClient, name: str) -> None:
        """`name` is that of this process."""
        self._client = client
        self._keys = Keys(client).processes
        self._name = name

    async def report(self, report: ProcessReport) -> tuple[SeenProcess, ...]:
        """Store the report of this process; return those of all."""
        return await self._run(self._name, msgspec.json.encode(report))

    async def leave(self) -> None:
        """Note that this process stops."""
        await self._run(self._name, b"")

    async def look(self) -> tuple[SeenProcess, ...]:
        """Return the reports of all, without one of this process."""
        return await self._run("", b"")

    async def _run(self, name: str, report: bytes) -> tuple[SeenProcess, ...]:
        times = (milliseconds(MISSING_AFTER), milliseconds(FORGOTTEN_AFTER), MAX_PROCESSES)
        rows = await self._client.run(REPORT, self._keys, [name, report, *times], repeatable=True)
        return tuple(seen for row in rows if (seen := _seen(*row)) is not None)


def _seen(name: bytes, report: bytes, age: int, watching: int, ended: int) -> SeenProcess | None:
    """Return a report; None for one of another version that cannot be read."""
    try:
        read = msgspec.json.decode(report, type=ProcessReport)
    except msgspec.DecodeError:
        return None
    return SeenProcess(name.decode(), read, int(age) / 1000, int(watching) / 1000, bool(ended))
