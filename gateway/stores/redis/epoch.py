"""The epoch of the hot state in Redis: it shows whether Redis still has what was written to it.

An id is stored when the state begins, with a mark that increases every few seconds. The scripts
that read work compare both with what this process knows. If the id is missing or another one, or
the mark is lower, Redis was emptied, exchanged, or returned to an earlier state. A new epoch
begins then, and its loss is recorded in the database.
"""

import asyncio
import uuid
from collections.abc import Callable
from typing import Final, cast

import structlog
from msgspec import Struct

from db.errors import StoreUnavailable
from db.values import micros
from gateway.immutable import replace
from gateway.ports import Clock
from gateway.ports.losses import REPEATABLE_FOR, DataLoss, LossKind
from gateway.ports.queues import QueueDepths
from gateway.stores.hot_losses import HotLosses, KnownHotState
from gateway.stores.redis.client import RedisClient, Script
from gateway.stores.redis.keys import Keys

STALE: Final = b"stale"
"""The answer of a script to a process that knows another epoch, or a later mark."""
CURRENT: Final = """
local function is_current(key, epoch, mark)
  local held = redis.call('HMGET', key, 'id', 'mark')
  return (held[1] or '') == epoch and tonumber(held[2] or '0') >= tonumber(mark)
end
"""
"""Lua: False if Redis is not in the state that this process knows."""

# `previous` and `kind` tell processes that were not asked how the epoch began; sends up to the
# sequence number `doubt` may have been sent; `began` is in ms of Redis' clock. A new database may
# meet a state that another process has just begun.
CHECK: Final = Script.of("""
local meta, sequence = KEYS[1], KEYS[2]
local new, expected, known, server = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
local moved, used, saved = ARGV[5] == '1', ARGV[6] == '1', ARGV[7]
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local held = redis.call('HMGET', meta, 'id', 'mark', 'server', 'previous', 'kind', 'saved', 'began')
local id, mark, kind, begins = held[1], tonumber(held[2] or '0'), '', false
if not id then
  begins = true
  if expected ~= '' then kind = 'empty' end
elseif expected == '' then
  if used and now - tonumber(held[7] or '0') > 60000 then kind = 'database' end
elseif id ~= expected then
  if held[4] == expected then kind = held[5] else kind = 'replaced' end
elseif mark < known then
  kind, begins = 'older', true
elseif moved and held[3] ~= server then
  kind, begins = 'restored', true
end
local before = held[6] or ''
if begins then
  id = new
  redis.call('HSET', meta, 'id', id, 'previous', expected, 'kind', kind, 'began', now,
             'doubt', redis.call('GET', sequence) or '0')
  before = ''
elseif kind == 'replaced' then
  redis.call('HSET', meta, 'previous', expected, 'kind', kind,
             'doubt', redis.call('GET', sequence) or '0')
  before = ''
end
mark = math.max(mark, known) + 1
redis.call('HSET', meta, 'mark', mark, 'server', server, 'saved', saved)
return {id, mark, kind, redis.call('HGET', meta, 'doubt') or '0', before, now}
""")

log = structlog.get_logger(__name__)


class _EpochState(Struct, frozen=True):
    """The answer of `CHECK`. `saved` is the time of the database's latest record, in microseconds,
    as Redis knew it; 0 if unknown."""

    epoch: str
    mark: int
    kind: str
    doubt: int
    saved: int


