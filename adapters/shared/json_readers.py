"""Typed readers for JSON of unknown shape: they never raise, and their results are bounded."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, TypeAlias

from gateway.message import MAX_CONTENT

JsonObject: TypeAlias = Mapping[str, object]
"""A JSON object as it arrived."""

MAX_ITEMS: Final = 100
"""Items read of one list, where the caller names no other number."""
MAX_IDENTIFIER: Final = 150
"""Characters of an id. The keys of an adapter's state have at most 200, with a prefix."""
MAX_INTEGER: Final = 2**64
MAX_TIME: Final = 4_102_444_800
"""The year 2100 in seconds since 1970. A later time is an error of the platform."""

_EMPTY: Final[JsonObject] = {}
_IDENTIFIER: Final = re.compile(r"[!-~]+")
_NUMBER: Final = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")


def as_mapping(value: object) -> JsonObject:
    """The value if it is an object, otherwise an empty one."""
    return value if isinstance(value, dict) else _EMPTY


def mapping(source: JsonObject, key: str) -> JsonObject:
    """The object under `key`, or an empty one."""
    value = source.get(key)  # not by a call of `as_mapping`: this runs many times per message
    return value if isinstance(value, dict) else _EMPTY


def array(source: JsonObject, key: str, limit: int = MAX_ITEMS) -> list[object]:
    """The first `limit` values of the list under `key`, or an empty list."""
    value = source.get(key)
    return value[:limit] if isinstance(value, list) else []


def items(source: JsonObject, key: str, limit: int = MAX_ITEMS) -> list[JsonObject]:
    """The objects among the first `limit` values of the list under `key`."""
    values = source.get(key)
    return objects(values, limit) if isinstance(values, list) else []


def objects(value: object, limit: int = MAX_ITEMS) -> list[JsonObject]:
    """The objects among the first `limit` values of a list; an empty list for anything else."""
    values = value[:limit] if isinstance(value, list) else []
    return [item for item in values if isinstance(item, dict)]


def text(source: JsonObject, key: str, limit: int = MAX_CONTENT) -> str:
    """The first `limit` characters of the string under `key`, or "". See `clean_text`."""
    value = source.get(key)
    if not isinstance(value, str):
        return ""
    value = value[:limit]
    return value if value.isascii() and "\0" not in value else clean_text(value)


def as_text(value: object, limit: int = MAX_CONTENT) -> str:
    """The first `limit` characters of the value if it is a string, otherwise ""."""
    return clean_text(value[:limit]) if isinstance(value, str) else ""


def clean_text(value: str) -> str:
    """The same text with U+FFFD for NUL and for lone surrogates, which databases refuse.

    The length in UTF-16 units stays the same, so that offsets into the text stay valid.
    """
    if not value.isascii():
        value = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return value.replace("\0", "\ufffd") if "\0" in value else value


def identifier(source: JsonObject, key: str, limit: int = MAX_IDENTIFIER) -> str:
    """The id under `key`: a whole number, or printable ASCII without spaces; otherwise "".

    An id of more than `limit` characters is refused, never cut.
    """
    value = source.get(key)
    if isinstance(value, str):
        return value if len(value) <= limit and _IDENTIFIER.fullmatch(value) else ""
    return "" if value is None else as_identifier(value, limit)


def as_identifier(value: object, limit: int = MAX_IDENTIFIER) -> str:
    """The value as an id, as in `identifier`."""
    if isinstance(value, str):
        return value if len(value) <= limit and _IDENTIFIER.fullmatch(value) else ""
    whole = as_integer(value)
    return "" if whole is None else str(whole)


def numeric_id(source: JsonObject, key: str) -> str:
    """The whole number under `key` as an id, otherwise "": on platforms whose ids are numbers."""
    value = source.get(key)
    return str(value) if type(value) is int and -MAX_INTEGER < value < MAX_INTEGER else ""


def identifiers(source: JsonObject, key: str, limit: int = MAX_ITEMS) -> tuple[str, ...]:
    """The ids in the list under `key`, each once."""
    ids = (as_identifier(value) for value in array(source, key, limit))
    return tuple(dict.fromkeys(id_ for id_ in ids if id_))


def integer(source: JsonObject, key: str) -> int | None:
    """The whole number of at most 64 bits under `key`."""
    value = source.get(key)
    return value if type(value) is int and -MAX_INTEGER < value < MAX_INTEGER else None


def as_integer(value: object) -> int | None:
    """The value if it is a whole number of at most 64 bits."""
    # A boolean is an `int` as well, but not of this type.
    return value if type(value) is int and -MAX_INTEGER < value < MAX_INTEGER else None


def number(source: JsonObject, key: str) -> float | None:
    """The finite number under `key`, also where it is written as text."""
    value = source.get(key)
    if isinstance(value, str):
        return float(value) if _NUMBER.fullmatch(value) else None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    whole = as_integer(value)
    return None if whole is None else float(whole)


def flag(source: JsonObject, key: str) -> bool:
    """True only for a JSON `true` under `key`."""
    return source.get(key) is True


def unix_time(source: JsonObject, key: str) -> datetime | None:
    """The time under `key` in seconds since 1970, as a number or as text."""
    seconds = number(source, key)
    if seconds is None or not 0 <= seconds <= MAX_TIME:
        return None
    return datetime.fromtimestamp(seconds, UTC)


def iso_time(source: JsonObject, key: str) -> datetime | None:
    """The ISO 8601 time with a zone under `key`, in UTC."""
    value = source.get(key)
    if not isinstance(value, str) or len(value) > 64:
        return None
    try:
        time = datetime.fromisoformat(value)
        return time.astimezone(UTC) if time.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None
