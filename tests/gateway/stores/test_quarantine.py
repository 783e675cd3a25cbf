"""Quarantined work: the list on both databases, and the counts on both stores."""

from datetime import timedelta

import pytest

from db.sqlite import SqliteDatabase
from gateway.immutable import replace
from gateway.inbound.crash_loop_guard import (
    CRASHES,
    KEEP,
    KILLED,
    MAX_LISTED,
    MAX_WEIGHT,
    NAMED,
    CrashCounts,
    Quarantine,
)
from gateway.inbound.work_record import Crash, WorkRecord
from gateway.ports.adapter import AdapterStates
from gateway.ports.work_guard import Quarantined, WorkItem, WorkOwner
from gateway.stores.quarantine import QuarantineStore
from tests.support.clock import FakeClock
from tests.support.databases import Engine

DAY = timedelta(days=1)
ADA = WorkOwner("tenant", "telegram:main:7", "telegram:main:C1")
POISON, CHORE = WorkItem("waiting_turn", "t1"), WorkItem("chore", "memories")


@pytest.fixture
def store(engine: Engine) -> QuarantineStore:
    return QuarantineStore(engine)


def entry(number: int, clock: FakeClock) -> Quarantined:
    at = clock.now() + timedelta(seconds=number)
    return Quarantined("message", f"m{number}", ADA, MAX_WEIGHT, at)


async def test_entries_are_listed_newest_first_and_once(
    store: QuarantineStore, clock: FakeClock
) -> None:
    first, second = entry(1, clock), entry(2, clock)
    for one in (first, second, replace(first, weight=99)):
        await store.add(one)
    assert await store.listed(10) == [second, first]
    assert await store.listed(1) == [second]
    assert await store.remove("message", "m1", discard=False)
    assert not await store.remove("message", "m1", discard=True)
    assert not await store.remove("chore", "m2", discard=True)
    assert await store.listed(10) == [second]


async def test_entries_expire_by_age_and_by_number(
    store: QuarantineStore, clock: FakeClock
) -> None:
    now = clock.now()
    for number in range(5):
        await store.add(entry(number, clock))
    await store.add(Quarantined("chore", "memories", WorkOwner(), 8, now))
    assert await store.prune(now - DAY, now - DAY, ("chore",), 100) == 0
    assert await store.prune(now - DAY, now + DAY, ("chore",), 100) == 1
    assert await store.prune(now - DAY, now - DAY, ("chore",), 3) == 2
    assert [one.id for one in await store.listed(10)] == ["m4", "m3", "m2"]
    assert await store.prune(now + DAY, now - DAY, ("chore",), 3) == 3


async def test_any_text_can_be_an_id(store: QuarantineStore, clock: FakeClock) -> None:
    odd = replace(entry(1, clock), id="a\u0000b'\"\U0001f600", owner=WorkOwner("t\u0000", "p", "q"))
    await store.add(odd)
    (result,) = await store.listed(10)
    assert await store.remove("message", result.id, discard=True)


async def test_counts_accumulate_and_quarantined_work_stays_quarantined(
    states: AdapterStates,
) -> None:
    crashes = CrashCounts(states.of(*CRASHES))
    assert [await crashes.add(POISON, KILLED), await crashes.add(POISON, NAMED)] == [1, 5]
    assert await crashes.of(CHORE) == 0
    assert [await crashes.begin_giving_up(POISON) for _ in range(2)] == [True, False]
    assert await crashes.add(POISON, NAMED) == MAX_WEIGHT == await crashes.of(POISON)
    assert not await crashes.begin_giving_up(POISON)


class World:
    """One process after the other, with the crashes that each left."""

    def __init__(self, states: AdapterStates, store: QuarantineStore, clock: FakeClock) -> None:
        self.crashes = CrashCounts(states.of(*CRASHES))
        self.store = store
        self.clock = clock
        self.counted: list[str] = []

    async def start(self, *left: Crash) -> Quarantine:
        guard = Quarantine(
            self.crashes,
            self.store,
            self.clock,
            lambda what, detail: self.counted.append(f"{what}:{detail}"),
            WorkRecord(),
            left,
        )
        await guard.start()
        return guard


