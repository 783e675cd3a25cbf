"""Values on their way into a row."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def micros(at: datetime) -> int:
    """A time for a row. `at` has a time zone."""
    since = at - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def micros_or_none(at: datetime | None) -> int | None:
    """A time for a row, None where there is none."""
    return None if at is None else micros(at)


def time_of(value: int) -> datetime:
    """The time of a row, in UTC."""
    return _EPOCH + timedelta(0, 0, value)  # by name it takes a fifth longer


def time_or_none(value: int | None) -> datetime | None:
    """The time of a row, None where there is none."""
    return None if value is None else time_of(value)


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
