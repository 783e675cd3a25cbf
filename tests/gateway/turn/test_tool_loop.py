"""A turn with the real Anthropic library against the simulated service."""

import asyncio
from collections.abc import AsyncIterator, Mapping

import pytest

from gateway.errors import ToolError
from gateway.llm.anthropic.provider import AnthropicProvider
from gateway.llm.failover import FailoverProvider
from gateway.llm.offline import OfflineProvider
from gateway.ports import (
    ModelEvent,
    ModelRequest,
    OpaqueBlock,
    StopReason,
    TextBlock,
    TextDelta,
    ToolCall,
    ToolOutcome,
    Working,
)
from gateway.ports.clock import SystemClock
from gateway.turn import model_turn
from gateway.turn.model_turn import Outcome, TurnLimits, TurnRequest
from gateway.turn.tool_loop import MAX_TAKEN_BACK, ToolLoop
from simulators.anthropic import Answer, AnthropicSimulator, UseTool
from simulators.base import Fault
from tests.gateway.llm.asking import assistant, user
from tests.gateway.turn.stubs import StubModel, StubTools, Turn, spec
from tests.support.clock import FakeClock
from tests.support.patience import PATIENCE


def outcomes_seen(claude: AnthropicSimulator, request: int) -> list[Mapping[str, object]]:
    content = claude.bodies[request]["messages"][-1]["content"]
    return [block for block in content if block["type"] == "tool_result"]


