"""A stop, or the end of the program, at the worst of moments."""

import asyncio

import pytest

from gateway.message import CommandInvoked, MessageAuthor
from gateway.policy.rate_limits import COMMANDS_PER_MINUTE, RateLimits
from gateway.ports.unit_of_work import CompletedTurn
from gateway.turn.services import Policies
from tests.support.gateway import Gateway, gateway
from tests.support.messages import direct, received

STOP = CommandInvoked("stop", direct(), MessageAuthor("ada", "Ada"), "stop")


class Holding:
    """A unit of work that keeps its word late: what it was given is stored once `open` is set."""

    def __init__(self, g: Gateway, patch: pytest.MonkeyPatch) -> None:
        self.open, self.asked = asyncio.Event(), asyncio.Event()
        unit = g.services.stores.unit_of_work
        complete = unit.complete

        async def late(done: CompletedTurn) -> bool:
            if done.outbound and not self.asked.is_set():
                self.asked.set()
                await self.open.wait()
            return await complete(done)

        patch.setattr(unit, "complete", late)


async def test_a_stop_during_the_save_has_no_effect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with gateway() as g:
        holding = Holding(g, monkeypatch)
        await g.take(received("hello", message_id="m1"))
        await g.take(STOP)
        holding.open.set()
        await g.rest()
        assert sorted(g.texts) == ["Stopped.", "answer"]
        assert sorted(g.outcomes()) == ["answered", "answered"]
        assert await g.services.stores.outbox.waiting(10) == []
        assert await g.services.stores.inbox.unfinished(10) == []


async def test_a_shutdown_during_the_save_leaves_it_complete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with gateway() as g:
        holding = Holding(g, monkeypatch)
        await g.take(received("hello"))
        ending = asyncio.create_task(g.dispatcher.stop())
        await g.rest()
        assert not ending.done()
        holding.open.set()
        await ending
        assert await g.rows("turns") == 2
        assert await g.services.stores.inbox.unfinished(10) == []


async def test_a_person_over_the_limit_can_still_stop_a_turn() -> None:
    async with gateway(
        policies=Policies(
            limits=RateLimits(user_per_minute=1, channel_per_minute=20, workspace_per_minute=100)
        )
    ) as g:
        g.model.open.clear()
        await g.take(received("a long story"))
        await g.take(STOP)
        assert g.texts == ["Stopped."]
        assert g.outcomes().count("dropped") == 1


async def test_a_stop_without_a_turn_counts_towards_the_limit_of_commands() -> None:
    async with gateway(
        policies=Policies(
            limits=RateLimits(user_per_minute=1, channel_per_minute=20, workspace_per_minute=100)
        )
    ) as g:
        stops = [
            CommandInvoked(f"stop{n}", direct(), MessageAuthor("ada", "Ada"), "stop")
            for n in range(COMMANDS_PER_MINUTE + 2)
        ]
        await g.take(*stops)
        assert g.texts == [
            *["There is nothing to stop."] * COMMANDS_PER_MINUTE,
            "That was too much in a short time. Please ask again in 3 seconds.",
        ]


async def test_the_trace_of_a_stopped_turn_names_the_stop() -> None:
    async with gateway() as g:
        g.model.open.clear()
        await g.take(received("a long story", message_id="m1"))
        await g.take(STOP)
        traces = await g.services.stores.traces.find("m1")
        assert [(t.outcome, t.decisions[-1].reason) for t in traces] == [("dropped", "dropped")]
