"""Claude, against the simulated Messages API."""

import base64
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import anthropic
import pytest

from gateway.errors import ContextTooLong, ModelRefused, ModelUnavailable
from gateway.immutable import replace
from gateway.llm.anthropic.provider import AnthropicProvider
from gateway.ports import (
    ContentBlock,
    ImageBlock,
    ModelFinished,
    ModelMessage,
    OpaqueBlock,
    TextBlock,
    TextDelta,
    ToolCall,
    ToolOutcome,
    Usage,
    Working,
)
from simulators.anthropic import MODELS, Answer, AnthropicSimulator, UseTool
from simulators.base import Fault
from tests.gateway.llm.asking import ADD, ask, assistant, question, user

PNG = b"\x89PNG\r\n\x1a\n and so on"


@pytest.fixture
async def provider(claude: AnthropicSimulator) -> AsyncIterator[AnthropicProvider]:
    made = AnthropicProvider("test-key", base_url=claude.base_url)
    yield made
    await made.close()


async def test_an_answer_is_streamed_and_then_complete(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.script(text := "An answer of several pieces, with ü and 漢字 and 🎈 in it.")
    claude.faults.add(Fault("messages", "slow_stream", delay=0.01))

    heard = await ask(provider, question("Hello"))

    assert heard.text == text
    assert len(heard.pieces) > 1
    assert heard.finished.message == assistant(text)
    assert heard.finished.stop == "end"
    assert heard.finished.model == "claude-sonnet-5-5"
    assert heard.finished.usage.input_tokens > 0
    assert heard.finished.usage.output_tokens > 0


async def test_tools_are_offered_called_and_answered(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.script(Answer("Let me add.", (UseTool("add", {"a": 1, "b": 2}),), thinking="Hm."))
    request = question("1 + 2?", tools=(ADD,))
    first = await ask(provider, request)
    (call,) = first.calls
    outcome = ToolOutcome(call.id, "3")

    second = await ask(
        provider,
        replace(
            request,
            messages=(
                *request.messages,
                first.finished.message,
                ModelMessage("user", (outcome,)),
            ),
        ),
    )

    assert first.finished.stop == "tool_use"
    assert call.name == "add"
    assert call.arguments == '{"a": 1, "b": 2}'
    assert second.text == "You said: 3"
    assert [block["type"] for block in claude.bodies[1]["messages"][1]["content"]] == [
        "thinking",
        "text",
        "tool_use",
    ]


async def test_reasoning_of_another_model_is_not_sent(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    foreign = (
        OpaqueBlock(f"{claude.base_url} claude-opus-5-5", '{"type": "thinking"}'),
        OpaqueBlock("https://api.openai.com/v1 claude-sonnet-5-5", '{"type": "thinking"}'),
    )
    answer = ModelMessage("assistant", (*foreign, TextBlock("Hi.")))

    await ask(provider, question("Hello", answer, "Again"))

    assert claude.bodies[0]["messages"][1]["content"] == [{"type": "text", "text": "Hi."}]


@pytest.mark.parametrize("change", ["history", "system", "tools", "result"])
async def test_reasoning_is_not_sent_behind_another_text(
    claude: AnthropicSimulator, provider: AnthropicProvider, change: str
) -> None:
    claude.script(
        Answer("", (UseTool("add", {"a": 1}),), thinking="Hm."),
        Answer("", (UseTool("add", {"a": 2}),), thinking="And?"),
    )
    request = question("Earlier", assistant("Yes."), "1 + 2?", tools=(ADD,))
    first = await ask(provider, request)
    once = (*request.messages, first.finished.message, results(first.calls))
    second = await ask(provider, replace(request, messages=once))
    twice = (*once, second.finished.message, results(second.calls))
    changed = {
        "history": replace(request, messages=twice[2:]),
        "system": replace(request, messages=twice, system="Be verbose."),
        "tools": replace(request, messages=twice, tools=(replace(ADD, description="?"),)),
        "result": replace(request, messages=(*once[:-1], results(first.calls, "cut"), *twice[5:])),
    }[change]

    answered = await ask(provider, changed)  # the simulator refuses reasoning behind another text

    kinds = [b["type"] for m in claude.bodies[2]["messages"] for b in m["content"]]
    assert answered.text.startswith("You said: 3")
    assert kinds.count("tool_use") == 2
    assert kinds.count("thinking") == (1 if change == "result" else 0)


async def test_reasoning_goes_back_after_another_model_answered_in_between(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.script(Answer("", (UseTool("add", {"a": 1}),), thinking="Hm."))
    request = question("1 + 2?", tools=(ADD,))
    first = await ask(provider, request)
    other = ModelMessage("assistant", (OpaqueBlock("elsewhere m", "{}"), ToolCall("c9", "add", "")))
    messages = (
        *(*request.messages, first.finished.message, results(first.calls)),
        *(other, ModelMessage("user", (ToolOutcome("c9", "4"),))),
    )

    await ask(provider, replace(request, messages=messages))

    kinds = [[b["type"] for b in m["content"]] for m in claude.bodies[1]["messages"]]
    assert kinds[1] == ["thinking", "tool_use"]
    assert kinds[3] == ["tool_use"]


async def test_work_without_text_is_reported(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.script(Answer("Yes.", thinking="word " * 30))
    claude.faults.add(Fault("messages", "slow_stream", delay=0.01))

    events = [event async for event in provider.stream(question("Hello"))]

    kinds = [type(event) for event in events]
    assert kinds.index(Working) < kinds.index(TextDelta)
    assert isinstance(events[-1], ModelFinished)
    assert events[-1].reasoned


async def test_a_refusal_in_the_middle_keeps_the_text(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.script(Answer("The first half.", stop="refusal"))

    heard = await ask(provider, question("Hello"))

    assert heard.finished.stop == "refusal"
    assert heard.finished.message == assistant("The first half.")


async def test_no_tool_is_offered_in_the_last_round(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    await ask(provider, replace(question("Hi", tools=(ADD,)), tool_choice="none"))

    assert claude.bodies[0]["tool_choice"] == {"type": "none"}
    assert claude.bodies[0]["tools"][0]["name"] == "add"


async def test_invalid_sequences_of_messages_are_corrected(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    call = ToolCall("t1", "add", "no JSON")
    outcome = ToolOutcome("t1", " ", is_error=True)
    await ask(
        provider,
        question(
            assistant("I come first"),
            user(" "),
            ModelMessage("assistant", (TextBlock(""), call)),
            ModelMessage("user", (TextBlock("and this"), outcome)),
            tools=(ADD,),
        ),
    )

    first, second, third = claude.bodies[0]["messages"]
    assert first["content"] == [{"type": "text", "text": "(nothing)"}]
    assert second["content"] == [{"type": "tool_use", "id": "t1", "name": "add", "input": {}}]
    assert [block["type"] for block in third["content"]] == ["tool_result", "text"]
    assert third["content"][0]["content"] == "(no output)"
    assert third["content"][0]["is_error"] is True


async def test_half_a_surrogate_pair_does_not_break_a_request(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    request = question(
        user("a\ud83d b"),
        ModelMessage("assistant", (ToolCall("t1", "add", '{"a": "\\ud83d"}'),)),
        ModelMessage("user", (ToolOutcome("t1", "\ud800"), TextBlock("🎈"))),
        tools=(replace(ADD, description="\udc00"),),
    )

    await ask(provider, request)

    first, second, third = claude.bodies[0]["messages"]
    assert first["content"][0]["text"] == "a? b"
    assert second["content"][0]["input"] == {"a": "?"}
    assert third["content"][1]["text"] == "🎈"


async def test_pictures_are_sent_as_pictures(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    picture = ModelMessage("user", (ImageBlock("image/png", PNG), TextBlock("What is it?")))

    await ask(provider, question(picture))

    source = claude.bodies[0]["messages"][0]["content"][0]["source"]
    assert base64.b64decode(source["data"]) == PNG


async def test_stable_text_is_read_from_the_cache(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    request = replace(question("one"), system="rule " * 4000)
    first = (await ask(provider, request)).finished.usage
    second = (await ask(provider, replace(request, messages=(user("two"),)))).finished.usage

    assert first.cache_write_tokens > 1000
    assert second.cache_read_tokens == first.cache_write_tokens
    assert second == Usage(second.input_tokens, second.output_tokens, second.cache_read_tokens)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault("messages", "overloaded", retry_after=3), ModelUnavailable),
        (Fault("messages", "rate_limit", retry_after=3), ModelUnavailable),
        (Fault("messages", "server_error"), ModelUnavailable),
        (Fault("messages", "drop_before"), ModelUnavailable),
        (Fault("messages", "drop_after"), ModelUnavailable),
        (Fault("messages", "broken_stream"), ModelUnavailable),
        (Fault("messages", "stream_error"), ModelUnavailable),
    ],
    ids=lambda value: value.kind if isinstance(value, Fault) else "",
)
async def test_temporary_failures_are_unavailable_and_not_retried_here(
    claude: AnthropicSimulator,
    provider: AnthropicProvider,
    fault: Fault,
    error: type[Exception],
) -> None:
    claude.faults.add(fault)

    with pytest.raises(error) as caught:
        await ask(provider, question("Hello"))

    assert len(claude.requests) == (0 if fault.kind == "drop_before" else 1)
    if fault.kind in ("overloaded", "rate_limit"):
        assert isinstance(caught.value, ModelUnavailable)
        assert caught.value.retry_after == 3
    assert (await ask(provider, question("Hello"))).text == "You said: Hello"


@pytest.mark.parametrize("key", ["wrong-key", "disabled-key"])
async def test_a_refused_key_is_an_error_that_does_not_contain_it(
    claude: AnthropicSimulator, key: str
) -> None:
    stranger = AnthropicProvider(key, base_url=claude.base_url)

    with pytest.raises(ModelRefused) as caught:
        await ask(stranger, question("Hello"))

    assert key not in str(caught.value)
    await stranger.close()


async def test_a_token_and_headers_of_a_proxy_are_sent(claude: AnthropicSimulator) -> None:
    headers = {"x-team": "harbour", "anthropic-beta": "some-2026"}
    own = AnthropicProvider(auth_token="test-key", headers=headers, base_url=claude.base_url)

    await ask(own, question("Hello"))

    sent = {name.lower(): value for name, value in claude.requests[0].headers.items()}
    assert sent["authorization"] == "Bearer test-key"
    assert sent["x-team"] == "harbour"
    assert sent["anthropic-beta"] == "some-2026"
    assert sent["accept-encoding"] == "identity"
    await own.close()


async def test_an_error_has_the_status_and_the_name_of_the_request(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    faults = {529: Fault("messages", "overloaded"), 200: Fault("messages", "stream_error")}
    for status, fault in faults.items():
        claude.faults.add(fault)
        with pytest.raises(ModelUnavailable) as caught:
            await ask(provider, question("Hello"))
        assert caught.value.status == status
        assert caught.value.request_id.startswith("req_")


async def test_an_unknown_model_is_refused(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    with pytest.raises(ModelRefused, match="404"):
        await ask(provider, replace(question("Hello"), model="claude-0"))


async def test_a_prompt_that_is_too_long_reports_the_excess(claude: AnthropicSimulator) -> None:
    claude.windows = dict.fromkeys(MODELS, 200)
    provider = AnthropicProvider("test-key", base_url=claude.base_url)

    with pytest.raises(ContextTooLong) as caught:
        await ask(provider, question("word " * 400))

    assert caught.value.limit == 200
    assert caught.value.tokens is not None
    assert caught.value.tokens > 200
    await provider.close()


async def test_an_abandoned_stream_releases_its_connection(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.script("word " * 200)
    async with aclosing(provider.stream(question("Hello"))) as events:  # type: ignore[type-var]  # a generator, behind the port's AsyncIterator
        async for _ in events:
            break

    assert (await ask(provider, question("Hello"))).text == "You said: Hello"


async def test_pieces_that_arrive_together_are_one_event(
    claude: AnthropicSimulator, provider: AnthropicProvider
) -> None:
    claude.script("An answer of several pieces that arrive at once.")
    assert len((await ask(provider, question("Hello"))).pieces) == 1


@pytest.mark.parametrize(
    "answer",
    [
        Answer("Text with ü and 漢字."),
        Answer("Let me add.", (UseTool("add", {"a": 1, "b": "ü"}),), thinking="Hm."),
        Answer("", (UseTool("add", {}), UseTool("add", {"a": 2}))),
    ],
)
async def test_an_answer_reads_as_the_library_reads_it(
    claude: AnthropicSimulator, provider: AnthropicProvider, answer: Answer
) -> None:
    claude.script(answer, answer)
    ours = (await ask(provider, question("Hello", tools=(ADD,)))).finished

    body: Any = {name: value for name, value in claude.bodies[0].items() if name != "stream"}
    library = anthropic.AsyncAnthropic(api_key="test-key", base_url=claude.base_url, max_retries=0)
    async with library, library.messages.stream(**body) as stream:
        theirs = await stream.get_final_message()

    assert ours.stop in ("end", "tool_use")
    assert ours.model == theirs.model
    assert ours.usage.output_tokens == theirs.usage.output_tokens
    assert [_plain(block) for block in ours.message.content] == [
        _as_ours(block.model_dump()) for block in theirs.content
    ]


def results(calls: Sequence[ToolCall], content: str = "3") -> ModelMessage:
    return ModelMessage("user", tuple(ToolOutcome(call.id, content) for call in calls))


def _plain(block: ContentBlock) -> tuple[str, object]:
    match block:
        case TextBlock(text=text):
            return "text", text
        case ToolCall(name=name, arguments=arguments):
            return name, json.loads(arguments)
        case OpaqueBlock(data=data):
            return "thinking", json.loads(data)["thinking"]
        case _:
            raise AssertionError(block)


def _as_ours(block: Mapping[str, Any]) -> tuple[str, object]:
    match block["type"]:
        case "tool_use":
            return block["name"], block["input"]
        case kind:
            return kind, block[kind]
