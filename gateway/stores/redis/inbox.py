"""Accepted events in Redis: stored, deduplicated and queued in one step.

A key per event says if it is open or done, and a stream per partition holds the open ones. An open
event does not expire; of a finished one the id is kept for as long as the platform may repeat it.
"""

import uuid
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta

import structlog

from gateway.message import Outbound
from gateway.ports import Clock
from gateway.ports.queues import KEEP_OPEN, Finished, InboxEntry
from gateway.stores.codec import event_from_json, event_to_json
from gateway.stores.redis.client import RedisClient, Script, milliseconds
from gateway.stores.redis.keys import GROUP, PARTITIONS, WAKE, Keys, partition_of
from gateway.stores.redis.outbox import APPEND, FORGET_OLD, SENDS, append_arguments, append_keys

WORK = "work"
"""The kind of lease that the reader of a partition holds."""
ENDED = (Finished.ELSEWHERE, Finished.HERE, Finished.UNKNOWN)
"""The results of `FINISH`."""
KEEP_LOST = timedelta(days=7)
"""The time for which the id of an event is kept that was lost with its own time: the longest for
which a platform sends again."""
FORGET_AT_ONCE = 10
"""Events of one partition that one call deletes."""

# The token distinguishes a repetition of this call from a duplicate; it stays at the end of the
# event's state, because the event may be finished before the repetition.
ADD = Script.of(
    WAKE
    + """
local event, stream, lease = KEYS[1], KEYS[2], KEYS[3]
local token, hold, partition, wakeups = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local known = redis.call('GET', event)
if known then
  if known:sub(-#token) == token then return 1 end
  return 0
end
local id = redis.call('XADD', stream, '*',
                      'id', ARGV[5], 'conversation', ARGV[6], 'event', ARGV[7], 'at', ARGV[8],
                      'reason', ARGV[9])
redis.call('SET', event, 'open ' .. hold .. ' ' .. partition .. ' ' .. id .. ' ' .. token)
local owner = redis.call('GET', lease)
if owner then wake(wakeups .. owner) end
return 1
"""
)

FINISH = Script.of(
    APPEND
    + """
local token, group, inbox, wakeups, events = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local won, unknown, lost = events == 0, 0, ARGV[6] ~= ''
for i = 1, events do
  local known = redis.call('GET', KEYS[i])
  if not known then
    unknown, known = unknown + 1, ''
    if lost then
      redis.call('SET', KEYS[i], 'done ' .. token .. ' ' .. string.rep('0', 32), 'PX', ARGV[6])
      won = true
    end
  end
  local hold, partition, id, added = known:match('^open (%d+) (%d+) ([%d-]+) (%x+)$')
  if hold then
    redis.call('XACK', inbox .. partition, group, id)
    redis.call('XDEL', inbox .. partition, id)
    redis.call('SET', KEYS[i], 'done ' .. token .. ' ' .. added, 'PX', hold)
    won = true
  elseif known:sub(1, -34) == 'done ' .. token then
    won = true
  end
end
if not won then return unknown > 0 and 2 or 0 end
append_all(events + 1, 7, wakeups)
return 1
"""
)

UNFINISHED = Script.of("""
local limit, open = tonumber(ARGV[1]), {}
for _, stream in ipairs(KEYS) do
  for _, entry in ipairs(redis.call('XRANGE', stream, '-', '+', 'COUNT', limit)) do
    local ms, n = entry[1]:match('(%d+)-(%d+)')
    open[#open + 1] = {tonumber(ms), tonumber(n), entry[2]}
  end
end
table.sort(open, function(a, b)
  if a[1] ~= b[1] then return a[1] < b[1] end
  return a[2] < b[2]
end)
local oldest = {}
for i = 1, math.min(limit, #open) do oldest[i] = open[i][3] end
return oldest
""")

log = structlog.get_logger(__name__)


class RedisInbox:
    """Implements `gateway.ports.queues.Inbox`. `finished` receives the ids that are done."""

    def __init__(
        self,
        client: RedisClient,
        clock: Clock,
        finished: Callable[[Iterable[str]], None] = lambda _: None,
    ) -> None:
        self._client = client
        self._clock = clock
        self._finished = finished
        self._keys = Keys(client)

    async def add(self, entry: InboxEntry, hold: timedelta) -> bool:
        partition = partition_of(entry.conversation)
        added = await self._client.run(
            ADD,
            [
                self._keys.event(entry.id),
                self._keys.inbox(partition),
                self._keys.lease(WORK, str(partition)),
            ],
            [
                uuid.uuid4().hex,
                milliseconds(hold.total_seconds()),
                partition,
                self._keys.wakeup(WORK),
                entry.id,
                entry.conversation,
                event_to_json(entry.event),
                repr(entry.received_at.timestamp()),
                entry.reason,
            ],
            repeatable=True,
        )
        return bool(added)

    async def unfinished(self, limit: int) -> list[InboxEntry]:
        streams = [self._keys.inbox(partition) for partition in range(PARTITIONS)]
        rows = await self._client.run(UNFINISHED, streams, [limit])
        return [parse_entry(dict(zip(row[::2], row[1::2], strict=True))) for row in rows]

    async def finish(
        self,
        ids: Sequence[str],
        outbound: Sequence[Outbound],
        begun: str = "",
        *,
        lost: bool = False,
    ) -> Finished:
        """The same answer, given again because its result was unknown, returns `HERE` again."""
        token = outbound[0].key if outbound else uuid.uuid4().hex
        keys = [*(self._keys.event(i) for i in ids), *append_keys(self._keys, outbound)]
        now = self._clock.now().timestamp()
        ended = await self._client.run(
            FINISH,
            keys,
            [
                token,
                GROUP,
                self._keys.inbox_prefix,
                self._keys.wakeup(SENDS),
                len(ids),
                milliseconds(KEEP_LOST.total_seconds()) if lost else "",
                *append_arguments(outbound, now, begun),
            ],
            repeatable=True,
        )
        self._finished(ids)
        return ENDED[int(ended)]

    async def prune(self) -> int:
        """Delete some unanswered events after `KEEP_OPEN`. Finished ones expire by themselves."""
        before = (self._clock.now() - KEEP_OPEN).timestamp()
        streams = [self._keys.inbox(partition) for partition in range(PARTITIONS)]
        left = await self._client.run(
            FORGET_OLD, streams, [repr(before), FORGET_AT_ONCE, GROUP, self._keys.event(""), "id"]
        )
        if left:
            log.warning("events_expired", events=left)
        return int(left)


def parse_entry(fields: dict[bytes, bytes]) -> InboxEntry:
    """Parse an entry of a partition's stream. Raises pydantic's ValidationError or KeyError if
    another version of the program wrote it in an unreadable form."""
    received_at = datetime.fromtimestamp(float(fields[b"at"]), UTC)
    return InboxEntry(
        fields[b"id"].decode(),
        fields[b"conversation"].decode(),
        event_from_json(fields[b"event"]),
        received_at,
        fields[b"reason"].decode(),
    )
