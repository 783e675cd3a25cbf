"""Work that repeatedly crashes the process is quarantined, and other work in progress is answered.
The same on both stores, because the counts must outlive the process.
"""

import asyncio
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from gateway.inbound.crash_loop_guard import (
    CRASHES,
    MAX_REDELIVERIES,
    NAMED,
    CrashCounts,
    CrashLoopGuard,
    OneByOne,
)
from gateway.observe.correlation import correlation_id
from gateway.ports import AdapterState
from gateway.ports.adapter import AdapterStates
from gateway.ports.queues import Inbox, InboxEntry
from gateway.ports.work_guard import UNGUARDED, WorkItem, WorkOwner
from gateway.store_retry import StoreRetry
from tests.support.clock import FakeClock
from tests.support.messages import conversation, received
from tests.support.patience import PATIENCE
from tests.support.work import KnownCrashes

DAY = timedelta(days=1)
SHORT, LONG = 0.1, 20.0


@dataclass
class Mortal:
    """The state as a process sees it: after its crash it writes nothing more."""

    state: AdapterState
    dead: bool = False

    async def get(self, key: str) -> str | None:
        return await self.state.get(key)

    async def put(self, key: str, value: str, ttl: timedelta) -> None:
        if not self.dead:
            await self.state.put(key, value, ttl)


@dataclass
class World:
    """Processes one after the other, and what each event went through in all of them."""

    inbox: Inbox
    states: AdapterStates
    clock: FakeClock
    deadly: Collection[str] = ()
    deadly_to_say: bool = False
    begun: Counter[str] = field(default_factory=Counter)
    given_up: list[str] = field(default_factory=list)

    async def accept(self, *ids: str) -> None:
        for id_ in ids:
            await self.inbox.add(
                InboxEntry(id_, conversation(id_), received(), self.clock.now()), DAY
            )

    async def process(self, *, stop: bool = False) -> bool:
        """One life: everything that waits is begun at once, and finished only when nothing of it is
        deadly. False when it died. With `stop` it is told to end in the middle of the work."""
        mortal, died = Mortal(self.states.of(*CRASHES)), asyncio.Event()

        async def work(entries: Sequence[InboxEntry]) -> None:
            self.begun.update(entry.id for entry in entries)
            if any(entry.id in self.deadly for entry in entries):
                mortal.dead = True
                died.set()
            await asyncio.sleep(0.05)
            if stop or mortal.dead:
                await asyncio.Event().wait()
            await self.inbox.finish([entry.id for entry in entries], ())

        async def give_up(entry: InboxEntry) -> None:
            self.given_up.append(entry.id)
            if self.deadly_to_say:
                mortal.dead = True
                died.set()
                await asyncio.Event().wait()
            await self.inbox.finish([entry.id], ())

        patience = StoreRetry(self.clock)
        crash_loop = CrashLoopGuard(
            CrashCounts(mortal), UNGUARDED, self.inbox, patience, lambda _: True, give_up
        )
        waiting = await self.inbox.unfinished(100)
        tasks = [asyncio.create_task(crash_loop.run([entry], work)) for entry in waiting]
        until = asyncio.get_running_loop().time() + (SHORT if stop else LONG)
        while not (died.is_set() or all(task.done() for task in tasks)):
            if asyncio.get_running_loop().time() > until:
                break
            await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return not mortal.dead


@pytest.fixture
def world(inbox: Inbox, states: AdapterStates, clock: FakeClock) -> World:
    return World(inbox, states, clock)


async def test_an_event_that_crashes_every_process_is_quarantined(world: World) -> None:
    world.deadly = {"deadly"}
    await world.accept("deadly")
    assert [await world.process() for _ in range(MAX_REDELIVERIES)] == [False] * MAX_REDELIVERIES
    assert world.given_up == []
    assert await world.process()
    assert (world.given_up, world.begun["deadly"]) == (["deadly"], MAX_REDELIVERIES)
    assert await world.inbox.unfinished(10) == []


async def test_other_events_in_progress_are_answered(world: World) -> None:
    world.deadly = {"m7"}
    await world.accept(*(f"m{number}" for number in range(16)))
    lives = 1
    while not await world.process():
        lives += 1
        assert lives < 20
    assert world.given_up == ["m7"]
    assert await world.inbox.unfinished(100) == []


async def test_two_crashing_events_are_both_quarantined(world: World) -> None:
    world.deadly = {"m3", "m9"}
    await world.accept(*(f"m{number}" for number in range(12)))
    lives = 1
    while not await world.process():
        lives += 1
        assert lives < 30
    assert sorted(world.given_up) == ["m3", "m9"]


