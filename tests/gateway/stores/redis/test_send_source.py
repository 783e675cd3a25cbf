"""The sends of an account are in the hands of one process, oldest first."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest

from gateway.immutable import replace
from gateway.message import Receipt
from gateway.ports.queues import OutboxEntry
from gateway.stores.redis.client import Script
from gateway.stores.redis.hot_state import RedisHotState
from gateway.stores.redis.outbox import RedisOutbox
from gateway.stores.redis.sources import READ
from tests.gateway.stores.redis.conftest import Open
from tests.gateway.stores.redis.support import HELD
from tests.support.clock import FakeClock
from tests.support.messages import direct, outbound
from tests.support.waiting import eventually

MAIN, OTHER = ("test", "main"), ("test", "other")


class Sender:
    """The process that is connected to some accounts."""

    def __init__(
        self, state: RedisHotState, accounts: Sequence[tuple[str, str]], room: int
    ) -> None:
        self.state = state
        self.taken: list[OutboxEntry] = []
        self.room = room
        self.task = asyncio.create_task(
            state.sends.run(accounts, self.taken.extend, lambda: len(self.taken) < self.room)
        )

    @property
    def keys(self) -> list[str]:
        return [entry.outbound.key for entry in self.taken]

    async def end(self) -> None:
        self.task.cancel()
        await asyncio.wait((self.task,))


Connect = Callable[..., Sender]


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    connected: list[Sender] = []

    def start(state: RedisHotState, *accounts: tuple[str, str], room: int = 1000) -> Sender:
        connected.append(Sender(state, accounts, room))
        return connected[-1]

    yield start
    for sender in connected:
        await sender.end()


async def test_sends_arrive_in_order_at_the_connected_process(
    another: Open, connect: Connect
) -> None:
    main = connect(await another(lease=HELD), MAIN)
    other = connect(await another(lease=HELD), OTHER)
    worker = await another()
    for number in range(100):
        place = replace(direct(), account="main" if number % 2 else "other")
        await worker.outbox.add((outbound(f"r{number}:0", at=place),))
    await eventually(lambda: len(main.taken) == len(other.taken) == 50)
    assert main.keys == [f"r{number}:0" for number in range(1, 100, 2)]
    assert other.keys == [f"r{number}:0" for number in range(0, 100, 2)]


async def test_a_send_is_delivered_immediately(
    another: Open, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.stores.redis.sources.LONGEST_WAIT", HELD)
    monkeypatch.setattr("gateway.stores.redis.client.LONGEST_WAIT", HELD)
    monkeypatch.setattr("gateway.stores.redis.client.TIMEOUT", 2 * HELD)
    sender = connect(await another(lease=12 * HELD), MAIN)
    for number in range(30):  # by itself it would look again when the test is long over
        await sender.state.outbox.add((outbound(f"r{number}:0"),))
        await eventually(lambda: sender.keys[-1:] == [f"r{number}:0"])  # noqa: B023 - asked at once


async def test_only_one_of_two_processes_sends_for_an_account(
    another: Open, connect: Connect
) -> None:
    one = connect(await another(lease=HELD), MAIN)
    two = connect(await another(lease=HELD), MAIN)
    await one.state.outbox.add([outbound(f"r{n}:0") for n in range(50)])
    await eventually(lambda: len(one.taken) + len(two.taken) == 50)
    assert not (one.taken and two.taken)


async def test_sends_of_a_crashed_process_go_to_the_next_one(
    another: Open, connect: Connect
) -> None:
    first = connect(await another(), MAIN)
    await first.state.outbox.add([outbound(f"r{n}:0") for n in range(10)])
    await eventually(lambda: len(first.taken) == 10)
    for key in first.keys[:4]:
        await first.state.outbox.sent(key, Receipt("p1"))
    await first.state.outbox.tried("r4:0", "Transient: later")
    await first.end()
    second = connect(await another(), MAIN)
    await second.state.outbox.add((outbound("r10:0"),))
    await eventually(lambda: len(second.taken) == 7)
    assert second.keys == [f"r{n}:0" for n in range(4, 11)]
    assert [entry.attempts for entry in second.taken] == [1, *[0] * 6]


async def test_a_stopping_process_releases_its_sends_immediately(
    another: Open, connect: Connect
) -> None:
    first = connect(await another(lease=HELD), MAIN)
    await first.state.outbox.add((outbound("r0:0"),))
    await eventually(lambda: first.taken)
    second = connect(await another(lease=HELD), MAIN)
    await first.end()
    await first.state.sends.release()
    await eventually(lambda: second.keys == ["r0:0"])


async def test_it_takes_no_more_sends_than_it_has_room_for(another: Open, connect: Connect) -> None:
    sender = connect(await another(), MAIN, room=5)
    await sender.state.outbox.add([outbound(f"r{n}:0") for n in range(50)])
    await eventually(lambda: len(sender.taken) == 5)
    sender.room = 1000
    await eventually(lambda: len(sender.taken) == 50)
    assert sender.keys == [f"r{n}:0" for n in range(50)]


async def test_sends_of_an_unconnected_account_expire_after_60_days(
    redis_state: RedisHotState, clock: FakeClock
) -> None:
    state = redis_state
    await state.outbox.add([outbound("r1:0", at=replace(direct(), account="gone"))])
    await clock.advance(59 * 86_400)
    await state.outbox.add([outbound("r2:0")])
    assert await state.outbox.prune() == 0
    await clock.advance(2 * 86_400)
    assert [await state.outbox.prune() for _ in range(2)] == [1, 0]
    assert [entry.outbound.key for entry in await state.outbox.waiting(10)] == ["r2:0"]


async def test_dead_letters_are_listed_and_can_be_resent(another: Open, connect: Connect) -> None:
    sender = connect(await another(), MAIN)
    outbox = sender.state.outbox
    await outbox.add([outbound(f"r{n}:0", f"text {n}") for n in range(3)])
    await eventually(lambda: len(sender.taken) == 3)
    await outbox.tried("r1:0", "Transient: later")
    await outbox.dead(["r0:0", "r1:0"], "Permanent: gone")
    letters = {letter.entry.outbound.key: letter for letter in await outbox.dead_letters(10)}
    assert letters.keys() == {"r0:0", "r1:0"}
    assert letters["r1:0"].reason == "Permanent: gone"
    assert letters["r1:0"].entry.attempts == 1
    assert [entry.outbound.key for entry in await outbox.waiting(10)] == ["r2:0"]
    questions = await asyncio.gather(*(outbox.requeue(["r1:0"]) for _ in range(5)))
    assert sorted(questions) == [0] * 4 + [1]
    assert await outbox.requeue(["r2:0", "unknown"]) == 0
    assert await outbox.drop(["r2:0", "unknown"]) == 0
    await eventually(lambda: len(sender.taken) == 4)
    assert sender.taken[3].outbound == outbound("r1:0", "text 1")
    assert sender.taken[3].attempts == 0
    assert [letter.entry.outbound.key for letter in await outbox.dead_letters(10)] == ["r0:0"]
    assert await outbox.drop(["r0:0", "r0:0"]) == 1
    assert await outbox.dead_letters(10) == []


async def test_completed_and_dead_sends_keep_their_state(state: RedisHotState) -> None:
    await state.outbox.add((outbound("r0:0"), outbound("r1:0")))
    await state.outbox.sent("r0:0", Receipt("p1"))
    await state.outbox.dead(["r0:0", "r1:0"], "gone")
    await state.outbox.sent("r1:0", Receipt("p2"))
    await state.outbox.tried("unknown", "Transient")
    assert [letter.entry.outbound.key for letter in await state.outbox.dead_letters(10)] == ["r1:0"]
    await state.outbox.add((outbound("r0:0"),))
    assert await state.outbox.waiting(10) == []


async def test_a_suspended_process_starts_no_send_that_another_one_took_over(
    another: Open, connect: Connect
) -> None:
    first = connect(await another(), MAIN)
    await first.state.outbox.add([outbound("r0:0"), outbound("r1:0")])
    await eventually(lambda: len(first.taken) == 2)
    assert await first.state.outbox.begin(outbound("r0:0"))
    await first.end()  # it is suspended, and its lease expires
    second = connect(await another(lease=HELD), MAIN)
    await eventually(lambda: len(second.taken) == 2)
    assert [entry.begun for entry in second.taken] == [True, False]
    assert not await first.state.outbox.begin(outbound("r0:0"), again=True)
    assert not await first.state.outbox.begin(outbound("r1:0"))
    assert await second.state.outbox.begin(outbound("r0:0"), again=True)
    assert await second.state.outbox.begin(outbound("r1:0"))


async def test_a_send_that_was_begun_elsewhere_is_passed_on_again_as_begun(
    another: Open, connect: Connect
) -> None:
    sender = connect(await another(lease=HELD), MAIN)
    await sender.state.outbox.add((outbound("r0:0"),))
    await eventually(lambda: sender.taken)
    elsewhere = RedisOutbox((await another()).client, FakeClock())
    assert await elsewhere.begin(outbound("r0:0"))
    assert not await sender.state.outbox.begin(outbound("r0:0"))
    await sender.state.outbox.add((outbound("r1:0"),))
    await eventually(lambda: len(sender.taken) == 3)
    assert [(e.outbound.key, e.begun) for e in sender.taken] == [
        ("r0:0", False),
        ("r0:0", True),
        ("r1:0", False),
    ]


async def test_a_process_knows_when_it_received_what_a_killed_one_left(
    another: Open, connect: Connect
) -> None:
    first = connect(await another(), MAIN)
    assert not first.state.sends.has_passed_on(MAIN)
    await first.state.outbox.add([outbound(f"r{n}:0") for n in range(10)])
    await eventually(lambda: len(first.taken) == 10)
    await first.end()  # it is killed, and its lease expires
    second = connect(await another(lease=HELD), MAIN, room=5)
    passed_on_early = False
    while len(second.taken) < 5:
        passed_on_early |= second.state.sends.has_passed_on(MAIN)
        await asyncio.sleep(0.01)
    assert not passed_on_early
    assert not second.state.sends.has_passed_on(MAIN)
    assert not second.state.sends.has_passed_on(OTHER)
    second.room = 1000
    await eventually(lambda: second.state.sends.has_passed_on(MAIN))
    assert len(second.taken) == 10


async def test_a_process_that_has_a_lease_and_reads_nothing_yet_does_not_have_all_sends(
    another: Open, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, reads = await another(lease=HELD), asyncio.Event()
    run, begun = state.client.run, asyncio.Event()

    async def run_late(script: Script, *arguments: Any, **options: Any) -> Any:
        if script is READ:
            begun.set()
            await reads.wait()
        return await run(script, *arguments, **options)

    monkeypatch.setattr(state.client, "run", run_late)
    sender = connect(state, MAIN)
    await begun.wait()
    assert not state.sends.has_passed_on(MAIN)
    reads.set()
    await eventually(lambda: state.sends.has_passed_on(MAIN))
    assert sender.taken == []


async def test_a_process_that_loads_what_it_read_does_not_have_all_sends(
    another: Open, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = await another(lease=HELD)
    await state.outbox.add((outbound("r0:0"),))
    batch, loads, begun = state.client.batch, asyncio.Event(), asyncio.Event()

    async def load_late(*arguments: Any) -> Any:
        begun.set()
        await loads.wait()
        return await batch(*arguments)

    monkeypatch.setattr(state.client, "batch", load_late)
    sender = connect(state, MAIN)
    await begun.wait()
    assert not state.sends.has_passed_on(MAIN)
    loads.set()
    await eventually(lambda: state.sends.has_passed_on(MAIN))
    assert sender.keys == ["r0:0"]
