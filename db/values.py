"""Converts values for rows."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def micros(at: datetime) -> int:
    """Return a time for a row. `at` has a time zone."""
    since = at - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def micros_or_none(at: datetime | None) -> int | None:
    """Return a time for a row, None for None."""
    return None if at is None else micros(at)


def time_of(value: int) -> datetime:
    """Return the time of a row, in UTC."""
    return _EPOCH + timedelta(0, 0, value)  # by name it takes a fifth longer


def time_or_none(value: int | None) -> datetime | None:
    """Return the time of a row, None for None."""
    return None if value is None else time_of(value)


_JSON: Final = json.JSONEncoder(ensure_ascii=False)
"""A cached encoder, because `json.dumps` creates a new one for settings other than its own."""


def storable(text: str) -> str:
    """Return the text without characters that a database cannot store: U+0000 and lone surrogates
    become U+FFFD."""
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
    """Return a list of texts for a JSON column."""
    return _JSON.encode([storable(text) for text in texts])


def texts_of(value: str) -> tuple[str, ...]:
    """Return the texts of a column that `json_list` wrote."""
    return tuple(json.loads(value)) if value != "[]" else ()