@pytest.fixture
def world(states: AdapterStates, sqlite: SqliteDatabase, clock: FakeClock) -> World:
    return World(states, QuarantineStore(sqlite), clock)


@pytest.mark.parametrize("kind", ["chore", "heartbeat", "embedding", "payload"])
async def test_two_hangs_by_name_quarantine_only_the_named_work(world: World, kind: str) -> None:
    poison = WorkItem(kind, "x")  # type: ignore[arg-type] # one of the kinds
    beside = WorkItem("chore", "innocent")
    hang = Crash((poison, beside), (poison,), hung=True, stack="File x")
    guard = await world.start(hang)
    assert (guard.exhausted(poison), guard.crash_weight(poison)) == (False, NAMED)
    guard = await world.start(hang)
    assert guard.exhausted(poison)
    assert not guard.exhausted(beside)
    assert guard.crash_weight(beside) == 0
    assert [one.id for one in await world.store.listed(10)] == ["x"]
    assert world.counted == [f"quarantined:{kind}"]
    assert (await world.start()).exhausted(poison), "the list is read at every start"


async def test_three_hangs_without_a_name_quarantine_work_present_at_each(
    world: World,
) -> None:
    poison, beside = WorkItem("chore", "x"), [WorkItem("heartbeat", str(n)) for n in range(3)]
    for number in range(3):
        guard = await world.start(Crash((poison, beside[number]), hung=True, stack="File x"))
    assert guard.exhausted(poison)
    assert not any(guard.exhausted(item) for item in beside)


async def test_kills_from_outside_quarantine_only_work_present_at_all_of_them(
    world: World,
) -> None:
    innocent = WorkItem("chore", "x")
    for _ in range(MAX_WEIGHT - 1):
        guard = await world.start(Crash((innocent, WorkItem("message", "m"))))
        assert not guard.exhausted(innocent)
        assert guard.crash_weight(WorkItem("message", "m")) == 0, "counted where it is taken up"


@pytest.mark.parametrize("kind", ["send", "payload", "message"])
async def test_kills_from_outside_do_not_count_for_waiting_work(world: World, kind: str) -> None:
    item = WorkItem(kind, "x")  # type: ignore[arg-type] # one of the kinds
    for _ in range(3 * MAX_WEIGHT):
        guard = await world.start(Crash((item,)))
    assert (guard.crash_weight(item), guard.exhausted(item)) == (0, False)


async def test_recurring_work_is_retried_after_a_day(world: World) -> None:
    hang = Crash((CHORE,), (CHORE,), hung=True, stack="File x")
    await world.start(hang)
    guard = await world.start(hang)
    await world.clock.advance(DAY.total_seconds() + 1)
    assert await guard.refresh() == 1
    assert not guard.exhausted(CHORE)
    guard = await world.start(hang)
    assert guard.exhausted(CHORE), "one more crash is enough then"
    await world.clock.advance(KEEP.total_seconds())
    assert await guard.refresh() == 1


async def test_an_operators_retry_reaches_a_running_program(world: World) -> None:
    hang = Crash((CHORE,), (CHORE,), hung=True, stack="File x")
    await world.start(hang)
    guard = await world.start(hang)
    assert guard.quarantined == 1
    await world.store.remove("chore", "memories", discard=False)
    await world.crashes.put(CHORE, 0)
    await guard.refresh()
    assert (guard.quarantined, guard.exhausted(CHORE)) == (0, False)


async def test_the_list_is_limited(world: World) -> None:
    guard = await world.start()
    for number in range(MAX_LISTED + 3):
        await guard.quarantine(WorkItem("payload", str(number)))
    assert await guard.refresh() == 3
    assert guard.quarantined == MAX_LISTED
