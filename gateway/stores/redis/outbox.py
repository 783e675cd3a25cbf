"""Queued sends in Redis: a stream per account, and a hash per send.

The stream holds the queue in order; the hash holds the state. A receipt is kept for
`KEEP_RECEIPTS`; a dead letter keeps its text, so that it can be sent again.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import cast

import structlog
from pydantic import ValidationError

from gateway.immutable import replace
from gateway.message import Outbound, Receipt
from gateway.ports import Clock
from gateway.ports.queues import (
    KEEP_DEAD,
    KEEP_OPEN,
    KEEP_RECEIPTS,
    DeadLetter,
    DeliveryState,
    OutboxEntry,
    SendState,
)
from gateway.stores.codec import outbound_from_json, outbound_to_json
from gateway.stores.redis.client import Argument, RedisClient, Script, milliseconds, quoted
from gateway.stores.redis.keys import GROUP, WAKE, Keys

AT_ONCE = 500
"""Sends that one call deletes."""
MAX_REASON = 500
MAX_DEAD = 10_000
"""Maximum number of dead letters; the oldest are deleted."""
DEAD_FIELDS = ("seq", "outbound", "attempts", "at", "reason", "settled")
DELIVERY = ("state", "attempts", "reason", "at", "settled")
TRIES = ("state", "attempts", "begun", "not_before")
BEGUN, UNKNOWN = 1, 2
"""Results of `BEGIN`."""
LOOKED_AT = 1_000
"""Entries of a stream among which a restored send is looked for."""
SENDS = "sends"
"""The kind of lease that the sender of an account holds."""

APPEND = (
    WAKE
    + """
local function append(sequence, accounts, send, stream, lease, wakeups,
                      key, account, at, body, begun)
  if redis.call('EXISTS', send) == 1 then return end
  local seq = redis.call('INCR', sequence)
  local id = redis.call('XADD', stream, '*', 'key', key, 'seq', seq, 'at', at, 'outbound', body)
  redis.call('HSET', send, 'state', 'waiting', 'stream', stream, 'id', id, 'attempts', 0,
             'begun', begun)
  redis.call('SADD', accounts, account)
  local owner = redis.call('GET', lease)
  if owner then wake(wakeups .. owner) end
end

-- from key k and argument a on: sequence, accounts, then three keys and five arguments a send
local function append_all(k, a, wakeups)
  local sequence, accounts = KEYS[k], KEYS[k + 1]
  k = k + 2
  while k <= #KEYS do
    append(sequence, accounts, KEYS[k], KEYS[k + 1], KEYS[k + 2], wakeups,
           ARGV[a], ARGV[a + 1], ARGV[a + 2], ARGV[a + 3], ARGV[a + 4])
    k, a = k + 3, a + 5
  end
end
"""
)

ADD = Script.of(APPEND + "append_all(1, 2, ARGV[1])")
# Stores a send again of which Redis lost the state. Without its entry in the stream, and without a
# known loss (ARGV[9]), it was deleted.
RESTORE = Script.of(
    APPEND
    + """
if redis.call('EXISTS', KEYS[3]) == 1 then return end
local is_known = ARGV[9] == '1'
for _, entry in ipairs(redis.call('XRANGE', KEYS[4], '-', '+', 'COUNT', ARGV[7])) do
  if entry[2][2] == ARGV[2] then
    is_known = true
    redis.call('XACK', KEYS[4], ARGV[8], entry[1])
    redis.call('XDEL', KEYS[4], entry[1])
  end
end
if is_known then append_all(1, 2, ARGV[1]) end
return is_known and 1 or 0
"""
)
# A process that was suspended until its lease expired must not send what the next one sends.
BEGIN = Script.of("""
local held = redis.call('HMGET', KEYS[1], 'state', 'begun')
local owner = redis.call('GET', KEYS[2])
if not held[1] then return 2 end
if held[1] ~= 'waiting' or (held[2] ~= '0' and ARGV[2] ~= '1') then return 0 end
if owner and ARGV[1] ~= '' and owner ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'begun', 1)
return 1
""")
TRIED = Script.of("""
if redis.call('EXISTS', KEYS[1]) == 0 then return end
redis.call('HINCRBY', KEYS[1], 'attempts', 1)
redis.call('HSET', KEYS[1], 'reason', ARGV[1], 'begun', ARGV[2], 'not_before', ARGV[3])
""")

SENT = Script.of("""
local state = redis.call('HMGET', KEYS[1], 'state', 'stream', 'id', 'attempts', 'reason')
if state[1] and state[1] ~= 'waiting' then return end
if state[1] then
  redis.call('XACK', state[2], ARGV[1], state[3])
  redis.call('XDEL', state[2], state[3])
  redis.call('DEL', KEYS[1])
