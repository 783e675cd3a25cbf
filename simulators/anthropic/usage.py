"""Counting tokens, roughly as the service does."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

IMAGE_TOKENS = 1_600
CHARACTERS_PER_TOKEN = 3.5


def count_tokens(value: object) -> int:
    """Tokens of a request or a part of one: its characters over 3.5, pictures at a flat rate."""
    return round(_weight(value) / CHARACTERS_PER_TOKEN)


def _weight(value: object) -> float:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        if value.get("type") in ("image", "document") and "source" in value:
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
