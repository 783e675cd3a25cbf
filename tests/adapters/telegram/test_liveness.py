"""Telegram has to answer our polls; how many people write does not matter."""

import asyncio
import contextlib

import pytest

from adapters.telegram.client import make_bot
from adapters.telegram.polling import OVERDUE_SECONDS, POLL_SECONDS, Poller
from gateway.ports import CanCheckLiveness
from simulators.telegram import TelegramSimulator
from tests.adapters.telegram.harness import connected, receiver_for
from tests.support.adapter_context import EventRecorder
from tests.support.clock import FakeClock
from tests.support.patience import PATIENCE
from tests.support.waiting import eventually


@contextlib.asynccontextmanager
async def polling(sink: EventRecorder, clock: FakeClock):  # type: ignore[no-untyped-def]  # a generator
    """A poller at work, and its simulator."""

    sim = TelegramSimulator()
    await sim.start()
    settings = sim.settings()
    bot = make_bot(str(settings["bot_token"]), str(settings["base_url"]))
    await bot.initialize()
    poller = Poller(bot, receiver_for(sink, clock), clock)
    task = asyncio.create_task(poller.run())
    await sim.wait_connected()
    try:
        yield sim, poller
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await bot.shutdown()
        await sim.stop()


async def test_a_finished_poll_is_a_proof_of_liveness() -> None:
    clock, sink = FakeClock(instant=True), EventRecorder()
    async with polling(sink, clock) as (sim, poller):
        clock.skip(POLL_SECONDS)
        assert poller.alive().ok
        assert poller.alive().seconds_since == POLL_SECONDS
        ada = sim.person("Ada")
        await sim.say(ada, sim.direct(ada), "hello")
        await sink.wait()
        await eventually(lambda: poller.alive().seconds_since == 0)


async def test_unanswered_polls_make_the_connection_unresponsive() -> None:
    clock = FakeClock(instant=True)
    async with polling(EventRecorder(), clock) as (_, poller):
        clock.skip(OVERDUE_SECONDS + 1)
        result = poller.alive()
        assert not result.ok
        assert f"for {OVERDUE_SECONDS + 1:.0f} seconds" in str(result.detail)


async def test_a_slow_store_does_not_make_the_connection_unresponsive() -> None:
    clock, open_again, arrived = FakeClock(instant=True), asyncio.Event(), asyncio.Event()

    class Slow(EventRecorder):
        async def __call__(self, event: object) -> None:
            arrived.set()
            await open_again.wait()

    sink = Slow()
    async with polling(sink, clock) as (sim, poller):
        ada = sim.person("Ada")
        await sim.say(ada, sim.direct(ada), "hello")
        await asyncio.wait_for(arrived.wait(), PATIENCE)
        clock.skip(OVERDUE_SECONDS * 3)
        assert poller.alive().ok
        open_again.set()
        await eventually(lambda: not poller._storing)


@pytest.mark.parametrize("mode", ["polling", "webhook"])
async def test_an_adapter_reports_its_liveness_while_connected(mode: str) -> None:
    async with connected(mode) as bench:
        assert isinstance(bench.adapter, CanCheckLiveness)
        assert bench.adapter.alive().ok
        await bench.adapter.disconnect()
        assert str(bench.adapter.alive().detail) == "not connected"