end
redis.call('HSET', KEYS[1], 'state', 'sent', 'message_id', ARGV[2], 'attempts', (state[4] or 0) + 1,
           'reason', state[5] or '', 'settled', ARGV[5])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
if KEYS[2] then redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[3]) end
""")

DEAD = Script.of("""
for i = 2, #KEYS do
  local state = redis.call('HMGET', KEYS[i], 'state', 'stream', 'id')
  if state[1] == 'waiting' then
    local found = redis.call('XRANGE', state[2], state[3], state[3])[1]
    redis.call('XACK', state[2], ARGV[1], state[3])
    redis.call('XDEL', state[2], state[3])
    redis.call('HSET', KEYS[i], 'state', 'dead', 'reason', ARGV[2], 'settled', ARGV[3])
    if found then redis.call('HSET', KEYS[i], unpack(found[2])) end
    redis.call('ZADD', KEYS[1], ARGV[3], KEYS[i])
  end
end
local surplus = redis.call('ZCARD', KEYS[1]) - ARGV[4]
if surplus > 0 then
  for i, name in ipairs(redis.call('ZPOPMIN', KEYS[1], surplus)) do
    if i % 2 == 1 then redis.call('DEL', name) end
  end
end
""")

REQUEUE = Script.of(
    APPEND
    + """
local sequence, accounts, send = KEYS[2], KEYS[3], KEYS[4]
local state = redis.call('HMGET', send, 'state', 'outbound', 'begun')
if state[1] ~= 'dead' or not state[2] then return 0 end
local begun = 0
if state[3] and state[3] ~= '0' then begun = 2 end
redis.call('ZREM', KEYS[1], send)
redis.call('DEL', send)
append(sequence, accounts, send, KEYS[5], KEYS[6], ARGV[1], ARGV[2], ARGV[3], ARGV[4], state[2],
       begun)
return 1
"""
)

DROP = Script.of("""
if redis.call('HGET', KEYS[2], 'state') ~= 'dead' then return 0 end
redis.call('ZREM', KEYS[1], KEYS[2])
return redis.call('DEL', KEYS[2])
""")

FORGET = Script.of("""
local old = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
for _, name in ipairs(old) do
  redis.call('ZREM', KEYS[1], name)
  redis.call('DEL', name)
end
return #old
""")

# Deletes old entries of streams, the oldest first; the caller repeats the call.
FORGET_OLD = Script.of("""
local before, gone = tonumber(ARGV[1]), 0
for _, stream in ipairs(KEYS) do
  for _, entry in ipairs(redis.call('XRANGE', stream, '-', '+', 'COUNT', ARGV[2])) do
    local fields = {}
    for i = 1, #entry[2], 2 do fields[entry[2][i]] = entry[2][i + 1] end
    if tonumber(fields['at']) > before then break end
    redis.call('XACK', stream, ARGV[3], entry[1])
    redis.call('XDEL', stream, entry[1])
    redis.call('DEL', ARGV[4] .. fields[ARGV[5]])
    gone = gone + 1
  end
