"""Claude, by the Messages API."""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from msgspec import Struct

from gateway.errors import ContextTooLong, ModelError, ModelRefused, ModelUnavailable
from gateway.llm.anthropic_cache import mark_last, marks_for
from gateway.llm.event_stream import ServerSentEvent
from gateway.llm.json_text import parse_object
from gateway.llm.streamed_call import (
    MAX_REASON,
    ServiceError,
    StreamingProvider,
    read_object,
    retry_after,
    with_headers_of,
)
from gateway.ports import (
    ContentBlock,
    ImageBlock,
    ModelFinished,
    ModelMessage,
    ModelRequest,
    OpaqueBlock,
    StopReason,
    TextBlock,
    ToolCall,
    ToolOutcome,
    ToolSpec,
    Usage,
)

DEFAULT_MODEL: Final = "claude-sonnet-5-5"
DEFAULT_BASE_URL: Final = "https://api.anthropic.com"
API_VERSION: Final = "2026-10-21"
"""The version of the API that this module writes and reads."""
SILENCE_SECONDS: Final = 60.0
"""Maximum time without data within an answer; the service sends pings while it works."""
REST_SECONDS: Final = 0.2
"""Seconds to wait for the end of a stream whose answer is complete."""
_TOO_LONG: Final = re.compile(r"(?<!\d)(\d{1,12}) tokens > (\d{1,12}) maximum")
_PASSING: Final = frozenset({"overloaded_error", "api_error", "rate_limit_error", "timeout_error"})
MAX_ARGUMENTS: Final = 200_000
"""Characters of one call's arguments; the rest is dropped."""

_STOPS: Final[Mapping[str | None, StopReason]] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
}


def _error_parts(body: object, otherwise: str) -> tuple[str, str]:
    """Return type and message of the error in a response body."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return "", otherwise
    return str(error.get("type") or ""), str(error.get("message") or otherwise)


def to_body(request: ModelRequest, model: str) -> dict[str, Any]:
    """Return the JSON body with at most four cache marks, each behind a part that is more stable
    than the next: the tools, the system prompt, the history, and, while tools run, the last
    message. Parts too short for this model's cache get no mark."""
    each = list(_messages(request.messages, model))
    messages = [message for message in each if message is not None]
    tools = [_tool(tool) for tool in request.tools]
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": request.max_tokens,
        "messages": messages,
    }
    if tools:
        body["tools"] = tools
        if request.tool_choice == "none":
            body["tool_choice"] = {"type": "none"}
    settled = sum(1 for message in each[: request.settled] if message is not None)
    marks = marks_for(request, model, messages, settled)
    if system := _system(request, marked=marks.system):
        body["system"] = system
    if marks.tools:
        mark_last(tools)
    for place in marks.messages:
        mark_last(messages[place]["content"])
    return body


def _system(request: ModelRequest, *, marked: bool) -> str | list[dict[str, Any]]:
    """Return the system prompt as one text, or with a mark between its stable and volatile part."""
    if not (marked and request.system.strip()):
        return request.whole_system
    parts: list[dict[str, Any]] = [{"type": "text", "text": request.system}]
    mark_last(parts)
    if request.system_volatile.strip():
        parts.append({"type": "text", "text": request.system_volatile})
    return parts


def _tool(tool: ToolSpec) -> dict[str, object]:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": dict(tool.schema),
    }


def _messages(messages: tuple[ModelMessage, ...], model: str) -> Iterator[dict[str, Any] | None]:
    """Yield each message, or None for one that is not sent."""
    begun = False
    for message in messages:
        content = [block for block in map(_Writer(model).block, message.content) if block]
        if message.role == "user":
            content.sort(key=lambda block: block["type"] != "tool_result")  # results come first
            content = content or [{"type": "text", "text": "(nothing)"}]
            begun = True
        yield {"role": message.role, "content": content} if content and begun else None


class _Writer(Struct, frozen=True):
    model: str

    def block(self, block: ContentBlock) -> dict[str, Any] | None:
        match block:
            case TextBlock(text=text):
                return {"type": "text", "text": text} if text.strip() else None
            case ImageBlock(mime=mime, data=data):
                encoded = base64.b64encode(data).decode("ascii")
                source = {"type": "base64", "media_type": mime, "data": encoded}
                return {"type": "image", "source": source}
            case ToolCall(id=call_id, name=name, arguments=arguments):
                arguments_read = _object(arguments)
                return {"type": "tool_use", "id": call_id, "name": name, "input": arguments_read}
            case ToolOutcome(call_id=call_id, content=content, is_error=is_error):
                outcome: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id}
                outcome["content"] = content if content.strip() else "(no output)"
                if is_error:
                    outcome["is_error"] = True
                return outcome
            case OpaqueBlock(maker=maker, data=data):
                return _object(data) if maker == self.model else None


def _object(text: str) -> dict[str, Any]:
    """Parse a JSON object; `{}` for anything else."""
    try:
        return parse_object(text)
    except ValueError:
        return {}


@dataclass(slots=True)
class _Open:
    """A block that is being streamed."""

    kind: str
    first: Mapping[str, Any]
    pieces: list[str] = field(default_factory=list)
    signature: str = ""
    size: int = 0

    def add(self, piece: str) -> str:
        """Add a piece and return it."""
        self.size += len(piece)
        if self.kind != "tool_use" or self.size <= MAX_ARGUMENTS:
            self.pieces.append(piece)
        return piece


