"""Writes requests of the Messages API, with cache marks behind their stable parts.

A cached prefix covers tools, system and messages in this order. It is cached for five minutes after
its last use, or for an hour at a higher price, from a minimum length that differs by model, with at
most four marks per request. A mark after a shorter prefix has no effect and is omitted.
"""

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final

from msgspec import Struct

from gateway.immutable import replace
from gateway.llm.anthropic.answer import page_of, tools_besides
from gateway.llm.chat_completions.calls import CallIds
from gateway.llm.json_text import parse_object
from gateway.llm.prices import Price, hour_write, price_of
from gateway.llm.tokens import IMAGE_TOKENS, tool_text
from gateway.ports import (
    ContentBlock,
    DocumentBlock,
    ImageBlock,
    ModelMessage,
    ModelRequest,
    OpaqueBlock,
    TextBlock,
    ToolCall,
    ToolOutcome,
    ToolSpec,
)

USUAL_PRICE: Final = Price(1, 5, 0.1, 1.25)
"""The relations of prices of most models, for one whose prices are unknown."""


def maker_of(address: str, model: str) -> str:
    """Return the name of a model of a service, to which alone its reasoning is sent back."""
    return f"{address} {model}"


class Prefix:
    """Digests what stands before a message: prompt, tools, and earlier messages.

    Newer models read a block of reasoning only if nothing before it has changed since they wrote
    it; otherwise the service refuses the request ("Preserved thinking" of the API's documentation).
    """

    def __init__(self, request: ModelRequest) -> None:
        self._digest = blake2b(digest_size=16)
        self._add((request.whole_system, request.tools))

    def add(self, message: ModelMessage) -> None:
        """Add the next message."""
        self._add(message)

    def name(self) -> str:
        """Return the digest so far."""
        return self._digest.hexdigest()

    def _add(self, value: object) -> None:
        self._digest.update(repr(value).encode("utf-8", "backslashreplace"))


def prefix_of(request: ModelRequest) -> str:
    """Return the digest of a whole request, which stands before its answer. A message of the
    assistant at the end is the beginning of that answer."""
    prefix = Prefix(request)
    for number, message in enumerate(request.messages, 1):
        if number < len(request.messages) or message.role == "user":
            prefix.add(message)
    return prefix.name()


def to_body(
    request: ModelRequest, model: str, address: str = "", *, web: bool = False
) -> dict[str, Any]:
    """Return the JSON body with at most four cache marks, each behind a part that is more stable
    than the next: the tools, the system prompt, the history, and, while tools run, the last
    message. Parts too short for this model's cache get no mark. All marks of a request are of the
    same duration: that which costs less at the conversation's gaps. With `web` the service's own
    tools are offered, if the request wants them."""
    each = list(_messages(request, maker_of(address, model)))
    messages = [message for message in each if message is not None]
    _without_last_blanks(messages)
    tools = [_tool(tool) for tool in request.tools]
    if web and request.web:
        tools += tools_besides(tool.name for tool in request.tools)
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": request.max_tokens,
        "messages": messages,
    }
    if tools:
        body["tools"] = tools
        if request.tool_choice == "none" and request.tools:
            body["tool_choice"] = {"type": "none"}
    settled = sum(1 for message in each[: request.settled] if message is not None)
    marks = marks_for(request, model, messages, settled)
    mark = HOUR_MARK if pays_for_hour(request.gaps, price_of(model) or USUAL_PRICE) else MARK
    if system := _system(request, mark if marks.system else None):
        body["system"] = system
    if marks.tools:
        mark_last(tools, mark)
    for place in marks.messages:
        mark_last(messages[place]["content"], mark)
    return body


def _without_last_blanks(messages: list[dict[str, Any]]) -> None:
    """Cut the white space at the end of an answer that the service is to continue: it refuses
    it."""
    if not messages or messages[-1]["role"] != "assistant":
        return
    content = messages[-1]["content"]
    if content[-1]["type"] == "text":
        content[-1] = {**content[-1], "text": content[-1]["text"].rstrip()}


