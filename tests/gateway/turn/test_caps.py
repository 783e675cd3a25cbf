"""A turn ends within its limits for every behaviour of the model."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import ContextTooLong
from gateway.ports import ContentBlock, ModelRequest, TextBlock, ToolCall, ToolOutcome, Usage
from gateway.turn import model_turn
from gateway.turn.model_attempts import RETRIES
from gateway.turn.model_turn import TurnLimits
from gateway.turn.tools import CallGuard
from tests.gateway.turn.stubs import Says, StubModel, StubTools, Turn, spec
from tests.support.property_cases import cases


def call(name: str, number: int = 0, **arguments: object) -> ToolCall:
    return ToolCall(f"t{number}", name, json.dumps(arguments))


def always(*names: str) -> Says:
    """A model that calls these tools in turn and never comes to an end by itself."""

    def says(request: ModelRequest, number: int) -> tuple[ContentBlock, ...]:
        if request.tool_choice == "none":
            return (TextBlock("That is what I know."),)
        return (call(names[(number - 1) % len(names)], number),)

    return says


def counting(request: ModelRequest, number: int) -> tuple[ContentBlock, ...]:
    """A model that calls one tool for ever, each time with other arguments."""
    if request.tool_choice == "none":
        return ()
    return (call("a", number, n=number),)


TOOLS = tuple(spec(name) for name in "abcd")


async def test_rounds_are_limited_and_then_an_answer_without_tools_is_requested() -> None:
    model = StubModel(always("a", "b", "c", "d", "a", "c", "b", "d"))
    tools = StubTools(*TOOLS)

    result = await Turn(TurnLimits(rounds=3)).ask("Go", model, tools)

    assert result.outcome == "rounds"
    assert result.text == f"That is what I know.\n\n{model_turn.ROUNDS_PART.english}"
    assert result.model_calls == 4
    assert len(tools.called) == 3
    assert [request.tool_choice for request in model.requests] == ["auto"] * 3 + ["none"]
    assert model.requests[-1].tools == TOOLS


async def test_without_an_answer_after_the_limit_a_sentence_is_sent() -> None:
    result = await Turn(TurnLimits(rounds=2)).ask("Go", StubModel(counting), StubTools(*TOOLS))

    assert result.text == model_turn.ROUNDS.english


async def test_an_identical_call_runs_at_most_three_times() -> None:
    tools = StubTools(*TOOLS)

    result = await Turn().ask("Go", StubModel(always("a")), tools)

    assert result.outcome == "repeated"
    assert len(tools.called) == 3
    refused = result.messages[-2].content[0]
    assert isinstance(refused, ToolOutcome)
    assert refused.is_error
    assert "the same call was made 3 times" in refused.content


async def test_the_order_of_arguments_does_not_distinguish_calls() -> None:
    guard = CallGuard(1)

    assert guard.check(ToolCall("1", "a", '{"x": 1, "y": 2}')) == ""
    assert guard.check(ToolCall("2", "a", '{ "y":2,"x":1 }')) == "repeated"
    assert guard.check(ToolCall("3", "b", '{"x": 1, "y": 2}')) == ""


@pytest.mark.parametrize("circle", ["ab", "abc", "abcd"])
async def test_a_repeated_sequence_of_calls_ends_at_its_third_start(circle: str) -> None:
    tools = StubTools(*TOOLS)

    result = await Turn(TurnLimits(rounds=20, identical_calls=9)).ask(
        "Go", StubModel(always(*circle)), tools
    )

    assert result.outcome == "cycle"
    assert len(tools.called) == 2 * len(circle)


async def test_a_tool_with_other_arguments_is_not_a_repetition() -> None:
    tools = StubTools(*TOOLS)

    result = await Turn(TurnLimits(rounds=8)).ask("Go", StubModel(counting), tools)

    assert result.outcome == "rounds"
    assert len(tools.called) == 8


async def test_too_many_parallel_calls_are_not_all_run() -> None:
    many = tuple(call("a", n, n=n) for n in range(30))
    model = StubModel(lambda _r, number: many if number == 1 else (TextBlock("Done."),))
    tools = StubTools(*TOOLS)

    result = await Turn(TurnLimits(calls_per_round=5)).ask("Go", model, tools)

    assert len(tools.called) == 5
    assert sum(not use.ok for use in result.calls) == 25
    assert result.outcome == "answered"


async def test_tokens_are_limited() -> None:
    model = StubModel(counting, Usage(input_tokens=3_000, output_tokens=1_000))

    result = await Turn(TurnLimits(tokens=10_000)).ask("Go", model, StubTools(*TOOLS))

    assert result.outcome == "tokens"
    assert result.usage.input_tokens + result.usage.output_tokens <= 12_000
    assert result.text == model_turn.TOKENS.english


async def test_enough_tokens_remain_for_an_answer() -> None:
    model = StubModel(always("a", "b", "c"), Usage(input_tokens=126, output_tokens=500))
    tools = StubTools(*TOOLS)

    result = await Turn(TurnLimits(tokens=1_700)).ask("Go", model, tools)

    assert result.outcome == "tokens"
    assert result.text == f"That is what I know.\n\n{model_turn.TOKENS_PART.english}"
    assert len(tools.called) == 1


async def test_a_forbidden_tool_is_not_run_when_the_model_calls_it() -> None:
    model = StubModel(always("secret"))
    tools = StubTools(spec("a"))

    result = await Turn().ask("Go", model, tools)

    assert tools.called == []
    assert all(use.note in ("not offered", "not run") for use in result.calls)


@given(
    plan=st.lists(
        st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 2)), max_size=6), max_size=12
    ),
    rounds=st.integers(1, 6),
    identical=st.integers(1, 3),
    at_once=st.integers(1, 4),
    stubborn=st.booleans(),
    too_long=st.sets(st.integers(1, 20), max_size=4),
)
@settings(max_examples=cases(200), deadline=None)
async def test_no_model_exceeds_the_limits(
    plan: list[list[tuple[str, int]]],
    rounds: int,
    identical: int,
    at_once: int,
    stubborn: bool,
    too_long: set[int],
) -> None:
    def says(request: ModelRequest, number: int) -> tuple[ContentBlock, ...]:
        if number in too_long:
            raise ContextTooLong("too long", 300, 200)
        if request.tool_choice == "none" and not stubborn:
            return (TextBlock("Enough."),)
        expected = plan[(number - 1) % len(plan)] if plan else []
        return tuple(call(name, number * 100 + i, x=x) for i, (name, x) in enumerate(expected))

    limits = TurnLimits(rounds=rounds, identical_calls=identical, calls_per_round=at_once)
    tools = StubTools(*TOOLS)
    model = StubModel(says)

    result = await Turn(limits).ask("Go", model, tools)

    once_more = 1  # after an empty answer
    assert result.model_calls <= (rounds + 1) * (1 + RETRIES) + once_more
    assert result.model_calls - len(too_long) <= rounds + 1 + once_more
    assert len(tools.called) <= rounds * at_once
    counts = [tools.called.count(each) for each in tools.called]
    assert max(counts, default=0) <= identical
    _assert_every_call_has_its_outcome(result.messages)


def _assert_every_call_has_its_outcome(messages: tuple[object, ...]) -> None:
    open_calls: list[str] = []
    for message in messages:
        content = getattr(message, "content", ())
        outcomes = [b.call_id for b in content if isinstance(b, ToolOutcome)]
        assert outcomes == open_calls
        open_calls = [b.id for b in content if isinstance(b, ToolCall)]
    assert open_calls == []
