"""Chat completions, against a simulated server."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.errors import ContextTooLong, ModelRefused, ModelUnavailable
from gateway.immutable import replace
from gateway.llm.openai_compatible import OpenAICompatibleProvider
from gateway.ports import ImageBlock, ModelMessage, TextBlock, ToolOutcome
from simulators.anthropic import Answer, UseTool
from simulators.base import Fault
from simulators.openai import OpenAISimulator
from tests.gateway.llm.asking import ADD, ask, assistant, question


@pytest.fixture
async def provider(compatible: OpenAISimulator) -> AsyncIterator[OpenAICompatibleProvider]:
    made = OpenAICompatibleProvider("test-key", "gpt-test", compatible.base_url)
    yield made
    await made.close()


async def test_an_answer_is_streamed_and_then_complete(
    compatible: OpenAISimulator, provider: OpenAICompatibleProvider
) -> None:
    compatible.script(text := "An answer of several pieces, with ü and 漢字 and 🎈 in it.")

    heard = await ask(provider, question("Hello", assistant("Hi."), "Again"))

    assert heard.text == text
    assert heard.finished.message == assistant(text)
    assert heard.finished.stop == "end"
    assert heard.finished.usage.input_tokens > 0
    assert [message["role"] for message in compatible.bodies[0]["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
    ]


async def test_tools_are_offered_called_and_answered(
    compatible: OpenAISimulator, provider: OpenAICompatibleProvider
) -> None:
    compatible.script(Answer("Adding.", (UseTool("add", {"a": 1}), UseTool("add", {"a": 2}))))
    request = question("Add", tools=(ADD,))
    first = await ask(provider, request)
    outcomes = tuple(ToolOutcome(call.id, "no", is_error=True) for call in first.calls)
    messages = (*request.messages, first.finished.message, ModelMessage("user", outcomes))

    second = await ask(provider, replace(request, messages=messages, tool_choice="none"))

    assert first.finished.stop == "tool_use"
    assert [call.arguments for call in first.calls] == ['{"a": 1}', '{"a": 2}']
    assert second.text == "You said: Error: no"
    assert compatible.bodies[1]["tool_choice"] == "none"


async def test_pictures_are_sent_as_data(
    compatible: OpenAISimulator, provider: OpenAICompatibleProvider
) -> None:
    picture = ModelMessage("user", (ImageBlock("image/png", b"png"), TextBlock("What is it?")))

    await ask(provider, question(picture))

    url = compatible.bodies[0]["messages"][1]["content"][0]["image_url"]["url"]
    assert url == "data:image/png;base64,cG5n"


@pytest.mark.parametrize(
    "kind",
    ["rate_limit", "server_error", "overloaded", "drop_before", "drop_after", "broken_stream"],
)
async def test_temporary_failures_are_unavailable(
    compatible: OpenAISimulator, provider: OpenAICompatibleProvider, kind: Any
) -> None:
    compatible.faults.add(Fault("*", kind, retry_after=4))

    with pytest.raises(ModelUnavailable) as caught:
        await ask(provider, question("Hello"))

    assert caught.value.retry_after == (4 if kind == "rate_limit" else None)


async def test_a_wrong_key_and_an_unknown_model_are_refused(compatible: OpenAISimulator) -> None:
    for key, model in (("wrong", "gpt-test"), ("test-key", "unknown")):
        stranger = OpenAICompatibleProvider(key, model, compatible.base_url)
        with pytest.raises(ModelRefused):
            await ask(stranger, question("Hello"))
        await stranger.close()


async def test_a_prompt_that_is_too_long_reports_the_excess(
    compatible: OpenAISimulator, provider: OpenAICompatibleProvider
) -> None:
    compatible.window = 100

    with pytest.raises(ContextTooLong) as caught:
        await ask(provider, question("word " * 400))

    assert caught.value.limit == 100
    assert caught.value.tokens is not None
    assert caught.value.tokens > 100


async def test_other_servers_receive_the_older_name_of_the_length(
    compatible: OpenAISimulator, provider: OpenAICompatibleProvider
) -> None:
    await ask(provider, question("Hello"))

    assert compatible.bodies[0]["max_tokens"] == 500
