"""The services accept every conversation, and every response is parsed."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import ModelUnavailable
from gateway.llm.anthropic.answer import AnthropicReader
from gateway.llm.anthropic.request import to_body as anthropic_body
from gateway.llm.chat_completions.limits import ServerLimits
from gateway.llm.chat_completions.request import to_body
from gateway.llm.json_text import parse_object, sendable
from gateway.llm.streamed_call import body_json
from gateway.ports import (
    ContentBlock,
    ModelMessage,
    ModelRequest,
    OpaqueBlock,
    TextBlock,
    ToolCall,
    ToolOutcome,
)
from simulators.anthropic.answers import Answer, UseTool
from simulators.anthropic.checks import check_request
from simulators.anthropic.wire import blocks_of, events
from tests.gateway.llm.asking import ADD, user

TEXT = st.text(st.characters(codec=None), max_size=60)
ARGUMENTS = st.one_of(TEXT, st.dictionaries(TEXT, TEXT, max_size=3).map(json.dumps))


@st.composite
def conversations(draw: st.DrawFn) -> tuple[ModelMessage, ...]:
    """Questions with answers, some with a round of tools, in any words."""
    messages: list[ModelMessage] = []
    for number in range(draw(st.integers(0, 4))):
        messages.append(ModelMessage("user", (TextBlock(draw(TEXT)),)))
        if draw(st.booleans()):
            calls = [f"t{number}_{i}" for i in range(draw(st.integers(1, 3)))]
            replies: list[ContentBlock] = [OpaqueBlock("m", draw(ARGUMENTS)), TextBlock(draw(TEXT))]
            made = [ToolCall(call, "add", draw(ARGUMENTS)) for call in calls]
            messages.append(ModelMessage("assistant", (*replies, *made)))
            done = [ToolOutcome(call, draw(TEXT), draw(st.booleans())) for call in calls]
            messages.append(ModelMessage("user", (TextBlock(draw(TEXT)), *done)))
        messages.append(ModelMessage("assistant", (TextBlock(draw(TEXT)),)))
    messages.append(user(draw(TEXT)))
    return tuple(messages)


@given(conversations(), TEXT, st.sampled_from(["auto", "none"]))
def test_every_conversation_becomes_a_valid_anthropic_request(
    messages: tuple[ModelMessage, ...], system: str, choice: Any
) -> None:
    request = ModelRequest(system, messages, (ADD,), tool_choice=choice)

    body = anthropic_body(request, "another-model")

    check_request(json.loads(body_json(body)))


@given(conversations(), TEXT)
def test_every_conversation_becomes_a_valid_openai_request(
    messages: tuple[ModelMessage, ...], system: str
) -> None:
    body = to_body(
        ModelRequest(system, messages, (ADD,)), "m", ServerLimits(), "here m", "max_tokens"
    )

    open_calls: list[str] = []
    for message in json.loads(body_json(body))["messages"]:
        if message["role"] == "tool":
            open_calls.remove(message["tool_call_id"])
        else:
            assert not open_calls
            open_calls = [call["id"] for call in message.get("tool_calls", ())]
            assert message["content"] or open_calls


@given(
    st.text(max_size=200),
    st.text(max_size=50),
    st.lists(st.dictionaries(st.text(max_size=9), st.text(max_size=30), max_size=3), max_size=3),
)
def test_a_stream_is_read_completely(
    text: str, thinking: str, arguments: list[dict[str, str]]
) -> None:
    answer = Answer(text, tuple(UseTool("add", each) for each in arguments), thinking=thinking)
    message = {"model": "m", "stop_reason": answer.stop_reason, "usage": {"output_tokens": 7}}
    reader = AnthropicReader("m")

    pieces = [
        reader.feed(data)
        for _, data in events(message, blocks_of(answer, iter(range(9)), "signed"))
    ]
    content = reader.finish().message.content

    assert "".join(pieces) == text
    assert [b.text for b in content if isinstance(b, TextBlock)] == ([text] if text else [])
    assert [json.loads(b.arguments) for b in content if isinstance(b, ToolCall)] == arguments
    assert [json.loads(b.data) for b in content if isinstance(b, OpaqueBlock)] == (
        [{"type": "thinking", "thinking": thinking, "signature": "signed"}] if thinking else []
    )


@pytest.mark.parametrize("kept", [0, 1, 3])
def test_a_stream_without_its_end_is_not_an_answer(kept: int) -> None:
    message = {"model": "m", "stop_reason": "end_turn", "usage": {"output_tokens": 7}}
    whole = list(events(message, blocks_of(Answer("Hello."), iter(range(9)), "")))
    reader = AnthropicReader("m")
    for _, data in whole[:kept]:
        reader.feed(data)

    with pytest.raises(ModelUnavailable):
        reader.finish()


def test_unknown_events_are_ignored() -> None:
    reader = AnthropicReader("m")

    assert reader.feed({"type": "weather"}) == ""
    assert (
        reader.feed(
            {
                "type": "content_block_delta",
                "index": 7,
                "delta": {"type": "text_delta", "text": "x"},
            }
        )
        == ""
    )


@pytest.mark.parametrize("text", ["[1]", "1", "{", '{"a": NaN}', "[" * 100_000, "null"])
def test_a_payload_that_is_not_an_object_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        parse_object(text)


@given(TEXT)
def test_any_value_becomes_valid_json_and_stays_unchanged_then(text: str) -> None:
    value = {"words": [text, (text,)], f"{text}?": 1, "none": None}

    safe = sendable(value)

    json.dumps(safe, ensure_ascii=False).encode("utf-8")
    assert sendable(safe) == safe
    assert len(safe["words"][0]) == len(text)


def test_an_answer_with_undocumented_types_is_not_an_answer() -> None:
    claude = AnthropicReader("m")
    for index in ("0", 1):
        block = {"type": "content_block_start", "index": index, "content_block": {"type": "text"}}
        claude.feed(block)
    claude.feed({"type": "message_stop"})
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        claude.finish()
