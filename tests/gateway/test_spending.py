"""Costs: reserved before each call, counted after it, and charged for every outcome of the
answer."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from gateway.conversation import ContextLimits, key_of
from gateway.errors import ModelUnavailable
from gateway.extensions import ExtensionRegistry
from gateway.immutable import replace
from gateway.llm.prices import Price
from gateway.message import CommandInvoked, MessageAuthor
from gateway.policy.budgets import Budgets
from gateway.policy.persona import Assistant
from gateway.policy.rate_limits import RateLimits
from gateway.ports import (
    ModelEvent,
    ModelMessage,
    ModelRequest,
    TextDelta,
    ToolCall,
    ToolOutcome,
    ToolSpec,
    Usage,
)
from gateway.ports.conversations import StoredTurn
from gateway.ports.usage import UsageRow
from gateway.turn.context import summary
from gateway.turn.model_turn import TurnLimits
from gateway.turn.services import Policies
from tests.support.databases import sqlite_database
from tests.support.gateway import Gateway, Model, gateway
from tests.support.immutable import force
from tests.support.messages import direct, place, received

MODEL = "priced"
PRICES = {MODEL: Price(1, 1)}
ASSISTANT = Assistant(default_model=MODEL, max_tokens=1000)
STOP = CommandInvoked("stop", direct(), MessageAuthor("ada", "Ada"), "stop")


def policies(dollars: float) -> Policies:
    return Policies(
        budgets=Budgets(user_per_day=dollars),
        limits=RateLimits(user_per_minute=0, channel_per_minute=0, workspace_per_minute=0),
    )


async def spent(g: Gateway) -> int:
    row = await g.database.run_job(
        lambda db: db.execute("SELECT SUM(micros) FROM spent").fetchone()
    )
    return int(row[0] or 0)


async def test_a_stopped_turn_is_charged_for_its_call_and_releases_its_reservation() -> None:
    async with gateway(policies=policies(1.0), assistant=ASSISTANT, prices=PRICES) as g:
        g.model.open.clear()
        await g.take(received("a long story", message_id="m1"))
        assert await g.rows("reserved") == 1
        await g.take(STOP)
        assert await g.rows("reserved") == 0
        assert await spent(g) >= 1000
        assert await g.rows("usage") == 1


async def test_an_answer_interrupted_by_shutdown_is_charged_beside_the_next_one(
    tmp_path: Path,
) -> None:
    database = sqlite_database(tmp_path / "kept.db")
    await database.start()
    limits = policies(1.0)
    async with gateway(policies=limits, assistant=ASSISTANT, prices=PRICES, database=database) as g:
        g.model.open.clear()
        await g.take(received("a long story", message_id="m1"))
        await g.dispatcher.stop()
        begun = await spent(g)
        assert begun >= 1000
    async with gateway(policies=limits, assistant=ASSISTANT, prices=PRICES, database=database) as g:
        g.model.name = MODEL
        for entry in await g.services.stores.inbox.unfinished(100):
            g.dispatcher.dispatch(entry)
        await g.rest()
        assert g.texts == ["answer"]
        assert await spent(g) == begun + 120
        assert (await g.rows("usage"), await g.rows("reserved")) == (2, 0)
    await database.stop()


async def test_a_stop_before_the_call_costs_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with gateway(policies=policies(1.0), assistant=ASSISTANT, prices=PRICES) as g:
        usage, held = g.services.stores.usage, asyncio.Event()
        reserve = usage.reserve

        async def slow(*arguments: object) -> object:
            outcome = await reserve(*arguments)  # type: ignore[arg-type]
            await held.wait()
            return outcome

        monkeypatch.setattr(usage, "reserve", slow)
        await g.take(received("hello", message_id="m1"))
        assert await g.rows("reserved") == 1
        await g.take(STOP)
        assert g.model.requests == []
        assert (await g.rows("reserved"), await spent(g), await g.rows("usage")) == (0, 0, 0)


async def test_an_answer_that_cannot_be_rendered_is_charged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with gateway(policies=policies(1.0), assistant=ASSISTANT, prices=PRICES) as g:
        g.model.name = MODEL
        monkeypatch.setattr("gateway.turn.render.render_off_loop", None)
        await g.take(received("hello"))
        assert "Something went wrong" in g.texts[0]
        assert await spent(g) == 120
        assert (await g.rows("turns"), await g.rows("reserved")) == (0, 0)


class Counting:
    """A tool that only reads."""

    def __init__(self) -> None:
        self.calls = 0

    async def tools(self) -> tuple[ToolSpec, ...]:
        return (ToolSpec("count", "Count", {"type": "object"}, side_effects=False),)

    async def call(self, name: str, arguments: object) -> str:
        self.calls += 1
        return "counted " + "x" * 300

    async def close(self) -> None:
        """Do nothing."""


def insatiable(request: ModelRequest) -> ModelMessage:
    """Asks for the tool again and again, each time for another number."""
    number = sum(isinstance(b, ToolOutcome) for m in request.messages for b in m.content)
    return ModelMessage("assistant", (ToolCall(f"c{number}", "count", f'{{"n": {number}}}'),))


async def test_a_tool_loop_ends_at_the_budget() -> None:
    """Each call costs 1,000 of the 5,000, and the next one may cost more than 1,000."""
    counting = Counting()
    async with gateway(
        policies=policies(0.005), assistant=ASSISTANT, prices=PRICES, tools=(counting,)
    ) as g:
        g.model.name, g.model.usage = MODEL, Usage(500, 500)
        g.model.reply = insatiable
        await g.take(received("count"))
        assert 1 < len(g.model.requests) < 5
        assert await spent(g) == 1000 * len(g.model.requests) <= 5000
        (said,) = g.texts
        assert said.startswith("Your budget for my answers is used up. It begins again in 15 hours")
        assert "(2026-11-22 00:00 UTC)" in said
        assert g.outcomes() == ["refused:budget"]
        assert await g.rows("reserved") == 0


async def test_a_used_up_budget_is_said_once_until_it_begins_again() -> None:
    """In whatever place the person asks, and however long it lasts."""
    async with gateway(policies=policies(0.0001), assistant=ASSISTANT, prices=PRICES) as g:
        g.model.name = MODEL
        for hour in range(4):
            room = place() if hour % 2 else direct()
            await g.take(
                received(
                    f"{hour}?",
                    message_id=f"m{hour}",
                    at=room,
                    mentions_bot=bool(hour % 2),
                    timestamp=g.clock.now(),
                )
            )
            await g.clock.advance(61 * 60)
        assert len(g.texts) == 1
        now = g.clock.now()
        await g.take(received("and Ben?", message_id="b", author="ben", timestamp=now))
        assert len(g.texts) == 2
        await g.clock.advance(24 * 3600)
        await g.take(received("a new day", message_id="m9", timestamp=g.clock.now()))
        assert len(g.texts) == 3
        assert g.texts[-1] != g.texts[0]


async def test_an_interrupted_answer_is_charged_in_full() -> None:
    class Breaking(Model):
        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            yield TextDelta("It begins ")
            raise ModelUnavailable("connection lost")

    async with gateway(policies=policies(1.0), assistant=ASSISTANT, prices=PRICES) as g:
        force(g.services, "provider", Breaking())
        await g.take(received("hello"))
        await g.clock.advance(TurnLimits().seconds)
        await g.rest()
        assert g.outcomes() == ["broken"]
        assert await spent(g) >= 1000


async def test_a_model_that_never_answered_costs_nothing() -> None:
    class Overloaded(Model):
        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            if not request.messages:
                yield TextDelta("")
            raise ModelUnavailable("overloaded")

    async with gateway(policies=policies(1.0), assistant=ASSISTANT, prices=PRICES) as g:
        force(g.services, "provider", Overloaded())
        await g.take(received("hello"))
        await g.clock.advance(TurnLimits().seconds)
        await g.rest()
        assert g.outcomes() == ["unavailable"]
        assert await spent(g) == 0
        assert await g.rows("reserved") == 0


async def test_a_fallback_without_a_price_is_not_called() -> None:
    async with gateway(policies=policies(1.0), assistant=ASSISTANT, prices=PRICES) as g:
        g.model.name = "fallback"
        await g.take(received("hello"))
        assert await spent(g) >= 1000


async def test_usage_is_recorded_without_budgets() -> None:
    async with gateway(assistant=ASSISTANT, prices=PRICES) as g:
        g.model.name = MODEL
        await g.take(received("hello"))
        rows = await g.database.run_job(
            lambda db: db.execute(
                "SELECT model, input_tokens, output_tokens, micros FROM usage"
            ).fetchall()
        )
        assert rows == [(MODEL, 100, 20, 120)]
        assert await g.rows("spent") == 0


async def test_a_summary_does_not_wait_for_an_answer_that_is_not_requested(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A turn's cap that leaves no room for a single call."""
    monkeypatch.setattr(summary, "MAX_NOTED", 20)
    capped = replace(
        policies(1.0),
        turn=TurnLimits(tokens=10),
        context=ContextLimits(max_messages=4, max_tokens=500),
    )
    async with gateway(policies=capped, assistant=ASSISTANT, prices=PRICES) as g:
        g.model.name = MODEL
        key = key_of("default", direct())
        replies = [
            StoredTurn("q0", "user", "question 0", g.clock.now(), "test:main:ada", "Ada"),
            StoredTurn("q0", "assistant", "answer", g.clock.now()),
            StoredTurn("q1", "user", "question 1", g.clock.now(), "test:main:ada", "Ada"),
            StoredTurn("q1", "assistant", "answer", g.clock.now()),
        ]
        await g.services.stores.conversations.append(key, replies)
        await g.take(received("question 2", message_id="q2"))
        assert g.outcomes() == ["tokens"]
        assert [request.max_tokens for request in g.model.requests] == [2_000], "the summary's own"