end
return gone
""")

log = structlog.get_logger(__name__)


def append_keys(keys: Keys, outbound: Sequence[Outbound]) -> list[str]:
    """Return the keys for `append_all`."""
    names = [keys.sequence, keys.accounts]
    for item in outbound:
        names += _send_keys(keys, item)
    return names


def append_arguments(outbound: Sequence[Outbound], now: float, begun: str = "") -> list[Argument]:
    """Return the arguments for `append_all`."""
    values: list[Argument] = []
    for item in outbound:
        values += [item.key, quoted(*_account(item)), repr(now), outbound_to_json(item)]
        values += [int(item.key == begun)]
    return values


async def _never() -> bool:
    return False


class RedisOutbox:
    """Implements `gateway.ports.queues.Outbox`. `settled` receives the keys that no
    longer wait, `refused` those that this process must not send as it holds them. `worker` is the
    name of this process, empty where it sends nothing."""

    def __init__(
        self,
        client: RedisClient,
        clock: Clock,
        settled: Callable[[Iterable[str]], None] = lambda _: None,
        refused: Callable[[Iterable[str]], None] = lambda _: None,
        worker: str = "",
        lost: Callable[[], Awaitable[bool]] = _never,
    ) -> None:
        """`lost` returns True if Redis lost its state: then an unknown send is stored again, which
        otherwise was deleted."""
        self._client = client
        self._clock = clock
        self._lost = lost
        self._settled = settled
        self._refused = refused
        self._worker = worker
        self._keys = Keys(client)

    async def add(self, outbound: Sequence[Outbound]) -> None:
        if not outbound:
            return
        now = self._clock.now().timestamp()
        arguments = [self._keys.wakeup(SENDS), *append_arguments(outbound, now)]
        await self._client.run(ADD, append_keys(self._keys, outbound), arguments, repeatable=True)

    async def waiting(self, limit: int) -> list[OutboxEntry]:
        answers = await self._client.batch(
            [("XRANGE", stream, "-", "+", "COUNT", limit) for stream in await self._streams()]
        )
        rows = [fields for answer in answers for _, fields in answer]
        oldest = sorted(rows, key=lambda fields: int(fields[b"seq"]))[:limit]
        return await load_entries(self._client, self._keys, oldest)

    async def begin(self, outbound: Outbound, *, again: bool = False) -> bool:
        lease = self._keys.lease(SENDS, quoted(*_account(outbound)))
        names = [self._keys.send(outbound.key), lease]
        arguments: list[Argument] = [self._worker, int(again)]
        begun = await self._client.run(BEGIN, names, arguments, repeatable=True)
        if begun == UNKNOWN and await self._restore(outbound, again=again):
            begun = await self._client.run(BEGIN, names, arguments, repeatable=True)
        if begun == BEGUN:
            return True
        self._refused((outbound.key,))
        return False

    async def tried(
        self, key: str, reason: str, *, unsure: bool = False, not_before: datetime | None = None
    ) -> None:
        until = "" if not_before is None else repr(not_before.timestamp())
        arguments: list[Argument] = [reason[:MAX_REASON], int(unsure), until]
        await self._client.run(TRIED, [self._keys.send(key)], arguments)

    async def sent(self, key: str, receipt: Receipt, message_key: str = "") -> None:
        keep = milliseconds(KEEP_RECEIPTS.total_seconds())
        now = repr(self._clock.now().timestamp())
        arguments: list[Argument] = [GROUP, receipt.message_id, keep, key, now]
        names = [self._keys.send(key)]
        if message_key:
            names.append(self._keys.answer(message_key))
        await self._client.run(SENT, names, arguments, repeatable=True)
        self._settled((key,))

    async def reply_at(self, message_key: str) -> str:
        key = await self._client.command("GET", self._keys.answer(message_key))
        return "" if key is None else key.decode()

    async def dead(self, keys: Sequence[str], reason: str) -> None:
        now = self._clock.now().timestamp()
        await self._client.run(
            DEAD,
            [self._keys.dead, *(self._keys.send(key) for key in keys)],
            [GROUP, reason[:MAX_REASON], repr(now), MAX_DEAD],
            repeatable=True,
        )
        self._settled(keys)

    async def dead_letters(self, limit: int) -> list[DeadLetter]:
        names = await self._client.command("ZREVRANGE", self._keys.dead, 0, limit - 1)
        rows = await self._client.batch([("HMGET", name, *DEAD_FIELDS) for name in names])
        return [_letter(values) for values in rows if values[0] is not None]

    async def knows(self, key: str) -> bool:
        return bool(await self._client.command("EXISTS", self._keys.send(key)))

    async def deliveries(self, turn_id: str, limit: int) -> list[SendState]:
        names = await self._client.scan(self._keys.send(f"{turn_id}:"), limit)
        rows = await self._client.batch([("HMGET", name, *DELIVERY) for name in names])
        prefix = len(self._keys.send(""))
        return [
            _delivery(name.decode()[prefix:], values)
            for name, values in zip(names, rows, strict=True)
            if values[0] is not None
        ]

    async def requeue(self, keys: Sequence[str]) -> int:
        return sum([await self._requeue(key) for key in keys])

    async def drop(self, keys: Sequence[str]) -> int:
        names = [self._keys.send(key) for key in keys]
        return sum(
            [int(await self._client.run(DROP, [self._keys.dead, name], [])) for name in names]
        )

    async def _restore(self, outbound: Outbound, *, again: bool) -> bool:
        """Queue a send again that Redis lost and this process still has. Return False for one that
        was deleted."""
        now, begun = self._clock.now().timestamp(), outbound.key if again else ""
        restored = await self._client.run(
            RESTORE,
            append_keys(self._keys, (outbound,)),
            [
                self._keys.wakeup(SENDS),
                *append_arguments((outbound,), now, begun),
                *(LOOKED_AT, GROUP, int(await self._lost())),
            ],
            repeatable=True,
        )
        if restored:
            log.warning("send_restored", platform=outbound.place.platform)
        return bool(restored)

    async def _streams(self) -> list[str]:
        accounts = await self._client.command("SMEMBERS", self._keys.accounts)
        return [self._client.key("outbox", account.decode()) for account in accounts]

    async def _requeue(self, key: str) -> bool:
        name = self._keys.send(key)
        body = await self._client.command("HGET", name, "outbound")
        if body is None:
            return False
        item = outbound_from_json(body)
        queued = await self._client.run(
            REQUEUE,
            [self._keys.dead, *append_keys(self._keys, (item,))],
            [
                self._keys.wakeup(SENDS),
                *append_arguments((item,), self._clock.now().timestamp())[:3],
            ],
        )
        return bool(queued)

    async def prune(self) -> int:
        """Delete some dead letters after `KEEP_DEAD`, and unsent entries after `KEEP_OPEN`.
        Receipts expire by themselves."""
        now = self._clock.now()
        before = repr((now - KEEP_DEAD).timestamp())
        gone = int(await self._client.run(FORGET, [self._keys.dead], [before, AT_ONCE]))
        streams = await self._streams()
        if not streams:
            return gone
        before = repr((now - KEEP_OPEN).timestamp())
        arguments: list[Argument] = [before, AT_ONCE, GROUP, self._keys.send(""), "key"]
        return gone + int(await self._client.run(FORGET_OLD, streams, arguments))


async def load_entries(
    client: RedisClient, keys: Keys, rows: Sequence[dict[bytes, bytes]], doubt: int = 0
) -> list[OutboxEntry]:
    """Return entries of a stream with the results of their attempts, without those that are
    settled, and those that another version wrote in an unreadable form. Entries up to the sequence
    number `doubt` are of an earlier state, and may have been sent after it."""
    names = [keys.send(fields[b"key"].decode()) for fields in rows]
    tries = await client.batch([("HMGET", name, *TRIES) for name in names])
    entries = []
    for fields, (state, attempts, begun, not_before) in zip(rows, tries, strict=True):
        if state in (b"sent", b"dead"):
            continue
        try:
            entry = _entry(fields, int(attempts or 0))
            until = datetime.fromtimestamp(float(not_before), UTC) if not_before else None
            requeued = begun == b"2"  # it may have arrived, and an operator queued it again
            restored = entry.seq <= doubt and not entry.outbound.replaces
            marked = {"begun": requeued or restored or begun == b"1", "requeued": requeued}
            entries.append(replace(entry, **marked, restored=restored, not_before=until))
        except (ValidationError, KeyError, ValueError):
            log.exception("send_unreadable", key=fields[b"key"].decode())
    return entries


def _entry(fields: dict[bytes, bytes], attempts: int) -> OutboxEntry:
    created = datetime.fromtimestamp(float(fields[b"at"]), UTC)
    return OutboxEntry(
        int(fields[b"seq"]), outbound_from_json(fields[b"outbound"]), attempts, created
    )


def _letter(values: Sequence[bytes | None]) -> DeadLetter:
    held = dict(zip((name.encode() for name in DEAD_FIELDS), values, strict=True))
    fields = {name: value or b"" for name, value in held.items()}
    settled = datetime.fromtimestamp(float(fields[b"settled"]), UTC)
    entry = _entry(fields, int(fields[b"attempts"]))
    return DeadLetter(entry, fields[b"reason"].decode(), settled)


def _delivery(key: str, values: Sequence[bytes | None]) -> SendState:
    state, attempts, reason, queued, settled = ((value or b"").decode() for value in values)
    kept = cast("DeliveryState", state)
    return SendState(key, kept, int(attempts or 0), reason, _time(queued), _time(settled))


def _time(seconds: str) -> datetime | None:
    return datetime.fromtimestamp(float(seconds), UTC) if seconds else None


def _account(item: Outbound) -> tuple[str, str]:
    return item.place.platform, item.place.account


def _send_keys(keys: Keys, item: Outbound) -> list[str]:
    account = _account(item)
    return [keys.send(item.key), keys.outbox(account), keys.lease(SENDS, quoted(*account))]
