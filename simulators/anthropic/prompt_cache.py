"""The prompt cache as the service keeps it: what a request reads from it, and what it writes.

A prefix ends at a block with `cache_control` and covers tools, system and messages in this order.
It is kept where it has `minimum` tokens, for five minutes (an hour where the mark says so), anew
with each reading. What was written is found again from a mark, and from up to 20 blocks before it.
"""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from simulators.anthropic.usage import count_tokens, prompt_of, without_marks

MINIMUM: Final = 4_096
"""Tokens of the shortest prefix that is kept; most models take less, the present ones 512."""
LOOKBACK: Final = 20
LIFETIMES: Final[Mapping[str, float]] = {"5m": 300.0, "1h": 3_600.0}
MAX_REMEMBERED: Final = 10_000


@dataclass(frozen=True, slots=True)
class Split:
    """Tokens of a request: `fresh` behind the last mark, `read` and `written` up to it, of which
    `written_hour` up to the last mark of an hour."""

    fresh: int
    read: int
    written: int
    written_hour: int = 0


@dataclass(frozen=True, slots=True)
class _Prefix:
    """Everything up to one block; `lifetime` is 0 where no mark stands behind it."""

    name: bytes
    tokens: int
    lifetime: float


class PromptCache:
    """Remembers prefixes that ended at a mark. `clock` is in seconds."""

    def __init__(self, clock: Callable[[], float], minimum: int = MINIMUM) -> None:
        self._clock = clock
        self._minimum = minimum
        self._known: OrderedDict[bytes, float] = OrderedDict()

    def split(self, body: Mapping[str, Any]) -> Split:
        """Return the service's figures for the request's input, and store its prefixes."""
        now, total = self._clock(), count_tokens(prompt_of(body))
        prefixes = list(_prefixes(body, total))
        marked = [
            index
            for index, prefix in enumerate(prefixes)
            if prefix.lifetime and prefix.tokens >= self._minimum
        ]
        if not marked:
            return Split(total, 0, 0)
        hit = self._hit(prefixes, marked, now)
        for index in marked:
            self._remember(prefixes[index], now)
        read = 0 if hit is None else prefixes[hit].tokens
        last = prefixes[marked[-1]].tokens
        hour = [prefixes[i].tokens for i in marked if prefixes[i].lifetime == LIFETIMES["1h"]]
        return Split(total - last, read, max(0, last - read), max(0, max(hour, default=0) - read))

    def _hit(self, prefixes: Sequence[_Prefix], marked: Sequence[int], now: float) -> int | None:
        """The longest prefix that is known, refreshed."""
        for mark in reversed(marked):
            for index in range(mark, max(-1, mark - LOOKBACK - 1), -1):
                name = prefixes[index].name
                if self._known.get(name, 0.0) > now:
                    self._remember(prefixes[index], now)
                    return index
        return None

    def _remember(self, prefix: _Prefix, now: float) -> None:
        until = now + (prefix.lifetime or LIFETIMES["5m"])
        self._known[prefix.name] = max(until, self._known.get(prefix.name, 0.0))
        self._known.move_to_end(prefix.name)
        while len(self._known) > MAX_REMEMBERED:
            self._known.popitem(last=False)


def _prefixes(body: Mapping[str, Any], total: int) -> Iterator[_Prefix]:
    """Every prefix of the request that ends with a block."""
    blocks = list(_blocks(body))
    sizes = [count_tokens(block) for _, block in blocks]
    frames = max(0, total - sum(sizes))
    digest = hashlib.sha256(str(body.get("model")).encode())
    tokens = 0
    for number, ((place, block), size) in enumerate(zip(blocks, sizes, strict=True), 1):
        plain = json.dumps([place, without_marks(block)], sort_keys=True, ensure_ascii=False)
        digest.update(plain.encode("utf-8", "surrogatepass"))
        tokens += size
        mark = block.get("cache_control") or {}
        lifetime = LIFETIMES[str(mark.get("ttl") or "5m")] if mark else 0.0
        yield _Prefix(digest.digest(), tokens + frames * number // len(blocks), lifetime)


def _blocks(body: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The request block by block, with where each stands."""
    for tool in body.get("tools") or []:
        yield "tools", tool
    for block in _listed(body.get("system") or []):
        yield "system", block
    for message in body.get("messages") or []:
        for block in _listed(message["content"]):
            yield message["role"], block


def _listed(content: Any) -> list[Mapping[str, Any]]:
    """A plain text is one block of text."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
