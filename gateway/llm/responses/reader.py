"""Reads an answer of OpenAI's Responses API.

Each item of the answer (reasoning, a message, a call of a tool) is taken from the event that
completes it. Only text comes from its pieces, because people see it while it grows.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from gateway.errors import ModelUnavailable
from gateway.llm.chat_completions.calls import fitting_id, fitting_name
from gateway.llm.responses.request import PHASE
from gateway.llm.streamed_call import figure, model_name
from gateway.ports import (
    ContentBlock,
    ModelFinished,
    ModelMessage,
    OpaqueBlock,
    StopReason,
    TextBlock,
    ToolCall,
    Usage,
)

REST_SECONDS: Final = 1.0
"""Seconds to wait for the end of a stream whose answer is complete."""
MAX_ITEMS: Final = 256
MAX_ARGUMENTS: Final = 200_000
"""Characters of one call's arguments; a longer one is left out."""
_TEXT: Final = frozenset(("response.output_text.delta", "response.refusal.delta"))
_ENDS: Final = frozenset(("response.completed", "response.incomplete"))
_REASONS: Final[Mapping[object, StopReason]] = {
    "max_output_tokens": "max_tokens",
    "content_filter": "filtered",
}


class ResponsesReader:
    """Assembles an answer. `maker` is the service and the model, for what goes back to them."""

    def __init__(self, model: str, maker: str) -> None:
        self.rest_seconds: float | None = None
        self.working = False
        self._maker = maker
        self._model = model
        self._items: dict[int, Mapping[str, Any]] = {}
        self._texts: dict[int, list[str]] = {}
        self._refused = False
        self._empty = True
        self._end: Mapping[str, Any] = {}

    def feed(self, event: Mapping[str, Any]) -> str:
        kind = event.get("type")
        self._empty = self._empty and not kind
        if kind in _TEXT:
            self._refused = self._refused or kind == "response.refusal.delta"
            return self._add_text(int(event["output_index"]), str(event["delta"]))
        self.working = True
        if kind in _ENDS:
            self._end = event["response"]
            self.rest_seconds = REST_SECONDS
            return self._rest_of_text()
        if kind == "response.output_item.done" and len(self._items) < MAX_ITEMS:
            self._items[int(event["output_index"])] = event["item"]
        return ""

    def finish(self) -> ModelFinished:
        if self._empty:
            raise ModelUnavailable("the model's server sent an empty answer", passes=False)
        if self.rest_seconds is None:
            raise ModelUnavailable("the answer was interrupted")
        try:
            return self._finished()
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise ModelUnavailable("the answer cannot be read") from error

    def _add_text(self, index: int, piece: str) -> str:
        """Add a piece of text; the texts of two messages are two paragraphs."""
        if index in self._texts:
            self._texts[index].append(piece)
            return piece
        if len(self._texts) >= MAX_ITEMS:
            return ""
        parted = any(self._texts.values())
        self._texts[index] = [piece]
        return f"\n\n{piece}" if parted else piece

    def _rest_of_text(self) -> str:
        """Return the text of messages that came whole, without pieces."""
        for index, item in enumerate((self._end.get("output") or ())[:MAX_ITEMS]):
            self._items.setdefault(index, item)
        added = ""
        for index in sorted(self._items):
            item = self._items[index]
            if item.get("type") == "message" and index not in self._texts:
                text = "".join(map(self._text_of, item.get("content") or ()))
                added += self._add_text(index, text) if text else ""
        return added

    def _text_of(self, part: Mapping[str, Any]) -> str:
        self._refused = self._refused or part.get("type") == "refusal"
        return str(part.get("text") or part.get("refusal") or "")

    def _finished(self) -> ModelFinished:
        content = tuple(
            block
            for index in sorted(self._items.keys() | self._texts.keys())
            for block in self._blocks(index)
        )
        usage = _usage(self._end.get("usage") or {})
        return ModelFinished(
            ModelMessage("assistant", content),
            self._stop(content),
            usage,
            model_name(self._end.get("model"), self._model),
            reasoned=self._reasoned(),
        )

    def _blocks(self, index: int) -> list[ContentBlock]:
        item = self._items.get(index) or {}
        blocks: list[ContentBlock] = []
        match item.get("type"):
            case "reasoning" if item.get("encrypted_content") or item.get("content"):
                kept = {name: value for name, value in item.items() if value is not None}
                blocks.append(OpaqueBlock(self._maker, json.dumps(kept)))
            case "function_call":
                arguments = str(item.get("arguments") or "{}")
                if len(arguments) <= MAX_ARGUMENTS and item.get("status") != "incomplete":
                    call_id = fitting_id(str(item.get("call_id") or f"call_{index}"))
                    blocks.append(ToolCall(call_id, fitting_name(str(item["name"])), arguments))
        if text := "".join(self._texts.get(index) or ()):
            if phase := item.get(PHASE):
                kept = {"type": PHASE, PHASE: str(phase)}
                blocks.append(OpaqueBlock(self._maker, json.dumps(kept)))
            blocks.append(TextBlock(text))
        return blocks

    def _stop(self, content: tuple[ContentBlock, ...]) -> StopReason:
        if self._end.get("status") == "incomplete":
            details = self._end.get("incomplete_details") or {}
            return _REASONS.get(details.get("reason"), "other")
        if any(isinstance(block, ToolCall) for block in content):
            return "tool_use"
        return "refusal" if self._refused else "end"

    def _reasoned(self) -> bool:
        details = (self._end.get("usage") or {}).get("output_tokens_details") or {}
        return bool(details.get("reasoning_tokens")) or any(
            item.get("type") == "reasoning" for item in self._items.values()
        )


def _usage(figures: Mapping[str, Any]) -> Usage:
    """Read the usage; the input includes what the cache was read and written for."""
    details = figures.get("input_tokens_details") or {}
    read = figure(details.get("cached_tokens"))
    written = figure(details.get("cache_write_tokens"))
    prompt = figure(figures.get("input_tokens"))
    output = figure(figures.get("output_tokens"))
    return Usage(max(0, prompt - read - written), output, read, written)
