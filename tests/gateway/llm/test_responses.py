"""The Responses API, against a simulated service that OpenAI's own library reads."""

import json
from collections.abc import AsyncIterator

import openai
import pytest

from gateway.errors import ContextTooLong, ModelRefused, ModelUnavailable
from gateway.immutable import replace
from gateway.llm.responses import ResponsesProvider
from gateway.llm.streamed_call import ServiceError
from gateway.ports import (
    ImageBlock,
    ModelMessage,
    ModelRequest,
    OpaqueBlock,
    TextBlock,
    ToolOutcome,
    Working,
)
from simulators.anthropic import Answer, UseTool
from simulators.base import Fault, FaultKind
from simulators.openai import OpenAISimulator
from tests.gateway.llm.asking import ADD, Heard, ask, assistant, question

ADDING = Answer("Adding.", (UseTool("add", {"a": 1}), UseTool("add", {"a": 2})), thinking="Sums.")


@pytest.fixture
async def provider(compatible: OpenAISimulator) -> AsyncIterator[ResponsesProvider]:
    made = ResponsesProvider("test-key", "gpt-test", compatible.base_url)
    yield made
    await made.close()


def answered(request: ModelRequest, heard: Heard) -> ModelRequest:
    """The request after the calls of an answer, each with the result "3"."""
    outcomes = tuple(ToolOutcome(call.id, "3") for call in heard.calls)
    messages = (*request.messages, heard.finished.message, ModelMessage("user", outcomes))
    return replace(request, messages=messages)


async def test_the_simulated_service_is_read_by_openais_library(
    compatible: OpenAISimulator,
) -> None:
    compatible.script(ADDING)
    async with openai.AsyncOpenAI(api_key="test-key", base_url=compatible.base_url) as library:
        stream = await library.responses.create(
            model="gpt-test", input=[{"role": "user", "content": "1 and 2"}], stream=True
        )
        events = [event async for event in stream]

    last = events[-1]
    assert last.type == "response.completed"
    assert last.response.output_text == "Adding."
    assert [item.type for item in last.response.output] == [
        "reasoning",
        "message",
        "function_call",
        "function_call",
    ]


async def test_an_answer_is_streamed_and_then_complete(
    compatible: OpenAISimulator, provider: ResponsesProvider
) -> None:
    compatible.script(text := "An answer of several pieces, with ü and 漢字 and 🎈 in it.")
    request = question("Hello", assistant("Hi."), "Again")

    heard = await ask(provider, request)

    assert heard.text == text
    assert TextBlock(text) in heard.finished.message.content
    assert (heard.finished.stop, heard.finished.reasoned) == ("end", False)
    assert heard.finished.usage.input_tokens > 0
    body = compatible.bodies[0]
    assert body["instructions"] == request.whole_system
    assert body["store"] is False
    assert [item["role"] for item in body["input"]] == ["user", "assistant", "user"]


async def test_reasoning_and_phase_go_back_with_the_calls_of_the_turn(
    compatible: OpenAISimulator, provider: ResponsesProvider
) -> None:
    compatible.script(ADDING, "3 and 3.")
    request = question("Add", tools=(ADD,))

    first = await ask(provider, request)
    second = await ask(provider, answered(request, first))

    assert (first.finished.stop, first.finished.reasoned) == ("tool_use", True)
    assert [call.arguments for call in first.calls] == ['{"a": 1}', '{"a": 2}']
    assert second.text == "3 and 3."
    kinds = [item.get("type") or item["role"] for item in compatible.bodies[1]["input"]]
    assert kinds == [
        "user",
        "reasoning",
        "assistant",
        "function_call",
        "function_call",
        "function_call_output",
        "function_call_output",
    ]
    reasoning, said = compatible.bodies[1]["input"][1:3]
    assert reasoning["encrypted_content"] == "encrypted:Sums."
    assert said["phase"] == "commentary"


async def test_reasoning_of_another_service_or_model_is_not_sent(
    compatible: OpenAISimulator, provider: ResponsesProvider
) -> None:
    compatible.script(ADDING, "3.")
    request = question("Add", tools=(ADD,))
    first = await ask(provider, request)
    foreign = [
        OpaqueBlock(f"https://example.com/v1 {block.maker.rpartition(' ')[2]}", block.data)
        if isinstance(block, OpaqueBlock)
        else block
        for block in first.finished.message.content
    ]
    message = replace(first.finished.message, content=tuple(foreign))
    outcomes = tuple(ToolOutcome(call.id, "3") for call in first.calls)

    await ask(
        provider,
        replace(request, messages=(*request.messages, message, ModelMessage("user", outcomes))),
    )

    assert "reasoning" not in json.dumps(compatible.bodies[1]["input"])


async def test_work_without_text_is_reported(
    compatible: OpenAISimulator, provider: ResponsesProvider
) -> None:
    compatible.script(Answer(tools=(UseTool("add", {"a": 1}),), thinking="Sums."))

    events = [event async for event in provider.stream(question("Add", tools=(ADD,)))]

    assert Working() in events


async def test_pictures_and_results_are_sent(
    compatible: OpenAISimulator, provider: ResponsesProvider
) -> None:
    message = ModelMessage("user", (ImageBlock("image/png", b"png"), TextBlock("What is it?")))

    await ask(provider, question(message))

    picture, text = compatible.bodies[0]["input"][0]["content"]
    assert picture == {
        "type": "input_image",
        "image_url": "data:image/png;base64,cG5n",
        "detail": "auto",
    }
    assert text == {"type": "input_text", "text": "What is it?"}


@pytest.mark.parametrize(("stop", "ends"), [("max_tokens", "max_tokens"), ("refusal", "filtered")])
async def test_an_incomplete_answer_says_why(
    compatible: OpenAISimulator, provider: ResponsesProvider, stop: str, ends: str
) -> None:
    compatible.script(Answer("First you take", stop=stop))  # type: ignore[arg-type]  # of the table

    heard = await ask(provider, question("How?"))

    assert (heard.text, heard.finished.stop) == ("First you take", ends)


async def test_an_interrupted_answer_and_one_that_fails_are_repeatable(
    compatible: OpenAISimulator, provider: ResponsesProvider
) -> None:
    kinds: tuple[FaultKind, ...] = ("broken_stream", "stream_error")
    for kind in kinds:
        compatible.faults.add(Fault("responses", kind))
        with pytest.raises(ModelUnavailable):
            await ask(provider, question("Hello"))


async def test_errors_have_their_status(
    compatible: OpenAISimulator, provider: ResponsesProvider
) -> None:
    with pytest.raises(ModelRefused) as refused:
        await ask(provider, replace(question("Hello"), model="gpt-unknown"))
    compatible.window = 5
    with pytest.raises(ContextTooLong) as too_long:
        await ask(provider, question("Hello " * 100))

    assert (refused.value.status, too_long.value.status) == (404, 400)


@pytest.mark.parametrize(
    ("code", "stop"),
    [
        ("invalid_prompt", "filtered"),
        ("image_content_policy_violation", "filtered"),
        ("server_error", None),
        (None, None),
    ],
)
def test_a_request_that_a_content_policy_refuses_is_an_answer(
    code: str | None, stop: str | None
) -> None:
    provider = ResponsesProvider("test-key", "gpt-test")
    error = ServiceError(200, {"error": {"code": code, "message": "m"}})

    finished = provider.call(question("Hello"), "gpt-test").ends(error)

    assert (finished.stop if finished else None) == stop
