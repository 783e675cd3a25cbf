"""Where the Messages API is told to cache: behind what stays the same for longer than the rest.

A prefix is cached from 1,024 tokens on by some models and from 4,096 by others, for five minutes
from its last use, at four marks a request at most. What is too short for any model gets no mark:
marks are bytes in every request.
"""

from typing import Any, Final

from gateway.ports import ContentBlock, ModelRequest, TextBlock, ToolOutcome
from gateway.turn.tokens import told

MARK: Final = {"type": "ephemeral"}
CACHEABLE: Final = 4_000
"""Letters below which nothing is cached, about 1,000 tokens."""


def worth_caching(request: ModelRequest) -> bool:
    """Whether the request is long enough for a model to cache any of it."""
    texts = [request.system, request.system_now, *map(told, request.tools)]
    texts += [_text(block) for message in request.messages for block in message.content]
    return sum(map(_weight, texts)) >= CACHEABLE


def mark_ends(
    request: ModelRequest,
    tools: list[dict[str, Any]],
    messages: list[dict[str, Any]],
    settled: int,
) -> None:
    """Mark the last of the tools, where they alone are long enough (they are the same for
    everybody), the last of the `settled` messages, and what was said last where tools may run."""
    if tools and sum(_weight(told(tool)) for tool in request.tools) >= CACHEABLE:
        tools[-1] = {**tools[-1], "cache_control": MARK}
    ends = {min(settled, len(messages) - 1) - 1, len(messages) - 1 if tools else -1}
    for place in sorted(end for end in ends if end >= 0):
        content = messages[place]["content"]
        content[-1] = {**content[-1], "cache_control": MARK}


def _text(block: ContentBlock) -> str:
    match block:
        case TextBlock(text=text) | ToolOutcome(content=text):
            return text
        case _:
            return ""


def _weight(text: str) -> int:
    """Letters; outside ASCII a letter is a token more often."""
    return len(text) if text.isascii() else 3 * len(text)
