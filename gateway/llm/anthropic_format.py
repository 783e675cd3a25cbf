"""Our conversation as the Messages API takes it, and its stream as we read it. No I/O."""

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gateway.errors import ModelUnavailable
from gateway.llm.anthropic_cache import mark_last, marks_for
from gateway.llm.json_text import parse_object, sendable
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

MAX_ARGUMENTS: Final = 200_000
"""Characters of one call's arguments; a longer one is broken off."""

_STOPS: Final[Mapping[str | None, StopReason]] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
    "refusal": "refusal",
}


def to_body(request: ModelRequest, model: str) -> dict[str, Any]:
    """The JSON body, with at most four cache marks, each where something ends that stays the same
    for longer than what follows: the tools, the system prompt, the history, and, while tools run,
    what was said last. What is too short for this model to cache has none."""
    messages = list(_messages(request.messages, model))
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
    settled = sum(1 for _ in _messages(request.messages[: request.settled], model))
    marks = marks_for(request, model, messages, settled)
    if system := _system(request, marked=marks.system):
        body["system"] = system
    if marks.tools:
        mark_last(tools)
    for place in marks.messages:
        mark_last(messages[place]["content"])
    safe: dict[str, Any] = sendable(body)
    return safe


def _system(request: ModelRequest, *, marked: bool) -> str | list[dict[str, Any]]:
    """In one text, or with a mark between what lasts and what is of today."""
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


def _messages(messages: tuple[ModelMessage, ...], model: str) -> Iterator[dict[str, Any]]:
    begun = False
    for message in messages:
        content = [block for block in map(_Writer(model).block, message.content) if block]
        if message.role == "user":
            content.sort(key=lambda block: block["type"] != "tool_result")  # results come first
            content = content or [{"type": "text", "text": "(nothing)"}]
            begun = True
        if content and begun:
            yield {"role": message.role, "content": content}


@dataclass(frozen=True, slots=True)
class _Writer:
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
    """A JSON object, `{}` for anything else."""
    try:
        return parse_object(text)
    except ValueError:
        return {}


@dataclass(slots=True)
class _Open:
    """A block that is being written."""

    kind: str
    first: Mapping[str, Any]
    pieces: list[str] = field(default_factory=list)
    signature: str = ""
    size: int = 0

    def add(self, piece: str) -> None:
        self.size += len(piece)
        if self.kind != "tool_use" or self.size <= MAX_ARGUMENTS:
            self.pieces.append(piece)


class AnswerReader:
    """Puts a streamed answer together, event by event. `model` is the one that was asked."""

    def __init__(self, model: str) -> None:
        self._asked = model
        self._model = model
        self._blocks: dict[int, _Open] = {}
        self._usage = Usage()
        self._stop: str | None = None
        self._complete = False

    def feed(self, event: Mapping[str, Any]) -> str:
        """Take one event; returns the text that it adds to the answer, "" for none."""
        match event["type"]:
            case "message_start":
                self._model = event["message"].get("model") or self._asked
                self._usage = _usage(event["message"].get("usage") or {}, self._usage)
            case "content_block_start":
                block = event["content_block"]
                self._blocks[event["index"]] = _Open(block["type"], block)
                return self._add(event["index"], str(block.get("text") or ""))
            case "content_block_delta":
                return self._delta(event["index"], event["delta"])
            case "message_delta":
                self._stop = event["delta"].get("stop_reason") or self._stop
                self._usage = _usage(event.get("usage") or {}, self._usage)
            case "message_stop":
                self._complete = True
            case _:
                pass  # the service may send new kinds at any time, which clients are to ignore
        return ""

    def finish(self) -> ModelFinished:
        """The whole answer. Raises `ModelUnavailable` when the stream ended before it did, or said
        something of another type than the service documents."""
        if not self._complete:
            raise ModelUnavailable("the answer broke off in the middle")
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
        match delta["type"]:
            case "text_delta":
                return self._add(index, str(delta["text"]))
            case "input_json_delta":
                block.add(str(delta["partial_json"]))
            case "thinking_delta":
                block.add(str(delta["thinking"]))
            case "signature_delta":
                block.signature += str(delta["signature"])
            case _:
                pass
        return ""

    def _add(self, index: int, text: str) -> str:
        self._blocks[index].add(text)
        return text

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
                return OpaqueBlock(self._asked, json.dumps(whole))
            case "redacted_thinking":
                return OpaqueBlock(self._asked, json.dumps(dict(block.first)))
            case _:
                return None


def _usage(said: Mapping[str, Any], before: Usage) -> Usage:
    """The figures are totals so far; what is not said stays as it was."""

    def figure(name: str, otherwise: int) -> int:
        value = said.get(name)
        return value if isinstance(value, int) else otherwise

    return Usage(
        figure("input_tokens", before.input_tokens),
        figure("output_tokens", before.output_tokens),
        figure("cache_read_input_tokens", before.cache_read_tokens),
        figure("cache_creation_input_tokens", before.cache_write_tokens),
    )
