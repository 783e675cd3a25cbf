"""JSON as models write it and as their services take it."""

import json
from collections.abc import Mapping
from typing import Any, Never


def parse_object(text: str) -> dict[str, Any]:
    """The object that the text says; an empty text is an empty object.

    Raises `ValueError` for anything else, NaN and Infinity included, which no service takes back.
    """
    try:
        value = json.loads(text or "{}", parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def sendable(value: Any) -> Any:
    """The value with half surrogate pairs replaced by question marks: people and tools send them,
    and a single one would make the whole request fail."""
    if isinstance(value, str):
        if value.isascii():
            return value
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, Mapping):
        return {sendable(key): sendable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [sendable(item) for item in value]
    return value


def _no_constant(name: str) -> Never:
    raise ValueError(f"{name} is no JSON")
