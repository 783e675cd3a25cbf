"""The receive queue: order within a conversation, held conversations, retries, guarded parsing."""

import asyncio
from collections import Counter
from unittest.mock import Mock

import pytest

from adapters.shared.connection import Backoff, LivenessMonitor
from adapters.shared.receive_queue import STORE_RETRY_SECONDS, ReceiveQueue
from db.errors import StoreUnavailable
from gateway.message import InboundEvent, MessageDeleted, Place
from gateway.people import Audience
from gateway.ports import AdapterContext
from gateway.ports.work_guard import WorkItem
from gateway.text import text
from tests.support.clock import FakeClock
from tests.support.work import KnownCrashes

EVENT = MessageDeleted("1", Place("x", "main", "c", Audience.DIRECT), ("m",))


class Rig:
    """A queue whose sink fails as often as `failures` says."""

    def __init__(self) -> None:
        self.clock, self.guard = FakeClock(), KnownCrashes()
        self.counts = Counter[tuple[str, str]]()
        self.failures: list[Exception] = []
        self.stored: list[InboundEvent] = []
        self.log: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []
        state = webhooks = Mock()
        context = AdapterContext(
            "main", "Parley", self.clock, state, webhooks, self.count, guard=self.guard
        )
        self.queue = ReceiveQueue("x", context, self.sink)

    def count(self, what: str, detail: str = "") -> None:
        self.counts[what, detail] += 1

    async def sink(self, event: InboundEvent) -> None:
        if self.failures:
            raise self.failures.pop(0)
        self.stored.append(event)

    async def work(self, conversation: str, name: str, gate: asyncio.Event | None = None) -> None:
        async with self.queue.turn(conversation):
            if gate is not None:
                await gate.wait()
            self.log.append(name)

    def start(self, conversation: str, name: str, gate: asyncio.Event | None = None) -> None:
        self.tasks.append(asyncio.create_task(self.work(conversation, name, gate)))


@pytest.fixture
def rig() -> Rig:
    return Rig()


async def test_work_of_one_conversation_keeps_its_order_and_others_continue(rig: Rig) -> None:
    gate = asyncio.Event()
    rig.start("a", "a1", gate)
    rig.start("a", "a2")
    rig.start("b", "b1")
    assert await rig.queue.drain(0.05) == 2
    assert rig.log == ["b1"]
    gate.set()
    assert await rig.queue.drain(1.0) == 0
    assert rig.log == ["b1", "a1", "a2"]


async def test_failed_or_cancelled_work_lets_the_next_start(rig: Rig) -> None:
    with pytest.raises(RuntimeError):
        async with rig.queue.turn("a"):
            raise RuntimeError
    gate = asyncio.Event()
    rig.start("a", "first", gate)
    rig.start("a", "second")
    rig.start("a", "third")
    await asyncio.sleep(0)
    rig.tasks[1].cancel()
    await asyncio.sleep(0)
    rig.tasks[0].cancel()
    assert await rig.queue.drain(1.0) == 0
    assert rig.log == ["third"]


async def test_no_state_is_kept_of_a_conversation_without_work(rig: Rig) -> None:
    for number in range(100):
        async with rig.queue.turn(str(number)):
            pass
    assert not rig.queue._turns
    assert not rig.queue._running


async def test_held_conversations_wait_and_keep_their_order(rig: Rig) -> None:
    rig.queue.hold_all()
    for number in range(3):
        rig.start("a", f"a{number}")
        rig.start("b", f"b{number}")
    assert await rig.queue.drain(1.0) == 6, "held turns are not waited for"
    rig.queue.hold_only(["a"])
    await rig.queue.drain(1.0)
    assert rig.log == ["b0", "b1", "b2"]
    assert rig.queue.is_held("a")
    rig.queue.hold_all()
    rig.queue.release("a")
    await rig.queue.drain(1.0)
    assert rig.log == ["b0", "b1", "b2"], "the release of one does not end a hold of all"
    rig.queue.hold_only([])
    await rig.queue.drain(1.0)
    assert rig.log[3:] == ["a0", "a1", "a2"]


async def test_an_event_is_retried_while_the_store_is_unavailable(rig: Rig) -> None:
    rig.failures = [StoreUnavailable("down")] * 3
    stored = asyncio.create_task(rig.queue.store_with_retry(EVENT))
    await rig.clock.advance(10)
    assert await stored
    assert rig.clock.slept == [0.2, 0.4, 0.8]
    assert rig.stored == [EVENT]


async def test_an_event_is_lost_and_counted_after_the_deadline(rig: Rig) -> None:
    rig.failures = [StoreUnavailable("down")] * 1_000
    stored = asyncio.create_task(rig.queue.store_with_retry(EVENT))
    await rig.clock.advance(STORE_RETRY_SECONDS + 60)
    assert not await stored
    assert rig.counts["lost", EVENT.kind] == 1
    assert max(rig.clock.slept) == 30.0


async def test_a_faulty_event_is_counted_and_not_retried(rig: Rig) -> None:
    rig.failures = [ValueError("faulty")]
    assert await rig.queue.store_with_retry(EVENT)
    assert rig.counts["failed", EVENT.kind] == 1
    assert not rig.clock.slept


def test_deliveries_are_parsed_under_the_crash_loop_guard(rig: Rig) -> None:
    item = WorkItem("payload", "x:main:7")
    assert rig.queue.parse("7", lambda: list(rig.guard.in_work)) == [item]
    assert rig.guard.in_work == []


def test_a_quarantined_delivery_is_not_parsed(rig: Rig) -> None:
    rig.guard.weights[WorkItem("payload", "x:main:7")] = 99
    assert rig.queue.parse("7", lambda: pytest.fail("parsed")) is None
    assert rig.counts["quarantined", "x"] == 1


def test_pauses_double_and_respect_the_time_that_the_platform_states() -> None:
    backoff = Backoff(0.5, 2.0)
    assert [backoff.pause() for _ in range(4)] == [0.5, 1.0, 2.0, 2.0]
    assert backoff.pause(requested=9.0) == 9.0
    backoff.reset()
    assert backoff.pause(requested=0.1) == 0.5


async def test_a_connection_is_alive_until_a_response_is_overdue() -> None:
    clock = FakeClock()
    monitor = LivenessMonitor(text("no ping was answered for {time}"), clock.monotonic)
    await clock.advance(30)
    assert monitor.check(30.0).ok
    assert not monitor.check(30.0, connected=False).ok
    await clock.advance(1)
    overdue = monitor.check(30.0)
    assert (overdue.ok, overdue.seconds_since) == (False, 31.0)
    assert str(overdue.detail) == "no ping was answered for 31 seconds"
    monitor.answered()
    assert monitor.check(30.0).ok
