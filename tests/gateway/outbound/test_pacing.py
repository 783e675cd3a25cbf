"""Send budgets, on a clock that is moved by hand."""

import asyncio

import pytest

from gateway.outbound.pacing import Pacer
from gateway.ports import SendPace
from tests.support.clock import FakeClock
from tests.support.messages import direct, place


async def times(pacer: Pacer, clock: FakeClock, places, seconds: float) -> list[float]:  # type: ignore[no-untyped-def]
    """The time at which each of the sends was let through."""
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


async def test_chats_do_not_delay_each_other() -> None:
    clock = FakeClock()
    pacer = Pacer(SendPace(0, 1, 0), clock)
    assert await times(pacer, clock, [direct("a"), direct("b"), direct("c")], 5) == [0, 0, 0]


def most_within(seconds: float, at: list[float]) -> int:
    """The most sends in any window of that length."""
    return max(sum(begin <= moment < begin + seconds for moment in at) for begin in at)


@pytest.mark.parametrize("limit", [0.5, 1, 3, 10, 30, 50, 80])
async def test_a_platform_gets_at_most_its_limit_in_any_second(limit: float) -> None:
    clock = FakeClock()
    pacer = Pacer(SendPace(limit, 0, 0), clock)
    await clock.advance(60)
    at = await times(pacer, clock, [direct(str(n)) for n in range(int(4 * limit) + 2)], 20)
    assert most_within(1.0, at) <= max(1, limit)
    assert at[-1] - at[0] <= 4 / 0.8 + 2 / limit, "at least eight tenths of it can be used"


@pytest.mark.parametrize("limit", [1, 4, 20])
async def test_a_room_gets_at_most_its_limit_in_any_minute(limit: int) -> None:
    clock = FakeClock()
    pacer = Pacer(SendPace(0, 0, limit), clock)
    await clock.advance(3600)
    at = await times(pacer, clock, [place()] * (2 * limit + 1), 300)
    assert most_within(60.0, at) == limit


async def test_without_limits_nothing_waits() -> None:
    clock = FakeClock()
    pacer = Pacer(SendPace(), clock)
    assert await times(pacer, clock, [direct()] * 50, 0) == [0] * 50


async def test_a_rate_limit_delays_one_chat_exactly_as_stated() -> None:
    clock = FakeClock()
    pacer = Pacer(SendPace(), clock)
    pacer.penalise(direct("a"), 1800.0)
    assert pacer.penalised(direct("a"))
    assert not pacer.penalised(direct("b"))
    assert await times(pacer, clock, [direct("b"), direct("a")], 2000) == [0, 1800]


async def test_a_rate_limit_of_the_account_delays_every_chat() -> None:
    clock = FakeClock()
    pacer = Pacer(SendPace(), clock)
    pacer.penalise(direct("a"), 30.0, whole_account=True)
    assert pacer.penalised(direct("b"))
    assert not pacer.spare(direct("b"))
    assert not pacer.free(direct("b"))
    assert await times(pacer, clock, [direct("b"), direct("a")], 40) == [30, 30]


async def test_only_the_latest_chats_are_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.outbound.pacing.MAX_CHATS", 3)
    pacer = Pacer(SendPace(), FakeClock())
    for number in range(10):
        await pacer.wait(direct(str(number)))
    pacer.penalise(direct("7"), 60)
    await pacer.wait(direct("10"))
    assert len(pacer._chats) == 3
    assert pacer.penalised(direct("7"))


async def test_after_a_pause_a_room_can_have_a_limited_burst() -> None:
    clock = FakeClock()
    pacer = Pacer(SendPace(0, 0, 20), clock)
    await clock.advance(3600)
    at = await times(pacer, clock, [place()] * 8, 60)
    assert [moment - 3600 for moment in at] == [0, 0, 0, 0, 0, 3.75, 7.5, 11.25]


async def test_a_spare_slot_is_taken_only_if_free() -> None:
    clock = FakeClock()
    pacer = Pacer(SendPace(chat_per_second=1), clock)
    assert pacer.spare(place())
    assert not pacer.spare(place())
    assert clock.slept == [], "nothing waits for what may as well be left"
    await clock.advance(1)
    assert pacer.spare(place())


async def test_one_slot_of_a_burst_is_reserved_for_answers() -> None:
    clock = FakeClock()
    await clock.advance(60)
    pacer = Pacer(SendPace(room_per_minute=20), clock)
    taken = [pacer.spare(place()) for _ in range(6)]
    assert taken.count(True) == 4
    await pacer.wait(place())
    assert clock.slept == []


async def test_a_rate_limited_chat_has_no_spare_slot() -> None:
    clock = FakeClock()
    pacer = Pacer(SendPace(), clock)
    pacer.penalise(place(), 60)
    assert not pacer.spare(place())
    assert pacer.spare(place("C2"))


async def test_a_rate_limit_during_the_wait_for_a_slot_is_respected() -> None:
    clock = FakeClock()
    pacer = Pacer(SendPace(chat_per_second=1), clock)
    await pacer.wait(place())
    waiting = asyncio.create_task(pacer.wait(place()))
    await clock.advance(0.5)
    pacer.penalise(place(), 60)
    await clock.advance(59.9)
    assert not waiting.done()
    await clock.advance(0.1)
    assert waiting.done()


async def test_an_immediate_send_can_be_predicted_without_taking_a_slot() -> None:
    clock = FakeClock()
    pacer = Pacer(SendPace(chat_per_second=1), clock)
    assert [pacer.free(place()) for _ in range(2)] == [True, True]
    await pacer.wait(place())
    assert not pacer.free(place())
    assert pacer.free(place("C2"))
    await clock.advance(1)
    assert pacer.free(place())
    pacer.penalise(place(), 60)
    assert not pacer.free(place())
