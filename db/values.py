"""Values on their way into a row."""

import json
from collections.abc import Iterable
from typing import Final

_JSON: Final = json.JSONEncoder(ensure_ascii=False)
"""Kept, because `json.dumps` makes a new one wherever a setting differs from its own."""


def storable(text: str) -> str:
    """The text without what a database cannot keep: U+0000 and lone surrogates become U+FFFD."""
    if text.isascii() and "\0" not in text:
        return text
    if "\0" in text:
        text = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def json_list(texts: Iterable[str]) -> str:
    """A list of texts for a column that holds JSON."""
    return _JSON.encode([storable(text) for text in texts])


def texts_of(value: str) -> tuple[str, ...]:
    """The texts of a column that `json_list` filled."""
    return tuple(json.loads(value)) if value != "[]" else ()