def _system(request: ModelRequest, mark: Mapping[str, str] | None) -> str | list[dict[str, Any]]:
    """Return the system prompt as one text, or with a mark between its stable and volatile part."""
    if mark is None or not request.system.strip():
        return request.whole_system
    parts: list[dict[str, Any]] = [{"type": "text", "text": request.system}]
    mark_last(parts, mark)
    if request.system_volatile.strip():
        parts.append({"type": "text", "text": request.system_volatile})
    return parts


def _tool(tool: ToolSpec) -> dict[str, object]:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": dict(tool.schema),
    }


def _messages(request: ModelRequest, maker: str) -> Iterator[dict[str, Any] | None]:
    """Yield each message, or None for one that is not sent."""
    begun, reads, ids = False, _Reasoning(request, maker), CallIds()
    for message in request.messages:
        usable = ids.fitted(replace(message, content=reads.usable(message)))
        content = list(_contents(usable.content))
        if message.role == "user":
            content.sort(key=lambda block: block["type"] != "tool_result")  # results come first
            content = content or [{"type": "text", "text": "(nothing)"}]
            begun = True
        yield {"role": message.role, "content": content} if content and begun else None


def _contents(blocks: tuple[ContentBlock, ...]) -> Iterator[dict[str, Any]]:
    """Yield the blocks as they are sent. An opaque block with a text stands for the `TextBlock`
    behind it, which is what people read."""
    replaced = False
    for block in blocks:
        written = None if replaced and isinstance(block, TextBlock) else _written(block)
        replaced = isinstance(block, OpaqueBlock) and (written or {}).get("type") == "text"
        if written is not None:
            yield written


def documents_of(request: ModelRequest, maker: str) -> list[str]:
    """Return the addresses of the pages that were fetched earlier in the turn."""
    blocks = (block for message in request.messages for block in message.content)
    opaque = (b for b in blocks if isinstance(b, OpaqueBlock) and b.maker == maker)
    return [page for b in opaque if (page := page_of(_object(b.data))) is not None]


class _Reasoning:
    """Leaves out the reasoning that the model cannot read: of another one, or with another text
    before it."""

    def __init__(self, request: ModelRequest, maker: str) -> None:
        kinds = {type(block) for message in request.messages for block in message.content}
        self._prefix = Prefix(request) if OpaqueBlock in kinds else None
        self._maker = maker

    def usable(self, message: ModelMessage) -> tuple[ContentBlock, ...]:
        """Return the blocks of the next message that are sent."""
        if self._prefix is None:
            return message.content
        before = self._prefix.name()
        self._prefix.add(message)
        return tuple(
            block
            for block in message.content
            if not isinstance(block, OpaqueBlock)
            or (block.maker == self._maker and block.prefix in ("", before))
        )


def _written(block: ContentBlock) -> dict[str, Any] | None:
    match block:
        case TextBlock(text=text):
            return {"type": "text", "text": text} if text.strip() else None
        case ImageBlock(mime=mime, data=data):
            encoded = base64.b64encode(data).decode("ascii")
            source = {"type": "base64", "media_type": mime, "data": encoded}
            return {"type": "image", "source": source}
        case DocumentBlock(name=name, data=data):
            encoded = base64.b64encode(data).decode("ascii")
            source = {"type": "base64", "media_type": "application/pdf", "data": encoded}
            return {"type": "document", "source": source, "title": name}
        case ToolCall(id=call_id, name=name, arguments=arguments):
            arguments_read = _object(arguments)
            return {"type": "tool_use", "id": call_id, "name": name, "input": arguments_read}
        case ToolOutcome(call_id=call_id, content=content, is_error=is_error):
            outcome: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id}
            outcome["content"] = content if content.strip() else "(no output)"
            if is_error:
                outcome["is_error"] = True
            return outcome
        case OpaqueBlock(data=data):
            return _object(data)


def _object(text: str) -> dict[str, Any]:
    """Parse a JSON object; `{}` for anything else."""
    try:
        return parse_object(text)
    except ValueError:
        return {}


