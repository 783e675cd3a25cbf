"""A model that does not answer is called again within the time of the turn."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable

import pytest

from gateway.errors import ModelError, ModelRefused, ModelUnavailable
from gateway.llm.failover import FailoverProvider
from gateway.ports import (
    ModelEvent,
    ModelFinished,
    ModelMessage,
    ModelRequest,
    TextBlock,
    TextDelta,
    ToolCall,
    Usage,
    Wait,
)
from gateway.turn import model_turn
from gateway.turn.model_attempts import FIRST_PAUSE, LONGEST_PAUSE, MAX_ROUNDS, pause_before
from gateway.turn.model_turn import TurnLimits, TurnRequest, TurnResult, Unseen
from gateway.turn.tool_loop import ToolLoop
from tests.gateway.turn.stubs import StubTools, spec
from tests.support.clock import FakeClock

TURNS = 5_000
FAILURES = 0.1
ANSWER = "A whale is a mammal."


class Flaky:
    """Raises what `fails` gives for a call, after `says_first`; otherwise it answers."""

    name = "flaky"

    def __init__(
        self,
        fails: Callable[[int], ModelError | None],
        *,
        says_first: str = "",
        calls_tool: bool = False,
    ) -> None:
        self.fails = fails
        self.says_first = says_first
        self.calls_tool = calls_tool
        self.calls = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.calls += 1
        error = self.fails(self.calls)
        if error is not None:
            if self.says_first:
                yield TextDelta(self.says_first)
            raise error
        if self.calls_tool and len(request.messages) == 1:
            call = ModelMessage("assistant", (ToolCall("t", "pay", "{}"),))
            yield ModelFinished(call, "tool_use", Usage(1, 1), "flaky")
            return
        yield TextDelta(ANSWER)
        message = ModelMessage("assistant", (TextBlock(ANSWER),))
        yield ModelFinished(message, "end", Usage(1, 1), "flaky")

    async def close(self) -> None:
        """Do nothing."""


def down(retry_after: float | None = None) -> ModelUnavailable:
    return ModelUnavailable("down", retry_after)


async def ask(
    model: Flaky,
    clock: FakeClock,
    *,
    limits: TurnLimits | None = None,
    waits: list[float] | None = None,
    unseen: bool = True,
    tools: StubTools | None = None,
    direct: bool = False,
) -> TurnResult:
    class View(Unseen):
        def take_back(self, kept: str) -> bool:
            return unseen

        def waits(self, wait: Wait) -> None:
            if waits is not None and wait == "again":
                waits.append(clock.monotonic())

    request = TurnRequest(
        *("Be brief.", (), (TextBlock("What is a whale?"),)),
        max_tokens=500,
        limits=limits or TurnLimits(),
    )
    provider = model if direct else FailoverProvider([model], clock)
    return await ToolLoop(request, provider, tools or StubTools(), clock, View()).run()


@pytest.mark.parametrize("says_first", ["", "A whale is"])
async def test_none_of_thousands_of_answers_is_an_apology(says_first: str) -> None:
    """Once in ten calls the model fails, before its answer or in the middle of it."""
    dice = random.Random(20_261_122)
    clock = FakeClock(instant=True)
    model = Flaky(lambda _: down() if dice.random() < FAILURES else None, says_first=says_first)

    results = [await ask(model, clock) for _ in range(TURNS)]

    assert [r.text for r in results if r.text != ANSWER] == []
    assert {r.outcome for r in results} == {"answered"}
    assert model.calls > TURNS * (1 + FAILURES * 0.9)


async def test_pauses_grow_have_a_limit_and_end_with_the_patience() -> None:
    clock, waits = FakeClock(instant=True), list[float]()

    result = await ask(Flaky(lambda _: down()), clock, waits=waits, direct=True)

    assert (result.outcome, result.text) == ("unavailable", model_turn.UNAVAILABLE.english)
    assert clock.monotonic() <= TurnLimits().retry_seconds
    assert clock.monotonic() >= TurnLimits().retry_seconds - LONGEST_PAUSE - 1.0
    assert max(clock.slept) <= LONGEST_PAUSE
    assert min(clock.slept) == clock.slept[0] <= FIRST_PAUSE
    assert len(waits) == len(clock.slept) + 1


async def test_a_service_is_not_called_before_the_time_it_asks_for() -> None:
    clock = FakeClock(instant=True)

    result = await ask(Flaky(lambda number: down(20.0) if number == 1 else None), clock)

    assert result.text == ANSWER
    (slept,) = clock.slept
    assert 20.0 <= slept <= 22.0


async def test_a_pause_beyond_the_patience_is_not_started() -> None:
    clock = FakeClock(instant=True)

    result = await ask(Flaky(lambda _: down(600.0)), clock)

    assert result.outcome == "unavailable"
    assert clock.slept == []


@pytest.mark.parametrize("error", [ModelRefused("no such model"), KeyError("a bug")])
async def test_a_permanent_error_is_not_retried(error: Exception) -> None:
    clock = FakeClock(instant=True)

    def fails(_: int) -> ModelError:
        if isinstance(error, ModelError):
            return error
        raise error

    model = Flaky(fails)
    result = await ask(model, clock, direct=True)

    assert result.failed
    assert model.calls == 1
    assert clock.slept == []


async def test_a_permanent_refusal_after_a_failure_ends_the_retries() -> None:
    clock = FakeClock(instant=True)
    errors = [down(), ModelRefused("the key was revoked")]
    model = Flaky(lambda number: errors[number - 1])

    result = await ask(model, clock, direct=True)

    assert result.outcome == "refused"
    assert model.calls == 2


async def test_a_failure_of_the_model_repeats_no_tool_call() -> None:
    clock = FakeClock(instant=True)
    dice = random.Random(7)
    tools = StubTools(spec("pay", side_effects=True))
    model = Flaky(lambda _: down() if dice.random() < 0.5 else None, calls_tool=True)

    results = [await ask(model, clock, tools=tools) for _ in range(50)]

    assert [r.text for r in results] == [ANSWER] * 50
    assert len(tools.called) == 50


async def test_an_answer_that_was_shown_is_not_started_again() -> None:
    clock = FakeClock(instant=True)
    model = Flaky(lambda _: down(), says_first="A whale is")

    result = await ask(model, clock, unseen=False)

    assert result.outcome == "broken"
    assert result.text == f"A whale is\n\n{model_turn.BROKEN.english}"
    assert model.calls == 1


async def test_without_patience_only_the_attempts_of_the_failover_are_made() -> None:
    clock = FakeClock(instant=True)
    model = Flaky(lambda _: down())

    result = await ask(model, clock, limits=TurnLimits(retry_seconds=0.0))

    assert result.outcome == "unavailable"
    assert model.calls == 2


async def test_a_refusal_by_one_provider_does_not_stop_retries_of_another() -> None:
    clock = FakeClock(instant=True)
    refusing = Flaky(lambda _: ModelRefused("wrong key"))
    flaky = Flaky(lambda number: down() if number <= 4 else None)
    request = TurnRequest("Be brief.", (), (TextBlock("Hello"),), max_tokens=500)

    provider = FailoverProvider([refusing, flaky], clock)
    result = await ToolLoop(request, provider, StubTools(), clock).run()

    assert result.text == ANSWER


async def test_a_hang_after_failures_is_reported_as_a_failure_of_the_model() -> None:
    class Hanging(Flaky):
        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            self.calls += 1
            if self.calls == 1:
                raise down()
            await asyncio.Event().wait()
            yield TextDelta("")

    model = Hanging(lambda _: None)
    result = await ask(model, FakeClock(instant=True), limits=TurnLimits(seconds=2.5), direct=True)

    assert model.calls == 2
    assert (result.outcome, result.text) == ("unavailable", model_turn.UNAVAILABLE.english)


def test_the_pause_before_each_attempt_has_jitter() -> None:
    assert pause_before(0, down(), 60.0, 0.0) == 1.0
    assert pause_before(0, down(), 60.0, 1.0) == 0.5
    assert pause_before(3, down(), 60.0, 0.0) == 8.0
    assert pause_before(MAX_ROUNDS - 1, down(), 60.0, 0.0) == LONGEST_PAUSE
    assert pause_before(MAX_ROUNDS, down(), 60.0, 0.0) is None
    assert pause_before(0, down(), 1.9, 0.0) is None
    assert pause_before(0, down(float("inf")), 60.0, 0.0) is None
    assert pause_before(0, down(-5.0), 60.0, 0.0) == 1.0
