"""Any service with OpenAI's chat completions: OpenAI, vLLM, Ollama, LM Studio, proxies."""

import base64
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from gateway.errors import ContextTooLong, ModelError, ModelRefused, ModelUnavailable
from gateway.llm.event_stream import ServerSentEvent
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
    StopReason,
    TextBlock,
    ToolCall,
    ToolOutcome,
    Usage,
)

DEFAULT_BASE_URL: Final = "https://api.openai.com/v1"
SILENCE_SECONDS: Final = 120.0
"""Longer than Anthropic's: local servers load a model first and send no pings."""
_FIGURES: Final = re.compile(
    r"maximum context length is (\d{1,12})(?!\d).{0,200}?(?<!\d)(\d{1,12})\s{0,4}tokens", re.DOTALL
)
MAX_CALLS: Final = 64
_OF_ACCOUNT: Final = {
    "OpenAI-Organization": "OPENAI_ORG_ID",
    "OpenAI-Project": "OPENAI_PROJECT_ID",
}
_DONE: Final = b"[DONE]"
MAX_ARGUMENTS: Final = 200_000
_STOPS: Final[Mapping[str | None, StopReason]] = {
    "stop": "end",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}


def to_body(request: ModelRequest, model: str, length_field: str) -> dict[str, Any]:
    """Return the JSON body. `length_field` is `max_completion_tokens` at OpenAI, `max_tokens` at
    most others."""
    messages: list[dict[str, Any]] = []
    if system := request.whole_system:
        messages.append({"role": "system", "content": system})
    for message in request.messages:
        messages.extend(_user(message) if message.role == "user" else _assistant(message))
    body: dict[str, Any] = {
        "model": model,
        "messages": messages,
        length_field: request.max_tokens,
        "stream_options": {"include_usage": True},
    }
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.schema),
                },
            }
            for tool in request.tools
        ]
        if request.tool_choice == "none":
            body["tool_choice"] = "none"
    return body


