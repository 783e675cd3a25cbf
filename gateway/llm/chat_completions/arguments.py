"""The arguments of tool calls, in the variants of models and servers."""

import ast
import json
import re
from collections.abc import Mapping
from json import JSONDecoder
from typing import Any, Final

MAX_ARGUMENTS: Final = 200_000
"""Characters of one call's arguments; a longer text is no call."""
MAX_ENCODED: Final = 3
"""Times that an object may be encoded as a text."""
MAX_OBJECTS: Final = 64
MAX_PYTHON: Final = 4_000
_EMPTY: Final = frozenset(("", "null", "none", "undefined", '""', "[]"))
_FENCED: Final = re.compile(r"```\w{0,10}\s{0,4}")
_decode: Final = JSONDecoder(strict=False).raw_decode


def as_arguments(value: Mapping[str, Any] | list[Any]) -> str:
    """Return the text of a JSON object; an empty object for another value."""
    return json.dumps(value) if isinstance(value, Mapping) else "{}"


def arguments_of(value: object) -> str:
    """Return the arguments of one call as the text of a JSON object, or the text as it came if it
    is none."""
    return split_arguments(value)[0]


def split_arguments(value: object) -> list[str]:
    """Return the arguments of the calls whose arguments a server joined, each as the text of a JSON
    object. A text that is none stays as it is: the model is told so."""
    if isinstance(value, Mapping | list):
        return [_object_in(value) or as_arguments(value)]
    text = value if isinstance(value, str) else ""
    if text.strip().lower() in _EMPTY:
        return ["{}"]
    if len(text) > MAX_ARGUMENTS:
        return [text]
    try:
        if isinstance(json.loads(text), dict):
            return [text]  # as nearly always
    except (ValueError, RecursionError):
        pass
    return list(dict.fromkeys(_objects(text))) or [_python(text) or text]


def is_complete(text: str) -> bool:
    """Return True if a text is a whole JSON object."""
    if not text.rstrip().endswith("}"):
        return False
    try:
        value, end = _decode(text.strip())
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and end == len(text.strip())


def _objects(text: str) -> list[str]:
    """Return the JSON objects at the beginning of a text."""
    text = _FENCED.sub("", text, 2).strip()
    found: list[str] = []
    at = 0
    while at < len(text) and len(found) < MAX_OBJECTS:
        try:
            value, at = _decode(text, at)
        except (ValueError, RecursionError):
            break
        if (inner := _object_in(value)) is None:
            break
        found.append(inner)
        while at < len(text) and text[at].isspace():
            at += 1
    return found


def _object_in(value: Any) -> str | None:
    """Return the text of an object that is encoded as a text, or alone in a list."""
    for _ in range(MAX_ENCODED):
        if isinstance(value, dict):
            return json.dumps(value)
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        elif isinstance(value, str):
            try:
                value = json.loads(value, strict=False)
            except (ValueError, RecursionError):
                return None
        else:
            return "{}" if value is None else None
    return json.dumps(value) if isinstance(value, dict) else None


def _python(text: str) -> str:
    """Return an object that was written as Python writes it; "" if it is none."""
    if len(text) > MAX_PYTHON or not text.strip().startswith("{"):
        return ""
    try:
        value = ast.literal_eval(text.strip())
        return json.dumps(value) if isinstance(value, dict) else ""
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return ""
