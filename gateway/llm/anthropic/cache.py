"""Cache marks for the Messages API, placed behind the stable parts of a request.

A prefix covers tools, system and messages in this order. It is cached for five minutes after its
last use, or for an hour at a higher price, from a minimum length that differs by model, with at
most four marks per request. A mark after a shorter prefix has no effect and is omitted.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from gateway.llm.prices import Price, hour_write
from gateway.llm.tokens import IMAGE_TOKENS, tool_text
from gateway.ports import ModelRequest

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
        case _:
            return 0


def _weight(text: str) -> int:
    """Return the letters of a text; outside ASCII more letters are a token of their own."""
    return len(text) if text.isascii() else 3 * len(text)
