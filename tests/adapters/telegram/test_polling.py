"""The polling loop gives up when it makes no sense to go on, and never before."""

import pytest

from adapters.shared.connection import CONNECTION_DEADLINE
from adapters.telegram.client import make_bot
from adapters.telegram.polling import LONGEST_PAUSE, Poller
from adapters.telegram.receive import ordering_key
from gateway.errors import StartError
from simulators.base import Fault
from simulators.telegram import TelegramSimulator
from tests.adapters.telegram.harness import receiver_for
from tests.adapters.telegram.updates import message, samples, update
from tests.support.adapter_context import EventRecorder
from tests.support.clock import FakeClock


async def run_until_dead(
    sim: TelegramSimulator, clock: FakeClock, *, unreachable: bool = False
) -> StartError:
    bot = make_bot(sim.token, sim.url)
    await bot.initialize()

    poller = Poller(bot, receiver_for(EventRecorder(), clock), clock)
    if unreachable:
        await sim.stop()
    try:
        with pytest.raises(StartError) as caught:
            await poller.run()
    finally:
        await bot.shutdown()
    return caught.value


async def test_two_minutes_without_an_answer_end_the_connection() -> None:
    sim, clock = TelegramSimulator(), FakeClock(instant=True)
    await sim.start()
    problem = await run_until_dead(sim, clock, unreachable=True)
    assert not problem.permanent
    assert sum(clock.slept) > CONNECTION_DEADLINE
    assert max(clock.slept) <= LONGEST_PAUSE
    assert clock.slept[:3] == [0.5, 1.0, 2.0]


async def test_a_revoked_token_ends_the_connection_immediately() -> None:
    sim, clock = TelegramSimulator(), FakeClock(instant=True)
    await sim.start()
    sim.faults.add(Fault("getUpdates", "rate_limit", retry_after=45))

    original = clock.sleep

    async def revoke(seconds: float) -> None:
        await original(seconds)
        sim.server.token = "7:revoked"

    clock.sleep = revoke  # type: ignore[method-assign]
    problem = await run_until_dead(sim, clock)
    assert problem.permanent
    assert "BotFather" in problem.advice
    assert clock.slept == [45]
    await sim.stop()


def test_updates_are_ordered_by_chat_or_by_person() -> None:
    assert ordering_key(update(text="x")) == "11"
    pressed = {"id": "1", "from": {"id": 3}, "message": message("x", chat={"id": -5})}
    assert ordering_key(update("callback_query", pressed)) == "-5"
    assert ordering_key(update("inline_query", {"from": {"id": 3}})) == "3"
    assert ordering_key({"update_id": 1}) == ""
    assert all(ordering_key(one) for one in samples())
