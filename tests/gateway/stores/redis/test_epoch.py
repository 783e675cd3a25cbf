"""Redis comes back empty, as another one, or in an earlier state: what is noticed, and what becomes
of answers that processes still hold."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta

import pytest

from db import Statement
from gateway.conversation import ConversationKey
from gateway.message import Receipt, send_key
from gateway.observe.correlation import correlation_id
from gateway.outbound.live.final import announced
from gateway.ports.losses import LossKind
from gateway.ports.queues import Finished, InboxEntry, OutboxEntry
from gateway.ports.traces import Trace
from gateway.ports.unit_of_work import ERASED_TURNS, CompletedTurn
from gateway.stores.hot_losses import HotLosses
from gateway.stores.redis.hot_state import RedisHotState
from gateway.stores.redis.partition_leases import StreamLeases
from gateway.stores.unit_of_work import Doubts, LongLivedTurns, TwoStepUnitOfWork
from gateway.text import ENGLISH
from tests.gateway.stores.redis.support import LEASE, all_keys, clean, new_prefix
from tests.support.clock import FakeClock
from tests.support.databases import Engine
from tests.support.messages import AT, outbound, received
from tests.support.patience import PATIENCE
from tests.support.waiting import eventually

pytestmark = pytest.mark.xdist_group("redis")
KEY = ConversationKey("t", "test", "main", "", "C1")
EVENT = "test:main:message:m1"
ID = correlation_id(EVENT)
DAY = timedelta(days=1)
MINUTE, HOUR = 60.0, 3_600.0


@asynccontextmanager
async def opened(
    redis: str, prefix: str, clock: FakeClock, engine: Engine
) -> AsyncIterator[RedisHotState]:
    """One process's view of the hot state, with the database's record of it."""
    state = RedisHotState(redis, clock, prefix=prefix, lease=LEASE, record=HotLosses(engine))
    await state.client.start()
    await state.epoch.check()
    try:
        yield state
    finally:
        await state.client.stop()


class Installation:
    """Opens processes of one installation, and plays faults on its keys in Redis."""

    def __init__(self, redis: str, clock: FakeClock, engine: Engine, stack: AsyncExitStack) -> None:
        self._redis, self._clock, self._engine, self._stack = redis, clock, engine, stack
        self._prefix = new_prefix()

    async def process(self) -> RedisHotState:
        """Start one more process."""
        state = opened(self._redis, self._prefix, self._clock, self._engine)
        return await self._stack.enter_async_context(state)

    async def emptied(self, state: RedisHotState) -> None:
        """Delete everything, as FLUSHALL does."""
        await clean(state.client)

    async def copied(self, state: RedisHotState) -> dict[str, bytes]:
        """Return a copy of everything."""
        keys = await all_keys(state.client)
        dumps = await state.client.batch([("DUMP", key) for key in keys])
        return dict(zip(keys, dumps, strict=True))

    async def restored(self, state: RedisHotState, copy: dict[str, bytes]) -> None:
        """Return to the state of a copy."""
        await clean(state.client)
        await state.client.batch([("RESTORE", key, 0, dump) for key, dump in copy.items()])

    def unit(self, state: RedisHotState) -> TwoStepUnitOfWork:
        """The completion of turns in a process."""
        doubts = Doubts(
            self._clock,
            lambda: state.epoch.losses,
            lambda: state.epoch.id,
            HotLosses(self._engine).answered,
        )
        erased = state.states.of(*ERASED_TURNS)
        return TwoStepUnitOfWork(LongLivedTurns(self._engine), state.inbox, erased, doubts)


@pytest.fixture
async def installation(redis: str, clock: FakeClock, engine: Engine) -> AsyncIterator[Installation]:
    async with AsyncExitStack() as stack:
        made = Installation(redis, clock, engine, stack)
        yield made
        await clean((await made.process()).client)


def done(attempt: str = "first") -> CompletedTurn:
    """A turn that answers `EVENT`."""
    trace = Trace(ID, "m1", "test", "main", str(KEY), "message", AT, (), "answered", 1.0)
    send = outbound(send_key(ID, 0))
    note = announced(send, ID, ENGLISH)
    return CompletedTurn(
        KEY, (), (), (), trace, (EVENT,), (send,), attempt=attempt, repeat_note=note
    )


async def accept(state: RedisHotState) -> None:
    await state.inbox.add(InboxEntry(EVENT, str(KEY), received(message_id="m1"), AT), DAY)


async def waiting(state: RedisHotState) -> list[str]:
    """The keys of the queued sends, in their order."""
    return [entry.outbound.key for entry in await state.outbox.waiting(100)]


def kinds(state: RedisHotState) -> list[LossKind]:
    return [loss.kind for loss in state.epoch.losses]


async def test_processes_that_start_together_agree_on_the_first_state(
    installation: Installation,
) -> None:
    first, second = await installation.process(), await installation.process()
    assert first.epoch.id == second.epoch.id != ""
    for state in (first, second, first):
        await state.epoch.check()
        assert kinds(state) == []


async def test_an_answer_whose_event_redis_lost_is_sent_without_a_note(
    installation: Installation,
) -> None:
    state = await installation.process()
    await accept(state)
    await installation.emptied(state)
    assert await installation.unit(state).complete(done())
    assert await waiting(state) == [send_key(ID, 0)]
    await installation.unit(state).complete(done("another attempt"))
    assert await waiting(state) == [send_key(ID, 0)]


async def test_an_answer_that_another_attempt_may_have_sent_has_a_note(
    installation: Installation,
) -> None:
    state = await installation.process()
    await accept(state)
    assert await installation.unit(state).complete(done())
    await installation.emptied(state)
    assert await installation.unit(state).complete(done("another attempt"))
    note, answer = await waiting(state)
    assert answer == send_key(ID, 0)
    assert note != answer


async def test_an_answer_whose_event_expired_long_after_another_answer_is_not_sent(
    installation: Installation, clock: FakeClock
) -> None:
    """As after a process that stood still for hours: no state was lost."""
    state = await installation.process()
    await accept(state)
    unit = installation.unit(state)
    assert await unit.complete(done())
    await state.outbox.sent(send_key(ID, 0), Receipt("p1"))
    await state.client.command("DEL", *[k for k in await all_keys(state.client) if EVENT in k])
    clock.skip(2 * HOUR)
    assert not await unit.complete(done("another attempt"))
    assert await waiting(state) == []


async def test_an_empty_redis_is_noticed_once_by_all_processes(
    installation: Installation,
) -> None:
    first, second = await installation.process(), await installation.process()
    before = first.epoch.id
    await installation.emptied(first)
    for state in (first, second, first):
        await state.epoch.check()
    assert first.epoch.id == second.epoch.id != before
    assert kinds(first) == kinds(second) == ["empty"]
    assert "appendonly" in first.epoch.losses[0].sentence


async def test_an_empty_redis_is_noticed_by_the_next_start(installation: Installation) -> None:
    first = await installation.process()
    await installation.emptied(first)
    assert kinds(await installation.process()) == ["empty"]


async def test_another_redis_is_noticed(installation: Installation) -> None:
    first = await installation.process()
    await first.client.command("HSET", first.epoch.key, "id", "of another installation")
    assert kinds(await installation.process()) == ["replaced"]
    await first.epoch.check()
    assert kinds(first) == ["replaced"]


async def test_an_earlier_state_is_noticed_and_begins_an_epoch(
    installation: Installation,
) -> None:
    """A copy that was restored, or a replica that was behind."""
    first = await installation.process()
    copy, before = await installation.copied(first), first.epoch.id
    await first.epoch.check()
    await installation.restored(first, copy)
    second = await installation.process()
    assert kinds(second) == ["older"]
    assert second.epoch.id != before


async def test_work_of_an_earlier_state_is_read_only_after_the_loss_is_known(
    installation: Installation,
) -> None:
    """Its events may be answered already, and its sends sent: both then get a note."""
    state = await installation.process()
    await accept(state)
    await state.outbox.add((outbound("sent:0"),))
    await state.epoch.check()
    copy = await installation.copied(state)
    unit = installation.unit(state)
    assert await unit.complete(done())
    await state.outbox.sent("sent:0", Receipt("p1"))
    await state.epoch.check()
    await installation.restored(state, copy)
    leases = StreamLeases(
        state.client, "work", state.worker, ["0"], state.epoch, seconds=LEASE, shared=True
    )
    await leases.renew()
    assert kinds(state) == ["older"]
    assert await unit.may_repeat(ID, AT)
    assert state.epoch.doubt >= 1


async def test_a_send_that_redis_lost_is_sent_all_the_same(installation: Installation) -> None:
    state = await installation.process()
    send = outbound("held:0")
    await state.outbox.add((send,))
    await installation.emptied(state)
    assert await state.outbox.begin(send)
    assert await waiting(state) == ["held:0"]
    await state.outbox.sent("held:0", Receipt("p1"))
    assert await waiting(state) == []
    (delivery,) = await state.outbox.deliveries("held", 10)
    assert delivery.state == "sent"


async def test_a_send_whose_state_alone_was_lost_is_sent_once(installation: Installation) -> None:
    state = await installation.process()
    send = outbound("held:0")
    await state.outbox.add((send,))
    await state.client.command("DEL", *[k for k in await all_keys(state.client) if "held" in k])
    assert await state.outbox.begin(send)
    assert await waiting(state) == ["held:0"]
    await state.outbox.sent("held:0", Receipt("p1"))
    assert await waiting(state) == []


async def test_a_redis_that_has_seen_a_later_database_is_noticed(
    installation: Installation, clock: FakeClock, engine: Engine
) -> None:
    state = await installation.process()
    await clock.advance(MINUTE)
    await state.epoch.check()
    await clock.advance(MINUTE)
    await state.epoch.check()
    await engine.change(Statement("UPDATE hot_state SET at = at - 100000000"))
    other = await installation.process()
    assert kinds(other) == ["database"]
    await other.epoch.check()
    assert kinds(other) == ["database"]


async def test_unknown_events_are_told_from_finished_ones(installation: Installation) -> None:
    state = await installation.process()
    assert await state.inbox.finish((EVENT,), ()) is Finished.UNKNOWN
    await accept(state)
    assert await state.inbox.finish((EVENT,), ()) is Finished.HERE
    assert await state.inbox.finish((EVENT,), ()) is Finished.ELSEWHERE


async def test_a_restored_database_and_a_restored_redis_make_waiting_work_doubtful(
    installation: Installation, engine: Engine
) -> None:
    """`pg_restore` creates the tables anew, and Redis was started again."""
    state = await installation.process()
    await accept(state)
    await state.outbox.add((outbound("waits:0"),))
    await engine.change(Statement("UPDATE hot_state SET home = 'of another database'"))
    await state.client.command("HSET", state.epoch.key, "server", "an earlier run")
    after = await installation.process()
    assert kinds(after) == ["restored"]
    assert await installation.unit(after).may_repeat(ID, AT)
    taken: list[OutboxEntry] = []
    reading = asyncio.create_task(after.sends.run([("test", "main")], taken.extend, lambda: True))
    await eventually(lambda: bool(taken), PATIENCE)
    reading.cancel()
    assert taken[0].restored
    assert taken[0].begun


async def test_a_restored_database_beside_a_redis_that_ran_on_makes_nothing_doubtful(
    installation: Installation, engine: Engine
) -> None:
    state = await installation.process()
    await accept(state)
    await engine.change(Statement("UPDATE hot_state SET home = 'of another database'"))
    after = await installation.process()
    assert kinds(after) == []
    assert not await installation.unit(after).may_repeat(ID, AT)
