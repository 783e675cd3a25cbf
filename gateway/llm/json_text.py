"""JSON in the variants of models and their services."""

import json
from collections.abc import Mapping
from typing import Any, Never


def parse_object(text: str) -> dict[str, Any]:
    """Parse an object; an empty text is an empty object.

    Raises `ValueError` for anything else, including NaN and Infinity, which no service accepts.
    """
    try:
        value = json.loads(text or "{}", parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def parse_loosely(data: bytes) -> Any:
    """Parse JSON with halves of surrogate pairs, broken UTF-8 or control characters in its texts;
    None if it is none."""
    try:
        return json.loads(data.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return None


def paired(text: str) -> str:
    """Join halves of surrogate pairs; the replacement character stands for a half alone."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def sendable(value: Any) -> Any:
    """Replace unpaired surrogates by question marks: people and tools send them, and a single one
    would make the whole request fail."""
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
    raise ValueError(f"{name} is not JSON")