class Epoch:
    """The epoch that this process knows. `record` is the database's side of it; without one, only a
    loss while this process runs is noticed."""

    def __init__(
        self,
        client: RedisClient,
        clock: Clock,
        record: HotLosses | None,
        waiting: Callable[[], QueueDepths | None] = lambda: None,
    ) -> None:
        """`waiting` returns the latest count of what waits. `ahead` is by how many seconds Redis'
        clock is ahead of this process's."""
        self._client = client
        self._keys = Keys(client)
        self._clock = clock
        self._record = record
        self._waiting = waiting
        self._counted = QueueDepths(0, 0, 0, 0)
        self._busy = asyncio.Lock()
        self._told: set[str] = set()
        self._saved = ""
        self._evicted = ("", 0)
        """The run of Redis, and the keys that it had evicted by then."""
        self.id = ""
        self.mark = 0
        self.doubt = 0
        self.ahead = 0.0
        self.losses: tuple[DataLoss, ...] = ()

    @property
    def key(self) -> str:
        """The key that a script compares."""
        return self._keys.epoch

    def learn(self, mark: int) -> None:
        """Record a mark that a script returned."""
        self.mark = max(self.mark, mark)

    async def check(self) -> None:
        """Compare Redis with what this process and the database know of it; begin an epoch if it
        lost its state. Raises `StoreUnavailable` if Redis does not answer."""
        async with self._busy:
            known = await self._known()
            state = await self._look(known)
            if state.kind:
                await self._begin(state, known)
            if state.epoch != self.id:
                self.mark = 0
            self.id, self.doubt = state.epoch, state.doubt
            self.learn(state.mark)
            await self._write()

    async def has_lost(self) -> bool:
        """Return True if Redis lost its state in the last days. Raises `StoreUnavailable`."""
        await self.check()
        return bool(self.losses)

    async def _known(self) -> KnownHotState | None:
        """Return what the database knows; while it is unavailable, what this process knows."""
        counted, self._saved = self._waiting(), ""
        if counted is not None:
            self._counted = counted
        if self._record is not None:
            try:
                known = await self._record.read()
            except StoreUnavailable:
                pass
            else:
                self._saved = str(micros(known.at)) if known is not None else ""
                if known is not None and known.epoch == self.id and known.mark < self.mark:
                    known = replace(known, mark=self.mark)
                return known
        if not self.id:
            return None
        waits = (self._counted.events, self._counted.sends)
        return KnownHotState(self.id, self.mark, self._clock.now(), *waits, moved=False)

    async def _look(self, known: KnownHotState | None) -> _EpochState:
        server = await self._client.command("INFO")
        run_id = str(server.get("run_id", ""))
        answer = await self._client.run(
            CHECK,
            [self._keys.epoch, self._keys.sequence],
            [
                uuid.uuid4().hex,
                known.epoch if known else self.id,
                known.mark if known else self.mark,
                run_id,
                int(known is not None and known.moved),
                int(known is None and self._record is not None and not self.id),
                self._saved,
            ],
        )
        id_, mark, kind, doubt, saved, now = answer
        self.ahead = int(now) / 1000 - self._clock.now().timestamp()
        state = _EpochState(id_.decode(), int(mark), kind.decode(), int(doubt), int(saved or 0))
        if self._has_evicted(run_id, int(server.get("evicted_keys", 0))) and not state.kind:
            return _EpochState(state.epoch, state.mark, "evicted", state.doubt, state.saved)
        if not state.kind and known is not None and await self._is_behind(known, state):
            return _EpochState(state.epoch, state.mark, "database", state.doubt, state.saved)
        return state

    def _has_evicted(self, run_id: str, count: int) -> bool:
        """Return True if Redis evicted keys since this process asked before."""
        before, self._evicted = self._evicted, (run_id, count)
        return before[0] == run_id and before[1] < count

    async def _is_behind(self, known: KnownHotState, state: _EpochState) -> bool:
        """Return True if Redis saw a later record of the database than the database has."""
        if not self._saved or self._record is None or state.saved <= micros(known.at):
            return False
        again = await self._record.read()  # another process may have written meanwhile
        return again is not None and state.saved > micros(again.at)

    async def _begin(self, state: _EpochState, known: KnownHotState | None) -> None:
        """Record a loss. Another process that notices the same one records the same id."""
        kind = cast("LossKind", state.kind)
        seen = None if known is None else known.at
        name = f"{kind}:{state.epoch}"
        if kind == "database":
            name += f":{state.saved}"
        elif kind == "evicted":  # the epoch goes on: one loss a day
            name += f":{self._clock.now():%Y-%m-%d}"
        waited = (known.events, known.sends) if known is not None else (0, 0)
        loss = DataLoss(name, kind, self._clock.now(), seen, *waited)
        if self._record is not None:
            await self._record.add(loss)
        else:
            self.losses = (loss, *self.losses)
        self._tell(loss)

    def _tell(self, loss: DataLoss) -> None:
        if loss.id not in self._told:
            self._told.add(loss.id)
            log.error(
                "hot_state_lost",
                kind=loss.kind,
                events=loss.events,
                sends=loss.sends,
                problem=loss.sentence,
            )

    async def _write(self) -> None:
        """Write to the database what is seen now, and read the losses that others noticed."""
        if self._record is None:
            return
        now = self._clock.now()
        try:
            waits = (self._counted.events, self._counted.sends)
            await self._record.write(self.id, self.mark, now, *waits)
            self.losses = await self._record.since(now - REPEATABLE_FOR)
        except StoreUnavailable as error:
            log.warning("hot_state_not_recorded", error=str(error))
