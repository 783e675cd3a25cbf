"""Typed reading of JSON that anybody may have written: never an exception, always bounded."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

MAX_TIME: Final = 4_102_444_800
"""The year 2100, seconds since 1970: what is later is no time of a message."""


def mapping(holder: object, key: str) -> Mapping[str, object]:
    """The object under `key`, empty when there is none."""
    value = holder.get(key) if isinstance(holder, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def items(holder: object, key: str) -> list[Mapping[str, object]]:
    """The objects of the list under `key`; whatever else stands in it is left out."""
    value = holder.get(key) if isinstance(holder, Mapping) else None
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def text(holder: object, key: str, most: int) -> str:
    """The text under `key`, at most `most` characters; whole numbers count as text."""
    value = holder.get(key) if isinstance(holder, Mapping) else None
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**30:
        return str(value)
    if not isinstance(value, str):
        return ""
    return without_lone_surrogates(value[:most])


def identifier(holder: object, key: str, most: int = 150) -> str:
    """The id under `key`, empty when it is missing or longer than `most`: ids are never cut."""
    value = text(holder, key, most + 1).strip()
    return value if len(value) <= most and value.isprintable() else ""


def flag(holder: object, key: str) -> bool:
    """True only for a JSON true."""
    return isinstance(holder, Mapping) and holder.get(key) is True


def number(holder: object, key: str) -> float | None:
    """The finite number under `key`, also when it is written as text."""
    value = holder.get(key) if isinstance(holder, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value[:40] if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def whole(holder: object, key: str) -> int | None:
    """The whole number under `key`."""
    found = number(holder, key)
    return int(found) if found is not None and found.is_integer() and abs(found) < 10**15 else None


def moment(holder: object, key: str) -> datetime | None:
    """The time under `key`, given in seconds since 1970."""
    seconds = number(holder, key)
    if seconds is None or not 0 <= seconds <= MAX_TIME:
        return None
    return datetime.fromtimestamp(seconds, UTC)


def without_lone_surrogates(value: str) -> str:
    """The same text, encodable: JSON can spell half a character, no database takes it."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value