LEAST_PDF_PAGES: Final = 1
"""The pages that a PDF counts for the places of cache marks: it has at least these."""
MARK: Final = {"type": "ephemeral"}
HOUR_MARK: Final = {"type": "ephemeral", "ttl": "1h"}
MINUTES, HOUR = 300.0, 3_600.0
"""Seconds for which the service keeps what it cached, after its last use."""
GROWTH: Final = 0.1
"""The part of a prompt that is new in each turn: 8 % over the twenty turns of
`benchmarks.caching`."""
LEAST_GAPS: Final = 2
"""Gaps between questions from which on a conversation has a rhythm."""
SHORTEST: Final = 512
"""The shortest prefix in tokens that current models cache, from Opus 5 and Fable 5 on. Compared in
November 2026 with platform.claude.com/docs/en/build-with-claude/prompt-caching, "Cache
limitations", as the figures below."""
OLDER: Final[Mapping[str, int]] = {
    "claude-sonnet-5": 1_024,
    "claude-opus-4-8": 1_024,
    "claude-sonnet-4-6": 1_024,
    "claude-sonnet-4-5": 1_024,
    "claude-opus-4-1": 1_024,
    "claude-opus-4-7": 2_048,
    "claude-opus-4-6": 4_096,
    "claude-opus-4-5": 4_096,
    "claude-haiku-4-5": 4_096,
}
"""Models that cache only longer prefixes."""
LETTERS: Final = 3
"""Minimum letters per token: an unnecessary mark costs 41 bytes, a missing one a whole prompt."""
APART: Final = 400
"""Letters between two marks below which the second one would save next to nothing."""
_DATE: Final = re.compile(r"-\d{8}$")


def shortest_prefix(model: str) -> int:
    """Return the tokens from which a model caches, also for its dated name."""
    return OLDER.get(_DATE.sub("", model), SHORTEST)


def pays_for_hour(gaps: Sequence[float], price: Price) -> bool:
    """Return True if prompts at these gaps (seconds) cost less when the cache keeps them for an
    hour. The gaps so far stand for the coming ones."""
    if len(gaps) < LEAST_GAPS:
        return False
    read = price.input if price.cache_read is None else price.cache_read
    write = price.input if price.cache_write is None else price.cache_write
    return _expected(gaps, HOUR, read, hour_write(price)) < _expected(gaps, MINUTES, read, write)


def _expected(gaps: Sequence[float], seconds: float, read: float, write: float) -> float:
    """Return the price of a token of the prompt, summed over the gaps, if the cache keeps it for so
    many seconds."""
    found = (1 - GROWTH) * read + GROWTH * write
    return sum(found if gap < seconds else write for gap in gaps)


class CacheMarks(Struct, frozen=True):
    """The marks of a request: after the last tool, the stable system prompt, and these messages."""

    tools: bool = False
    system: bool = False
    messages: tuple[int, ...] = ()


def marks_for(
    request: ModelRequest, model: str, messages: Sequence[Mapping[str, Any]], settled: int
) -> CacheMarks:
    """Return the marks of a request. `messages` are the sent ones, of which the first `settled` do
    not change; the last one is marked if tools may run, because it is sent again then."""
    least = LETTERS * shortest_prefix(model)
    length = sum(_weight(tool_text(tool)) for tool in request.tools)
    behind = length if length >= least else 0
    tools = behind > 0
    length += _weight(request.system)
    system = length >= least and length - behind >= APART
    behind = length if system else behind
    length += _weight(request.system_volatile)
    ends = {min(settled, len(messages) - 1) - 1, len(messages) - 1 if request.tools else -1}
    chosen = []
    for place, message in enumerate(messages):
        length += sum(map(_letters, message["content"]))
        if place in ends and length >= least and length - behind >= APART:
            chosen.append(place)
            behind = length
    return CacheMarks(tools, system, tuple(chosen))


def mark_last(blocks: list[dict[str, Any]], mark: Mapping[str, str] = MARK) -> None:
    """Set a mark after the last of these blocks."""
    blocks[-1] = {**blocks[-1], "cache_control": mark}


def _letters(block: Mapping[str, Any]) -> int:
    match block["type"]:
        case "text":
            return _weight(block["text"])
        case "tool_result":
            return _weight(block["content"])
        case "image":
            return LETTERS * IMAGE_TOKENS
        case "document":
            return LETTERS * IMAGE_TOKENS * LEAST_PDF_PAGES
        case _:
            return 0


def _weight(text: str) -> int:
    """Return the letters of a text; outside ASCII more letters are a token of their own."""
    return len(text) if text.isascii() else 3 * len(text)