async def test_an_answer_without_tools(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.script("Hello, how can I help you today, or tomorrow?")

    result = await Turn().ask("Hello", provider)

    assert result.text == "Hello, how can I help you today, or tomorrow?"
    assert result.outcome == "answered"
    assert result.messages == (user("Hello"), assistant(result.text))
    assert result.model == "claude-sonnet-5-5"
    assert result.model_calls == 1
    assert result.usage.output_tokens > 0
    assert not result.failed


async def test_the_history_is_before_the_question(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    await Turn().ask("Again?", provider, history=(user("One"), assistant("Two")))

    roles = [message["role"] for message in claude.bodies[0]["messages"]]
    assert roles == ["user", "assistant", "user"]


async def test_tools_run_and_their_results_are_returned_with_the_reasoning(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.script(
        Answer("I look it up.", (UseTool("look", {"at": "it"}),), thinking="Hm."),
        Answer("", (UseTool("look", {"at": "more"}),), thinking="Hm again."),
        "It is blue.",
    )
    tools = StubTools(spec("look"))

    result = await Turn().ask("What is it?", provider, tools)

    assert result.text == "I look it up.\n\nIt is blue."
    assert tools.called == [("look", {"at": "it"}), ("look", {"at": "more"})]
    assert [use.ok for use in result.calls] == [True, True]
    assert [call.status for call in claude.requests] == [200, 200, 200]
    kept = [type(block) for message in result.messages for block in message.content]
    assert OpaqueBlock not in kept
    assert kept == [TextBlock, TextBlock, ToolCall, ToolOutcome, ToolCall, ToolOutcome, TextBlock]


async def test_results_are_in_the_order_of_the_calls(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    second_ran = asyncio.Event()

    async def slow(_arguments: Mapping[str, object]) -> str:
        await asyncio.wait_for(second_ran.wait(), PATIENCE)
        return "slow done"

    async def quick(_arguments: Mapping[str, object]) -> str:
        second_ran.set()
        return "quick done"

    claude.script(Answer("", (UseTool("slow"), UseTool("quick"))), "Done.")
    tools = StubTools(spec("slow"), spec("quick"), run={"slow": slow, "quick": quick})

    await Turn().ask("Go", provider, tools)

    assert [outcome["content"] for outcome in outcomes_seen(claude, 1)] == [
        "slow done",
        "quick done",
    ]


async def test_tools_with_side_effects_run_sequentially() -> None:
    running: list[str] = []
    most = 0

    async def work(arguments: Mapping[str, object]) -> str:
        nonlocal most
        running.append(str(arguments["n"]))
        most = max(most, len(running))
        await asyncio.sleep(0)
        running.remove(str(arguments["n"]))
        return "ok"

    calls = tuple(ToolCall(f"t{n}", "work", f'{{"n": {n}}}') for n in range(4))
    model = StubModel(lambda _r, number: calls if number == 1 else (TextBlock("Done."),))
    tools = StubTools(spec("work", side_effects=True), run={"work": work})

    await Turn().ask("Go", model, tools)

    assert most == 1
    assert [arguments["n"] for _, arguments in tools.called] == [0, 1, 2, 3]


async def test_failures_of_tools_are_returned_to_the_model_as_errors(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    async def fails(_arguments: Mapping[str, object]) -> str:
        raise ToolError("no such city")

    async def breaks(_arguments: Mapping[str, object]) -> str:
        raise ValueError("internal detail")

    async def hangs(_arguments: Mapping[str, object]) -> str:
        await asyncio.Event().wait()
        return ""

    uses = (
        UseTool("fails"),
        UseTool("breaks"),
        UseTool("hangs"),
        UseTool("missing"),
        UseTool("fails", raw="{not json"),
        UseTool("fails", raw="[1]"),
        UseTool("fails", raw='{"a": NaN}'),
    )
    claude.script(Answer("", uses), "I could not.")
    tools = StubTools(
        *(spec(name) for name in ("fails", "breaks", "hangs")),
        run={"fails": fails, "breaks": breaks, "hangs": hangs},
    )

    result = await Turn(TurnLimits(tool_seconds=0.05)).ask("Go", provider, tools)

    replies = [str(outcome["content"]) for outcome in outcomes_seen(claude, 1)]
    assert all(outcome["is_error"] for outcome in outcomes_seen(claude, 1))
    assert replies[0] == "no such city"
    assert replies[1] == "The tool failed."
    assert "did not answer within 0.05 seconds" in replies[2]
    assert replies[3] == "There is no such tool. You may use: fails, breaks, hangs."
    assert "must be a JSON object: Expecting property name" in replies[4]
    assert "must be a JSON object: not a JSON object" in replies[5]
    assert "must be a JSON object: NaN is not JSON" in replies[6]
    assert result.text == "I could not."
    assert [use.note for use in result.calls] == [
        "failed",
        "failed: ValueError",
        "timed out",
        "not offered",
        "invalid arguments",
        "invalid arguments",
        "invalid arguments",
    ]


async def test_a_huge_result_is_shortened_with_a_note(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    async def talk(_arguments: Mapping[str, object]) -> str:
        return "begin " + "x" * 1_000_000 + " end"

    claude.script(Answer("", (UseTool("talk"),)), "Long.")

    await Turn().ask("Go", provider, StubTools(spec("talk"), run={"talk": talk}))

    content = str(outcomes_seen(claude, 1)[0]["content"])
    assert len(content) <= 10_000
    assert content.startswith("begin ")
    assert content.endswith(" end")
    assert "characters omitted here" in content


async def test_an_unavailable_toolbox_does_not_prevent_the_answer(
    provider: AnthropicProvider,
) -> None:
    class Broken(StubTools):
        async def tools(self) -> tuple[()]:
            raise ToolError("the server is away")

    result = await Turn().ask("Hello", provider, Broken())

    assert result.text == "You said: Hello"
    assert result.notes == ("no tools: the server is away",)


# --- when the model does not answer ---


async def test_an_unavailable_model_is_reported_in_a_fixed_sentence_with_a_reference(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.faults.add(Fault("messages", "server_error", times=99))

    result = await Turn(TurnLimits(retry_seconds=2.0)).ask("Hello", provider, reference="7f3a")

    assert result.text == f"{model_turn.UNAVAILABLE.english} (Reference for the operator: 7f3a)"
    assert result.outcome == "unavailable"
    assert result.failed
    assert result.messages == (user("Hello"),)
    assert "500" in result.error
    assert "500" not in result.text


async def test_a_refused_key_is_reported_without_details(claude: AnthropicSimulator) -> None:
    stranger = AnthropicProvider("wrong-key", base_url=claude.base_url)

    result = await Turn().ask("Hello", stranger)

    assert (result.text, result.outcome) == (model_turn.REFUSED.english, "refused")
    await stranger.close()


@pytest.mark.parametrize("kind", ["broken_stream", "stream_error"])
async def test_an_interrupted_answer_is_kept_and_marked(
    claude: AnthropicSimulator, provider: AnthropicProvider, kind: str
) -> None:
    claude.script(whole := "A long answer, of which a part arrives. " * 20)
    claude.faults.add(Fault("messages", kind))  # type: ignore[arg-type]  # a literal, by parametrize
    both = FailoverProvider([provider, OfflineProvider()], FakeClock(instant=True))

    result = await Turn().ask("Hello", both)

    shown, _, sentence = result.text.rpartition("\n\n")
    assert sentence == model_turn.BROKEN.english
    assert shown
    assert whole.startswith(shown)
    assert result.outcome == "broken"
    assert not result.failed
    assert result.messages == (user("Hello"), assistant(shown.strip()))


@pytest.mark.parametrize("kind", ["broken_stream", "stream_error"])
async def test_an_answer_interrupted_before_it_was_shown_is_requested_again(
    claude: AnthropicSimulator, provider: AnthropicProvider, kind: str
) -> None:
    claude.reply = lambda _: "A long answer, of which a part arrives. " * 20
    claude.faults.add(Fault("messages", kind, times=9))  # type: ignore[arg-type]  # a literal
    both = FailoverProvider([provider, OfflineProvider()], FakeClock(instant=True))

    result = await Turn(seen=False).ask("Hello", both)

    assert result.outcome == "answered"
    assert result.model == "offline"
    assert model_turn.BROKEN.english not in result.text
    assert result.messages == (user("Hello"), assistant(result.text))
    assert len(claude.bodies) == 1


async def test_repeated_interruptions_are_retried_a_limited_number_of_times(
    claude: AnthropicSimulator, provider: AnthropicProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each beginning has its price."""
    monkeypatch.setattr("gateway.turn.model_attempts.FIRST_PAUSE", 0.01)
    claude.reply = lambda _: "A long answer, of which a part arrives. " * 20
    claude.faults.add(Fault("messages", "broken_stream", times=99))

    result = await Turn(seen=False).ask("Hello", provider)

    assert result.outcome == "broken"
    assert result.text.endswith(model_turn.BROKEN.english)
    assert len(claude.bodies) == 1 + MAX_TAKEN_BACK


async def test_text_before_a_tool_call_is_kept(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.script(Answer("Let me look.", (UseTool("look"),)), "It is " * 30, "It is a whale.")
    claude.faults.add(Fault("messages", "broken_stream", every=2))

    result = await Turn(seen=False).ask("Hello", provider, StubTools(spec("look")))

    assert (result.text, result.outcome) == ("Let me look.\n\nIt is a whale.", "answered")


async def test_an_exception_of_a_provider_becomes_a_sentence() -> None:
    def bug(*_: object) -> tuple[TextBlock, ...]:
        raise KeyError("index")

    result = await Turn().ask("Hello", StubModel(bug))

    assert result.text == model_turn.UNAVAILABLE.english
    assert "KeyError" in result.error


async def test_an_empty_answer_is_asked_for_once_more_and_then_becomes_a_sentence() -> None:
    model = StubModel(lambda *_: ())

    result = await Turn().ask("Hello", model, reference="7f3a")

    assert (result.text, result.outcome) == (
        f"{model_turn.EMPTY.english} (Reference for the operator: 7f3a)",
        "empty",
    )
    assert len(model.requests) == 2
    assert result.failed


async def test_an_empty_answer_that_is_followed_by_one_with_words_is_not_mentioned() -> None:
    result = await Turn().ask(
        "Hello", StubModel(lambda _, number: (TextBlock("Hi."),) if number == 2 else ())
    )

    assert (result.text, result.outcome) == ("Hi.", "answered")


async def test_no_further_word_after_a_tool_is_an_answer() -> None:
    """The model said before the call what it had to say."""
    said = (TextBlock("I store that."), ToolCall("t", "look", "{}"))
    model = StubModel(lambda _, number: said if number == 1 else ())

    result = await Turn().ask("Hello", model, StubTools(spec("look")))

    assert (result.text, result.outcome) == ("I store that.", "answered")
    assert len(model.requests) == 2


ENDS: tuple[tuple[StopReason, Outcome], ...] = (
    ("max_tokens", "length"),
    ("refusal", "declined"),
    ("filtered", "filtered"),
)


@pytest.mark.parametrize("text", ["", "Sure. First you take the"])
@pytest.mark.parametrize(("stop", "outcome"), ENDS)
async def test_each_end_has_its_sentence_with_and_without_text(
    text: str, stop: StopReason, outcome: Outcome
) -> None:
    model = StubModel(lambda *_: (TextBlock(text),) if text else (), stop=stop)

    result = await Turn().ask("Hello", model)

    expected = outcome if text or outcome != "length" else "reasoning"
    sentence = model_turn.closing(expected, has_text=bool(text)).english
    assert result.outcome == expected
    assert result.text == (f"{text}\n\n{sentence}" if text else sentence)
    assert len(model.requests) == 1


async def test_each_wait_of_a_turn_is_reported() -> None:
    class Thinking(StubModel):
        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            yield Working()
            async for event in super().stream(request):
                yield event

    turn = Turn()
    await turn.ask("Hello", Thinking(lambda *_: (TextBlock("Hi."),)))

    assert turn.waited == ["model", "working"]


async def test_streamed_text_that_turns_out_to_be_reasoning_is_no_part_of_the_answer() -> None:
    class Late(StubModel):
        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            async for event in super().stream(request):
                yield TextDelta("The plan. ") if isinstance(event, TextDelta) else event

    looks = (TextBlock("I look."), ToolCall("a", "read", "{}"))
    model = Late(lambda _, number: looks if number == 1 else (TextBlock("Done."),))
    request = TurnRequest("Be brief.", (), (TextBlock("Hello"),), max_tokens=500)
    tools = StubTools(spec("read"))
    result = await ToolLoop(request, model, tools, SystemClock()).run()

    assert result.text == "I look.\n\nDone."
    assert "plan" not in str(result.messages)


async def test_an_answer_at_its_length_limit_is_marked(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.script(Answer("As much as fits", stop="max_tokens"))

    result = await Turn().ask("Hello", provider)

    assert result.text == f"As much as fits\n\n{model_turn.LENGTH.english}"
    assert result.outcome == "length"
    assert result.messages[-1] == assistant("As much as fits")


async def test_a_truncated_tool_call_is_not_run(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.script(Answer("", (UseTool("look"), UseTool("look")), stop="max_tokens"), "Sorry.")
    tools = StubTools(spec("look"))

    await Turn().ask("Go", provider, tools)

    assert len(tools.called) == 1


async def test_a_refusal_of_the_model_is_reported(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.script(Answer("", stop="refusal"))

    result = await Turn().ask("Hello", provider)

    assert (result.text, result.outcome) == (model_turn.DECLINED.english, "declined")


# --- time ---


async def test_a_turn_ends_at_its_time_limit(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.faults.add(Fault("messages", "slow", delay=5))

    result = await Turn(TurnLimits(seconds=0.2)).ask("Hello", provider)

    assert (result.text, result.outcome) == (model_turn.TIME.english, "time")


async def test_text_before_the_time_limit_is_kept(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.script("word " * 200)
    claude.faults.add(Fault("messages", "slow_stream", delay=0.5))

    result = await Turn(TurnLimits(seconds=3.0)).ask("Hello", provider)

    assert result.text.startswith("word ")
    assert result.text.endswith(f"\n\n{model_turn.TIME_PART.english}")
    assert result.messages[-1].role == "assistant"


async def test_a_tool_running_at_the_time_limit_leaves_no_open_call() -> None:
    cancelled = asyncio.Event()

    async def hangs(_arguments: Mapping[str, object]) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return ""

    model = StubModel(lambda *_: (TextBlock("Wait."), ToolCall("t", "hangs", "{}")))
    tools = StubTools(spec("hangs"), run={"hangs": hangs})

    result = await Turn(TurnLimits(seconds=1.0)).ask("Go", model, tools)

    assert result.outcome == "time"
    assert cancelled.is_set()
    assert result.messages == (user("Go"), assistant("Wait."))


async def test_cancelling_a_turn_cancels_its_work(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.faults.add(Fault("messages", "slow", delay=30))
    turn = asyncio.create_task(Turn().ask("Hello", provider))
    await claude.wait_for_requests(1)

    turn.cancel()

    with pytest.raises(asyncio.CancelledError):
        await turn


async def test_an_exception_of_the_listener_is_raised(provider: AnthropicProvider) -> None:
    class Full(Turn):
        async def on_text(self, piece: str) -> None:
            await super().on_text(piece)
            raise TimeoutError("the outbox is full")

    turn = Full()

    with pytest.raises(TimeoutError, match="the outbox is full"):
        await turn.ask("Hello", provider)
    assert len(turn.pieces) == 1
