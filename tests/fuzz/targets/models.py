"""What models and their servers send: answers, events and errors."""

from typing import Any, Final

from msgspec.structs import astuple

from gateway.errors import ContextTooLong, ModelError
from gateway.llm.anthropic.answer import AnthropicReader
from gateway.llm.chat_completions.reader import CompletionsReader
from gateway.llm.chat_completions.refusal import refusal_of
from gateway.llm.event_stream import AnswerBody, EventTooLong, ServerSentEvent
from gateway.llm.model_health import MAX_MESSAGE, message_of
from gateway.llm.openai_compatible import OpenAICompatibleProvider, translated
from gateway.llm.overflow import LARGEST
from gateway.llm.responses import ResponsesReader
from gateway.llm.served_window import LARGEST_WINDOW, window_of
from gateway.llm.streamed_call import MAX_FIGURE, MAX_MODEL, AnswerReader, ServiceError
from gateway.ports import ModelRequest, ToolSpec
from simulators.anthropic.answers import Answer, UseTool
from simulators.anthropic.wire import blocks_of, events
from tests.fuzz.target import Target, on_json

KEY: Final = "secret-of-the-configuration"
PIECES: Final = (1, 7, 64, 4_096)
"""Bytes that arrive together."""
ASKED: Final = ModelRequest("", (), (ToolSpec("add", "Adds", {}),))
CHUNKS: Final = [
    {"model": "m", "choices": [{"delta": {"content": "Hi"}, "finish_reason": None}]},
    {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c", "function":
        {"name": "add", "arguments": "{}"}}]}, "finish_reason": "tool_calls"}]},
    {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}},
]  # fmt: skip
RESPONSES: Final = [
    {"type": "response.output_text.delta", "output_index": 0, "delta": "Hi"},
    {"type": "response.output_item.done", "output_index": 1, "item":
        {"type": "function_call", "call_id": "c", "name": "add", "arguments": "{}"}},
    {"type": "response.output_item.done", "output_index": 2, "item": {"type": "reasoning"}},
    {"type": "response.completed", "response": {"status": "incomplete", "model": "m",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}],
        "usage": {"input_tokens": 3, "input_tokens_details": {"cached_tokens": 1},
                  "output_tokens": 4, "output_tokens_details": {"reasoning_tokens": 2}}}},
]  # fmt: skip
ERRORS: Final = (
    {"error": {"code": 400, "message": "request (6022 tokens) exceeds the available context size "
               "(2048 tokens), try increasing it", "type": "exceed_context_size_error",
               "n_prompt_tokens": 6022, "n_ctx": 2048}},
    {"error": {"message": "This model's maximum context length is 4097 tokens. However, you "
               "requested 5,000 tokens (4000 in the messages, 1000 in the completion).",
               "code": "context_length_exceeded", "param": "messages", "type": "invalid"}},
    {"type": "error", "error": {"type": "invalid_request_error",
     "message": "prompt is too long: 210000 tokens > 200000 maximum"}},
    {"detail": [{"loc": ["body", "messages", 0, "content"], "msg": "expected a string"}]},
    {"error": {"message": '{"error": {"message": "input is too long"}}', "status": "413"}},
)  # fmt: skip


def _streamed(said: Any, reader: AnswerReader) -> None:
    """The provider converts every error of `feed` to `ModelUnavailable`; `finish` raises only
    that. Counts and names are bounded."""
    try:
        for event in said if isinstance(said, list) else ():
            reader.feed(event)
    except Exception:  # noqa: BLE001 - as the provider does
        return
    try:
        finished = reader.finish()
    except ModelError:
        return
    assert all(0 <= count <= MAX_FIGURE for count in astuple(finished.usage)), finished.usage
    assert len(finished.model) <= MAX_MODEL
    assert finished.model.isprintable()


def _anthropic(value: Any) -> None:
    _streamed(value, AnthropicReader("m"))


def _openai(value: Any) -> None:
    _streamed(value, CompletionsReader("m", ASKED))


def _responses(value: Any) -> None:
    _streamed(value, ResponsesReader("m", "s m"))


def _body(data: bytes) -> None:
    """A body gives the same events in pieces of any size, and ends."""
    seen: list[list[ServerSentEvent]] = []
    for size in PIECES:
        body = AnswerBody()
        events_of_body: list[ServerSentEvent] = []
        try:
            for start in range(0, len(data), size):
                events_of_body += body.feed(data[start : start + size])
            events_of_body += body.end()
        except EventTooLong:
            return
        seen.append(events_of_body)
    assert all(each == seen[0] for each in seen), seen


def _error(value: Any) -> None:
    """Any body with any status is an error of one bounded line; figures are sizes."""
    provider = OpenAICompatibleProvider("k", "m", "http://127.0.0.1/v1")
    for status in (200, 400, 413, 429, 500):
        for error in (translated(ServiceError(status, value)), provider.translate(
            ServiceError(status, value, "nan", "x")
        )):  # fmt: skip
            text = message_of(error, [KEY])
            assert len(text) <= MAX_MESSAGE
            assert text.isprintable()
            if isinstance(error, ContextTooLong):
                sizes = (error.tokens, error.limit, error.excess)
                assert all(size is None or 0 < size <= LARGEST for size in sizes), sizes
        assert len(refusal_of(status, value).words) <= 4_000


def _window(value: Any) -> None:
    if isinstance(value, dict):
        assert 0 <= window_of(value) <= LARGEST_WINDOW


TARGETS: Final[tuple[Target, ...]] = (
    on_json("anthropic-stream", _anthropic, [
        {**event[1]} for event in events(
            {"id": "m", "model": "m", "stop_reason": "tool_use",
             "usage": {"input_tokens": 1, "output_tokens": 1}},
            blocks_of(Answer("Hi", (UseTool("add", {"a": 1}),)), iter(range(9)), "s"),
        )
    ]),
    on_json("openai-stream", _openai, CHUNKS),
    on_json("responses-stream", _responses, RESPONSES),
    Target("answer-body", _body, (b'data: {"a": 1}\n\ndata: [DONE]\n\n', b'{"a": 1}\n{"b": 2}\n',
                                  b'{\n"a": 1\n}', b"event: error\r\ndata: x\r\n\r\n")),
    on_json("model-error", _error, *ERRORS),
    on_json("model-window", _window, {"id": "m", "meta": {"n_ctx": 4096, "n_ctx_train": 8192}}),
)  # fmt: skip