async def test_repeated_kills_from_outside_quarantine_nothing(world: World) -> None:
    ids = [f"m{number}" for number in range(12)]
    await world.accept(*ids)
    world.deadly = ids  # the kill from outside hits the work that starts first
    assert [await world.process() for _ in range(20)] == [False] * 20
    world.deadly = ()
    assert await world.process()
    assert world.given_up == []
    assert await world.inbox.unfinished(100) == []


async def test_a_crash_while_quarantining_is_not_repeated(world: World) -> None:
    world.deadly, world.deadly_to_say = {"deadly"}, True
    await world.accept("deadly")
    lives = [await world.process() for _ in range(MAX_REDELIVERIES + 2)]
    assert lives == [False] * (MAX_REDELIVERIES + 1) + [True]
    assert world.given_up == ["deadly"]
    assert await world.inbox.unfinished(10) == []


async def test_a_normal_end_is_not_a_crash(world: World) -> None:
    await world.accept("long")
    for _ in range(MAX_REDELIVERIES + 2):
        assert await world.process(stop=True)
    assert await world.process()
    assert world.given_up == []
    assert await world.inbox.unfinished(10) == []


async def test_turns_run_one_by_one_in_order_also_after_a_cancellation() -> None:
    turns, order = OneByOne(), list[str]()

    async def work(name: str, rank: int) -> None:
        async with turns.turn(rank):
            order.append(name)
            await asyncio.sleep(0)

    named = {"late": 3, "first": 1, "gone": 1, "second": 2}
    tasks = {name: asyncio.create_task(work(name, rank)) for name, rank in named.items()}
    await asyncio.sleep(0)
    tasks.pop("gone").cancel()
    await asyncio.gather(*tasks.values())
    await asyncio.wait_for(work("later", 9), PATIENCE)
    assert order == ["first", "second", "late", "later"]


async def test_a_cancelled_turn_lets_the_next_one_run() -> None:
    turns, inside = OneByOne(), asyncio.Event()

    async def work() -> None:
        async with turns.turn(0):
            inside.set()
            await asyncio.Event().wait()

    hanging = asyncio.create_task(work())
    await asyncio.wait_for(inside.wait(), PATIENCE)
    hanging.cancel()
    async with asyncio.timeout(PATIENCE), turns.turn(0):
        pass


async def test_two_hangs_by_name_quarantine_an_event_without_another_attempt(
    world: World,
) -> None:
    crashes = CrashCounts(world.states.of(*CRASHES))
    poison = WorkItem("message", correlation_id("poison"))
    await world.accept("poison", "beside")
    for _ in range(2):
        await crashes.add(poison, NAMED)
    assert await world.process()
    assert world.given_up == ["poison"]
    assert world.begun == {"beside": 1}


async def test_events_of_one_turn_are_separated_after_a_hang(world: World) -> None:
    state = world.states.of(*CRASHES)
    crashes, guard = CrashCounts(state), KnownCrashes()
    turns: list[list[str]] = []

    async def work(entries: Sequence[InboxEntry]) -> None:
        turns.append([entry.id for entry in entries])

    async def give_up(_: InboxEntry) -> None:
        turns.append(["nothing"])

    await world.accept("a", "b", "c")
    entries = sorted(await world.inbox.unfinished(10), key=lambda entry: entry.id)
    crash_loop = CrashLoopGuard(
        crashes, guard, world.inbox, StoreRetry(world.clock), lambda _: True, give_up
    )
    await crash_loop.run(entries, work)
    assert turns == [["a", "b", "c"]]
    await crashes.put(WorkItem("message", correlation_id("b")), NAMED)
    await crash_loop.run(entries, work)
    assert turns[1:] == [["a"], ["b"], ["c"]]
    assert [len(items) for items in guard.marked] == [3, 1, 1, 1]


async def test_the_quarantine_records_the_person_and_the_tenant(world: World) -> None:
    crashes, guard = CrashCounts(world.states.of(*CRASHES)), KnownCrashes()
    event = received()
    entry = InboxEntry("x", conversation("x", "tenant"), event, world.clock.now())
    await world.inbox.add(entry, DAY)
    item = WorkItem("message", correlation_id("x"))
    await crashes.put(item, MAX_REDELIVERIES)

    async def nothing(_: object) -> None:
        """Neither worked on nor told."""

    crash_loop = CrashLoopGuard(
        crashes, guard, world.inbox, StoreRetry(world.clock), lambda _: True, nothing
    )
    await crash_loop.run([entry], nothing)
    assert guard.quarantined == {item: WorkOwner("tenant", "test:main:ada", "test:main:dm-ada")}
