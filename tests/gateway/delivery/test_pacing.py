"""Send budgets, on a clock that is moved by hand."""

import asyncio

import pytest

from gateway.delivery.pacing import Pacer
from gateway.ports import SendPace
from tests.support.clock import FakeClock
from tests.support.messages import direct, place


async def times(pacer: Pacer, clock: FakeClock, places, seconds: float) -> list[float]:  # type: ignore[no-untyped-def]
    """When each of the sends was let through."""
    at: list[float] = []

    async def one(where) -> None:  # type: ignore[no-untyped-def]
        await pacer.wait(where)
        at.append(round(clock.monotonic(), 3))

    tasks = [asyncio.create_task(one(where)) for where in places]
    await clock.advance(seconds)
    await asyncio.gather(*tasks)
    return at


async def test_one_chat_gets_one_message_a_second() -> None:
    clock = FakeClock()
    pacer = Pacer(SendPace(30, 1, 0), clock)
    assert await times(pacer, clock, [direct()] * 3, 5) == [0, 1, 2]


async def test_chats_do_not_wait_for_each_other() -> None:
    clock = FakeClock()
    pacer = Pacer(SendPace(0, 1, 0), clock)
    assert await times(pacer, clock, [direct("a"), direct("b"), direct("c")], 5) == [0, 0, 0]


async def test_the_platform_as_a_whole_has_a_limit() -> None:
    clock = FakeClock()
    pacer = Pacer(SendPace(10, 0, 0), clock)
    at = await times(pacer, clock, [direct(str(n)) for n in range(25)], 10)
    for start in range(len(at) - 15):
        assert at[start + 15] - at[start] >= 1.0, "more than 10 a second and a burst of 5"


async def test_a_room_gets_twenty_a_minute() -> None:
    clock = FakeClock()
    pacer = Pacer(SendPace(0, 0, 20), clock)
    at = await times(pacer, clock, [place()] * 30, 120)
    assert sum(moment < 60 for moment in at) <= 20 + 5
    assert at[-1] >= 60


async def test_no_limits_no_waiting() -> None:
    clock = FakeClock()
    pacer = Pacer(SendPace(), clock)
    assert await times(pacer, clock, [direct()] * 50, 0) == [0] * 50


async def test_a_penalty_is_waited_for_exactly_and_binds_one_chat() -> None:
    clock = FakeClock()
    pacer = Pacer(SendPace(), clock)
    pacer.penalise(direct("a"), 1800.0)
    assert pacer.penalised(direct("a"))
    assert not pacer.penalised(direct("b"))
    assert await times(pacer, clock, [direct("b"), direct("a")], 2000) == [0, 1800]


async def test_only_the_latest_chats_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.delivery.pacing.MAX_CHATS", 3)
    pacer = Pacer(SendPace(), FakeClock())
    for number in range(10):
        await pacer.wait(direct(str(number)))
    pacer.penalise(direct("7"), 60)
    await pacer.wait(direct("10"))
    assert len(pacer._chats) == 3
    assert pacer.penalised(direct("7"))


async def test_after_a_pause_a_room_may_have_a_burst_and_no_more() -> None:
    clock = FakeClock()
    pacer = Pacer(SendPace(0, 0, 20), clock)
    await clock.advance(3600)
    at = await times(pacer, clock, [place()] * 8, 60)
    assert [moment - 3600 for moment in at] == [0, 0, 0, 0, 0, 3, 6, 9]
