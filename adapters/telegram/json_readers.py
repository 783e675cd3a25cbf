"""Reading values out of raw JSON: every reader answers with its type, whatever is there."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

MAX_ID: Final = 2**63
MAX_NAME: Final = 200
"""Characters kept of a name; Telegram allows 64 for each of first and last name."""
MAX_SECONDS: Final = 253_402_300_799
_EMPTY: Final[Mapping[str, object]] = {}


def mapping(value: object) -> Mapping[str, object]:
    """A JSON object, empty when it is none."""
    return value if isinstance(value, dict) else _EMPTY


def listing(value: object) -> list[object]:
    """A JSON array, empty when it is none."""
    return value if isinstance(value, list) else []


def text(value: object) -> str:
    """A string that every database takes: lone surrogates and NUL become U+FFFD.

    Its length in UTF-16 units stays the same, so that entity offsets stay right.
    """
    if not isinstance(value, str):
        return ""
    if value.isascii():
        return value.replace("\x00", "\ufffd") if "\x00" in value else value
    clean = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return clean.replace("\x00", "\ufffd")


def integer(value: object) -> int | None:
    """A whole number of at most 64 bits."""
    if type(value) is int and -MAX_ID < value < MAX_ID:  # a boolean is none
        return value
    return None


def identity(value: object) -> str:
    """A numeric id as text, empty when it is none."""
    number = integer(value)
    return "" if number is None else str(number)


def number(value: object) -> float | None:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int) and integer(value) is None:
        return None
    found = float(value)
    return found if abs(found) < 1e15 else None


def moment(value: object) -> datetime | None:
    """Unix seconds as a moment in UTC."""
    seconds = integer(value)
    if seconds is None or not 0 <= seconds <= MAX_SECONDS:
        return None
    return datetime.fromtimestamp(seconds, UTC)
