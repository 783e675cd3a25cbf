"""Where the Messages API is told to cache: behind what stays the same for longer than the rest.

A prefix covers tools, system and messages in this order. It is cached for five minutes from its
last use, from a length on that differs by model, at four marks a request at most. A mark behind
less than that does nothing, and is bytes in every request, so it is left out.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.ports import ModelRequest
from gateway.turn.tokens import IMAGE_TOKENS, tool_text

MARK: Final = {"type": "ephemeral"}
SHORTEST: Final = 512
"""Compared in November 2026 with platform.claude.com/docs/en/build-with-claude/prompt-caching,
"Cache limitations", as the figures below. Tokens of the shortest prefix that the present models
cache, from Opus 5 and Fable 5 on."""
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
"""Those that cache only longer ones."""
LETTERS: Final = 3
"""Of a token, at least: a mark too many is 41 bytes, one too few the price of a whole prompt."""
APART: Final = 400
"""Letters between two marks, below which the second one would save next to nothing."""

_DATE: Final = re.compile(r"-\d{8}$")


def shortest_prefix(model: str) -> int:
    """Tokens from which on a model caches, also under its dated name."""
    return OLDER.get(_DATE.sub("", model), SHORTEST)


@dataclass(frozen=True, slots=True)
class CacheMarks:
    """Behind what there is a mark: the last tool, what lasts of the system prompt, and which of
    the messages that are sent."""

    tools: bool = False
    system: bool = False
    messages: tuple[int, ...] = ()


def marks_for(
    request: ModelRequest, model: str, messages: Sequence[Mapping[str, Any]], settled: int
) -> CacheMarks:
    """The marks of a request. `messages` are those that are sent, of which the first `settled`
    stay as they are; the last is marked where tools may run, because it is sent again then."""
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


def mark_last(blocks: list[dict[str, Any]]) -> None:
    """Set a mark behind the last of these blocks."""
    blocks[-1] = {**blocks[-1], "cache_control": MARK}


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
    """Letters; outside ASCII a letter is a token more often."""
    return len(text) if text.isascii() else 3 * len(text)