class AnthropicReader:
    """Assembles an answer of the Messages API; `model` is the requested one."""

    def __init__(self, model: str) -> None:
        self._requested_model = model
        self._model = model
        self._blocks: dict[int, _Open] = {}
        self._usage = Usage()
        self._stop: str | None = None
        self.rest_seconds: float | None = None
        self.working = False

    def feed(self, event: Mapping[str, Any]) -> str:
        match event["type"]:
            case "message_start":
                self._model = event["message"].get("model") or self._requested_model
                self._usage = _usage(event["message"].get("usage") or {}, self._usage)
            case "content_block_start":
                block = event["content_block"]
                self._blocks[event["index"]] = opened = _Open(block["type"], block)
                return opened.add(str(block.get("text") or ""))
            case "content_block_delta":
                return self._delta(event["index"], event["delta"])
            case "message_delta":
                self._stop = event["delta"].get("stop_reason") or self._stop
                self._usage = _usage(event.get("usage") or {}, self._usage)
            case "message_stop":
                self.rest_seconds = REST_SECONDS
            case _:
                pass  # clients are to ignore unknown events
        return ""

    def finish(self) -> ModelFinished:
        if self.rest_seconds is None:
            raise ModelUnavailable("the answer was interrupted")
        try:
            return self._finished()
        except (LookupError, TypeError, ValueError) as error:
            raise ModelUnavailable("the answer cannot be read") from error

    def _finished(self) -> ModelFinished:
        blocks = (self._written(self._blocks[index]) for index in sorted(self._blocks))
        content = tuple(block for block in blocks if block is not None)
        stop = _STOPS.get(self._stop, "other")
        return ModelFinished(ModelMessage("assistant", content), stop, self._usage, self._model)

    def _delta(self, index: int, delta: Mapping[str, Any]) -> str:
        block = self._blocks.get(index)
        if block is None:
            return ""
        self.working = True
        match delta["type"]:
            case "text_delta":
                return block.add(str(delta["text"]))
            case "input_json_delta":
                block.add(str(delta["partial_json"]))
            case "thinking_delta":
                block.add(str(delta["thinking"]))
            case "signature_delta":
                block.signature += str(delta["signature"])
            case _:
                pass
        return ""

    def _written(self, block: _Open) -> ContentBlock | None:
        text = "".join(block.pieces)
        match block.kind:
            case "text":
                return TextBlock(text) if text else None
            case "tool_use":
                arguments = text or json.dumps(block.first.get("input") or {})
                return ToolCall(str(block.first["id"]), str(block.first["name"]), arguments)
            case "thinking":
                whole = {"type": "thinking", "thinking": text, "signature": block.signature}
                return OpaqueBlock(self._requested_model, json.dumps(whole))
            case "redacted_thinking":
                return OpaqueBlock(self._requested_model, json.dumps(dict(block.first)))
            case _:
                return None


def _usage(figures: Mapping[str, Any], before: Usage) -> Usage:
    """Read the totals so far; a missing figure keeps its previous value."""

    def figure(name: str, otherwise: int) -> int:
        value = figures.get(name)
        return value if isinstance(value, int) else otherwise

    return Usage(
        figure("input_tokens", before.input_tokens),
        figure("output_tokens", before.output_tokens),
        figure("cache_read_input_tokens", before.cache_read_tokens),
        figure("cache_creation_input_tokens", before.cache_write_tokens),
    )


def headers(api_key: str) -> Mapping[str, str]:
    """Return the key, the version, and the headers of `ANTHROPIC_CUSTOM_HEADERS`."""
    own = {"Authorization": f"Bearer {api_key}", "anthropic-version": API_VERSION}
    return with_headers_of("ANTHROPIC_CUSTOM_HEADERS", own)


class AnthropicProvider(StreamingProvider):
    """The Messages API."""

    name = "anthropic"
    path = "v1/messages"

    def __init__(
        self,
        api_key: str,
        model: str = DEFAULT_MODEL,
        base_url: str = DEFAULT_BASE_URL,
        *,
        silence_seconds: float = SILENCE_SECONDS,
    ) -> None:
        model, base_url = model or DEFAULT_MODEL, base_url or DEFAULT_BASE_URL
        super().__init__(headers(api_key), model, base_url, silence_seconds, to_body)

    def reader(self, request: ModelRequest, model: str) -> AnthropicReader:
        return AnthropicReader(model)

    def event_of(self, event: ServerSentEvent) -> Mapping[str, Any] | None:
        if event.name == b"ping":
            return None
        content = read_object(event.data)
        if event.name == b"error":
            raise ServiceError(200, content)
        return content

    def translate(self, error: Exception) -> ModelError:
        if not isinstance(error, ServiceError):
            # No connection, a time-out, or an answer that breaks off or cannot be read.
            return ModelUnavailable(f"no answer from Anthropic: {type(error).__name__}")
        kind, message = _error_parts(error.body, str(error))
        reason = f"Anthropic says {error.status} {kind}: {message}"[:MAX_REASON]
        if error.status == 413 or "prompt is too long" in message:
            figures = _TOO_LONG.search(message)
            tokens, limit = map(int, figures.groups()) if figures else (None, None)
            return ContextTooLong(reason, tokens, limit)
        if error.status in (408, 409, 429) or error.status >= 500 or kind in _PASSING:
            return ModelUnavailable(reason, retry_after(error.retry_after))
        return ModelRefused(reason)