async def test_a_failing_tracking_extension_stops_nothing() -> None:
    rows: list[UsageRow] = []

    class Broken:
        async def track(self, row: UsageRow) -> None:
            rows.append(row)
            raise RuntimeError("billing is down")

    async with gateway(extensions=ExtensionRegistry(usage_tracker=Broken())) as g:
        await g.take(received("hello", message_id="m1"), received("again", message_id="m2"))
        assert g.texts == ["answer", "answer"]
        assert [replace(row, at=g.clock.now()) for row in rows] == rows


async def test_an_alert_at_half_of_a_budget_is_logged_once() -> None:
    async with gateway(policies=policies(0.006), assistant=ASSISTANT, prices=PRICES) as g:
        g.model.name = MODEL
        with capture_logs() as logs:
            await g.take(received("hello"))
        assert [line["passed"] for line in logs if line["event"] == "budget_alert"] == [
            "user_per_day at 50%"
        ]


async def test_without_budget_for_a_summary_the_original_words_are_used() -> None:
    """The third question fills the window, and while it is answered nothing is left for more."""
    question = Policies(
        budgets=Budgets(user_per_day=0.0028),
        limits=RateLimits(user_per_minute=0, channel_per_minute=0, workspace_per_minute=0),
        context=ContextLimits(max_messages=4, max_tokens=500),
    )
    async with gateway(policies=question, assistant=ASSISTANT, prices=PRICES) as g:
        g.model.name = MODEL
        for n in range(2):
            await g.take(received(f"question {n}", message_id=f"q{n}"))
        g.model.open.clear()
        await g.take(received("question 2", message_id="q2"))
        g.model.open.set()
        await g.rest()
        assert g.texts == ["answer"] * 3
        assert g.outcomes() == ["answered"] * 3
        assert len(g.model.requests) == 3, "nobody was asked for a summary"
        assert (await spent(g), await g.rows("reserved")) == (3 * 120, 0)

        _, notes = await g.services.stores.conversations.opened(key_of("default", direct()), 10)
        assert notes.summary is not None
        assert notes.summary.text.startswith("- They: question 0")
