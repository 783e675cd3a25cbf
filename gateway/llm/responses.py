"""OpenAI's own service by its Responses API, in which reasoning models take tools."""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateway.errors import ModelError, ModelUnavailable
from gateway.llm.chat_completions.calls import CallIds, fitting_id, fitting_name
from gateway.llm.chat_completions.refusal import refusal_of
from gateway.llm.event_stream import ServerSentEvent
from gateway.llm.json_text import parse_object
from gateway.llm.openai_compatible import DEFAULT_BASE_URL, headers, translated
from gateway.llm.plainer_call import PlainerCall, without_pdfs
from gateway.llm.streamed_call import (
    ServiceError,
    StreamedCall,
    StreamingProvider,
    cause_of,
    figure,
    model_name,
    read_object,
)
from gateway.ports import (
    ContentBlock,
    DocumentBlock,
    ImageBlock,
    ModelFinished,
    ModelMessage,
    ModelRequest,
    OpaqueBlock,
    StopReason,
    TextBlock,
    ToolCall,
    ToolOutcome,
    Usage,
)
from safety.http.shown_address import shown_address

ENCRYPTED: Final = "reasoning.encrypted_content"
PHASE: Final = "phase"
"""The type of the object that keeps the phase of the text behind it."""


def to_body(
    request: ModelRequest, model: str, maker: str, *, encrypted: bool = True
) -> dict[str, Any]:
    """Return the JSON body. `maker` is this service and model: reasoning of others is left out.

    The service stores nothing (`store`), so that reasoning goes back whole within the turn,
    `encrypted` where the model can do that.
    """
    ids = CallIds()
    messages = [ids.fitted(message) for message in request.messages]
    body: dict[str, Any] = {
        "model": model,
        "store": False,
        "max_output_tokens": request.max_tokens,
        "input": [item for message in messages for item in _items(message, maker)],
    }
    if encrypted:
        body["include"] = [ENCRYPTED]
    if system := request.whole_system:
        body["instructions"] = system
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.schema),
                "strict": False,
            }
            for tool in request.tools
        ]
        if request.tool_choice == "none":
            body["tool_choice"] = "none"
    return body


def _items(message: ModelMessage, maker: str) -> Iterator[dict[str, Any]]:
    return _assistant(message, maker) if message.role == "assistant" else _user(message)


def _user(message: ModelMessage) -> Iterator[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for block in message.content:
        match block:
            case ToolOutcome(call_id=call_id, content=content, is_error=is_error):
                text = content if content.strip() else "(no output)"
                output = f"Error: {text}" if is_error else text
                yield {"type": "function_call_output", "call_id": call_id, "output": output}
            case TextBlock(text=text) if text.strip():
                parts.append({"type": "input_text", "text": text})
            case ImageBlock(mime=mime, data=data):
                url = f"data:{mime};base64,{base64.b64encode(data).decode('ascii')}"
                parts.append({"type": "input_image", "image_url": url, "detail": "auto"})
            case DocumentBlock(name=name, data=data):
                url = f"data:application/pdf;base64,{base64.b64encode(data).decode('ascii')}"
                parts.append({"type": "input_file", "filename": name, "file_data": url})
            case _:
                pass
    if parts:
        yield {"role": "user", "content": parts}


def _assistant(message: ModelMessage, maker: str) -> Iterator[dict[str, Any]]:
    phase: dict[str, Any] = {}
    for block in message.content:
        match block:
            case OpaqueBlock(maker=made_by, data=data) if made_by == maker:
                item = parse_object(data)
                if item.get("type") == PHASE:
                    phase = {PHASE: item[PHASE]}
                else:
                    yield item
            case TextBlock(text=text) if text.strip():
                yield {"role": "assistant", "content": text, **phase}
                phase = {}
            case ToolCall(id=call_id, name=name, arguments=arguments):
                yield {
                    "type": "function_call",
                    "call_id": call_id,
                    "name": name,
                    "arguments": arguments,
                }
            case _:
                pass


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
    """Assembles an answer. `maker` is the service and the model, for what goes back to them.

    Each item of the answer (reasoning, a message, a call of a tool) is taken from the event that
    completes it. Only text comes from its pieces, because people see it while it grows.
    """

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


_REFUSED: Final = frozenset(("invalid_prompt", "content_filter", "bio_policy"))
_INCLUDE: Final = re.compile(r"encrypted|\binclude\b")
MAX_PLAIN: Final = 100
"""Models whose reasoning is not asked for, at most."""
_VIOLATION: Final = "policy_violation"
"""The end of the codes of a content policy."""


class ResponsesProvider(StreamingProvider):
    """The Responses API."""

    name = "openai"
    path = "responses"

    def __init__(
        self, api_key: str, model: str, base_url: str = DEFAULT_BASE_URL, *, pdf: bool = True
    ) -> None:
        base_url = base_url or DEFAULT_BASE_URL
        self._pdf = pdf
        self._address = shown_address(base_url)
        self.plain: set[str] = set()
        super().__init__(headers(api_key), model, base_url, self.written)

    def call(self, request: ModelRequest, model: str) -> StreamedCall:
        return _ResponsesCall(self, request, model, self.plain)

    def written(self, request: ModelRequest, model: str) -> dict[str, Any]:
        """Return the body of a request. The models in `plain` have no encrypted reasoning."""
        maker = f"{self._address} {model}"
        request = request if self._pdf else without_pdfs(request)
        return to_body(request, model, maker, encrypted=model not in self.plain)

    def reader(self, request: ModelRequest, model: str) -> ResponsesReader:
        return ResponsesReader(model, f"{self._address} {model}")

    def event_of(self, event: ServerSentEvent) -> Mapping[str, Any] | None:
        if not event.data.startswith(b"{"):
            return None
        content = read_object(event.data)
        match content.get("type"):
            case "error":
                raise ServiceError(200, {"error": content.get("error") or content})
            case "response.failed":
                raise ServiceError(200, {"error": content["response"].get("error") or {}})
        return content

    def translate(self, error: Exception) -> ModelError:
        if not isinstance(error, ServiceError):
            return ModelUnavailable(f"no answer from the model's server: {cause_of(error)}")
        return translated(error)


class _ResponsesCall(PlainerCall):
    """One call. `plain` are the models that refused encrypted reasoning."""

    def __init__(
        self, provider: ResponsesProvider, request: ModelRequest, model: str, plain: set[str]
    ) -> None:
        super().__init__(provider, request, model)
        self._plain = plain

    def adapts(self, error: Exception) -> bool:
        if super().adapts(error):
            return True
        if not isinstance(error, ServiceError) or error.status not in (400, 422):
            return False
        refusal = refusal_of(error.status, error.body)
        about = " ".join((refusal.words, *refusal.places)).lower()
        if self.model in self._plain or len(self._plain) >= MAX_PLAIN or not _INCLUDE.search(about):
            return False
        self._plain.add(self.model)
        return True

    def ends(self, error: Exception) -> ModelFinished | None:
        """A request that the content policy refuses is an answer without text."""
        body = error.body if isinstance(error, ServiceError) else None
        inner = body.get("error") if isinstance(body, Mapping) else None
        code = str(inner.get("code") or "") if isinstance(inner, Mapping) else ""
        if code in _REFUSED or code.endswith(_VIOLATION):
            return ModelFinished(ModelMessage("assistant", ()), "filtered", Usage(), self.model)
        return None
