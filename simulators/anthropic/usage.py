"""Counting tokens and what the prompt cache would save, roughly as the service does."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

MAX_REMEMBERED = 1_000
MIN_CACHED_TOKENS = 1_024
IMAGE_TOKENS = 1_600
CHARACTERS_PER_TOKEN = 3.5


def count_tokens(value: object) -> int:
    """Tokens of a request or a part of one: its characters over 3.5, pictures at a flat rate."""
    return round(_weight(value) / CHARACTERS_PER_TOKEN)


def _weight(value: object) -> float:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        if value.get("type") == "image":
            return IMAGE_TOKENS * CHARACTERS_PER_TOKEN
        return sum(_weight(item) + 4 for key, item in value.items() if key != "cache_control")
    if isinstance(value, list | tuple):
        return sum(_weight(item) + 2 for item in value)
    return 2


def prompt_of(body: Mapping[str, Any]) -> dict[str, object]:
    """The part of a request that the model reads."""
    return {name: body[name] for name in ("tools", "system", "messages") if name in body}


def without_marks(value: object) -> object:
    """The value without any cache_control."""
    if isinstance(value, Mapping):
        return {k: without_marks(v) for k, v in value.items() if k != "cache_control"}
    if isinstance(value, list):
        return [without_marks(item) for item in value]
    return value


def fingerprint(value: object) -> str:
    """A short name for what the model has read so far."""
    text = json.dumps(without_marks(value), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class PromptCache:
    """Remembers prefixes that ended at a cache_control mark."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, None] = OrderedDict()

    def split(self, body: Mapping[str, Any]) -> tuple[int, int, int]:
        """(fresh, read, written) tokens of the request; remembers its prefixes."""
        total = count_tokens(prompt_of(body))
        read = marked = 0
        for prefix in _marked_prefixes(body):
            size = min(total, count_tokens(prefix))
            if size < MIN_CACHED_TOKENS:
                continue
            name = fingerprint([body.get("model"), prefix])
            marked = max(marked, size)
            if name in self._known:
                read = max(read, size)
            self._known[name] = None
            self._known.move_to_end(name)
        while len(self._known) > MAX_REMEMBERED:
            self._known.popitem(last=False)
        return total - marked, read, marked - read


def _marked_prefixes(body: Mapping[str, Any]) -> Iterator[list[object]]:
    """Everything up to each mark, in the order tools, system, messages."""
    seen: list[object] = []
    for part in _flat(body):
        seen.append(part)
        if isinstance(part, Mapping) and part.get("cache_control"):
            yield list(seen)


def _flat(body: Mapping[str, Any]) -> Iterator[object]:
    yield from body.get("tools") or []
    system = body.get("system")
    yield from system if isinstance(system, list) else [system]
    for message in body.get("messages") or []:
        content = message["content"]
        yield from content if isinstance(content, list) else [content]