def _user(message: ModelMessage) -> Iterator[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for block in message.content:
        if isinstance(block, ToolOutcome):
            text = block.content if block.content.strip() else "(no output)"
            content = f"Error: {text}" if block.is_error else text
            yield {"role": "tool", "tool_call_id": block.call_id, "content": content}
        elif isinstance(block, TextBlock) and block.text.strip():
            parts.append({"type": "text", "text": block.text})
        elif isinstance(block, ImageBlock):
            url = f"data:{block.mime};base64,{base64.b64encode(block.data).decode('ascii')}"
            parts.append({"type": "image_url", "image_url": {"url": url}})
    if len(parts) == 1 and parts[0]["type"] == "text":
        yield {"role": "user", "content": parts[0]["text"]}  # some servers read texts only
    elif parts:
        yield {"role": "user", "content": parts}


def _assistant(message: ModelMessage) -> Iterator[dict[str, Any]]:
    text = "\n\n".join(b.text for b in message.content if isinstance(b, TextBlock) and b.text)
    calls = [
        {
            "id": block.id,
            "type": "function",
            "function": {"name": block.name, "arguments": block.arguments},
        }
        for block in message.content
        if isinstance(block, ToolCall)
    ]
    if calls:
        yield {"role": "assistant", "content": text or None, "tool_calls": calls}
    elif text:
        yield {"role": "assistant", "content": text}


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    size: int = 0


class CompletionsReader:
    """Assembles an answer of the chat completions API."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._text: list[str] = []
        self._calls: dict[int, _Call] = {}
        self._usage = Usage()
        self._finish: str | None = None
        self.rest_seconds: float | None = None
        self.working = False

    def feed(self, event: Mapping[str, Any]) -> str:
        self._model = str(event.get("model") or self._model)
        if event.get("usage"):
            self._usage = _usage(event["usage"])
        added = ""
        for choice in (event.get("choices") or ())[:1]:
            self._finish = choice.get("finish_reason") or self._finish
            delta = choice.get("delta") or {}
            added = str(delta.get("content") or delta.get("refusal") or "")
            for piece in delta.get("tool_calls") or ():
                self._add_call(piece)
        if added:
            self._text.append(added)
        return added

    def finish(self) -> ModelFinished:
        if self._finish is None:
            raise ModelUnavailable("the answer was interrupted")
        try:
            return self._finished()
        except (LookupError, TypeError, ValueError) as error:
            raise ModelUnavailable("the answer cannot be read") from error

    def _finished(self) -> ModelFinished:
        blocks: list[ContentBlock] = []
        if self._text:
            blocks.append(TextBlock("".join(self._text)))
        for index in sorted(self._calls):
            call = self._calls[index]
            name, arguments = call.name, "".join(call.pieces)
            blocks.append(ToolCall(call.id or f"call_{index}", name, arguments or "{}"))
        stop = "tool_use" if self._calls else _STOPS.get(self._finish, "other")
        message = ModelMessage("assistant", tuple(blocks))
        return ModelFinished(message, stop, self._usage, self._model)

    def _add_call(self, piece: Mapping[str, Any]) -> None:
        index = int(piece.get("index") or 0)
        if index not in self._calls and len(self._calls) >= MAX_CALLS:
            return
        call = self._calls.setdefault(index, _Call())
        function = piece.get("function") or {}
        call.id = str(piece.get("id") or call.id)
        call.name = str(function.get("name") or call.name)
        arguments = str(function.get("arguments") or "")
        call.size += len(arguments)
        if call.size <= MAX_ARGUMENTS:
            call.pieces.append(arguments)


def _usage(figures: Mapping[str, Any]) -> Usage:
    """Read the usage; prompt tokens include cached ones here, but not in `Usage`."""
    details = figures.get("prompt_tokens_details") or {}
    cached = int(details.get("cached_tokens") or 0)
    prompt = int(figures.get("prompt_tokens") or 0)
    return Usage(max(0, prompt - cached), int(figures.get("completion_tokens") or 0), cached)


def headers(api_key: str) -> Mapping[str, str]:
    """Return the key, if there is one, and what the variables of OpenAI's library add:
    `OPENAI_ORG_ID`, `OPENAI_PROJECT_ID` and `OPENAI_CUSTOM_HEADERS`."""
    key = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    result = with_headers_of("OPENAI_CUSTOM_HEADERS", key)
    for name, variable in _OF_ACCOUNT.items():
        if value := os.environ.get(variable):
            result[name] = value
    return result


class OpenAICompatibleProvider(StreamingProvider):
    """Chat completions."""

    name = "openai"
    path = "chat/completions"

    def __init__(
        self,
        api_key: str,
        model: str,
        base_url: str = DEFAULT_BASE_URL,
        *,
        silence_seconds: float = SILENCE_SECONDS,
    ) -> None:
        base_url = base_url or DEFAULT_BASE_URL
        at_openai = "api.openai.com" in base_url
        body = partial(to_body, length_field="max_completion_tokens" if at_openai else "max_tokens")
        super().__init__(headers(api_key), model, base_url, silence_seconds, body)

    def reader(self, request: ModelRequest, model: str) -> CompletionsReader:
        return CompletionsReader(model)

    def event_of(self, event: ServerSentEvent) -> Mapping[str, Any] | None:
        if event.data.startswith(_DONE):
            return None
        content = read_object(event.data)
        if content.get("error"):
            raise ModelUnavailable("the model's server ended the answer with an error")
        return content

    def translate(self, error: Exception) -> ModelError:
        if not isinstance(error, ServiceError):
            return ModelUnavailable(f"no answer from the model's server: {type(error).__name__}")
        code, message = _error_parts(error.body, str(error))
        reason = f"the model's server says {error.status}: {message}"[:MAX_REASON]
        if code == "context_length_exceeded" or "maximum context length" in message:
            figures = _FIGURES.search(message)
            limit, tokens = map(int, figures.groups()) if figures else (None, None)
            return ContextTooLong(reason, tokens, limit)
        if error.status == 413:
            return ContextTooLong(reason)
        if code == "insufficient_quota":
            return ModelRefused(reason)
        if error.status in (408, 409, 429) or error.status >= 500:
            return ModelUnavailable(reason, retry_after(error.retry_after))
        return ModelRefused(reason)


def _error_parts(body: object, otherwise: str) -> tuple[str, str]:
    """Return code and message of the error in a response body; some servers send it bare."""
    error = body.get("error", body) if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return "", str(error or otherwise)
    return str(error.get("code") or ""), str(error.get("message") or otherwise)
