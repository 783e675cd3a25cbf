"""Reading values out of raw JSON: every reader answers with its type, whatever is there."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

MAX_ID: Final = 64
MAX_LIST: Final = 100
"""Items kept of a list: Discord sends at most 100 mentions, or ids of a bulk deletion."""
MAX_NAME: Final = 200
_EMPTY: Final[Mapping[str, object]] = {}


def mapping(value: object) -> Mapping[str, object]:
    """A JSON object, empty when it is none."""
    return value if isinstance(value, dict) else _EMPTY


def mappings(value: object) -> list[Mapping[str, object]]:
    """The objects of a JSON array, at most `MAX_LIST`."""
    items = value[:MAX_LIST] if isinstance(value, list) else []
    return [item for item in items if isinstance(item, dict)]


def text(value: object) -> str:
    """A string that every database takes: lone surrogates and NUL become U+FFFD."""
    if not isinstance(value, str):
        return ""
    if not value.isascii():
        value = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return value.replace("\x00", "\ufffd")


def identity(value: object) -> str:
    """An id as text, empty when it is none."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**64:
        return str(value)
    if isinstance(value, str) and 0 < len(value) <= MAX_ID and value.isascii():
        return value if value.isprintable() and " " not in value else ""
    return ""


def identities(value: object) -> tuple[str, ...]:
    """The ids of a JSON array, without repetitions, at most `MAX_LIST`."""
    items = value[:MAX_LIST] if isinstance(value, list) else []
    return tuple(dict.fromkeys(found for item in items if (found := identity(item))))


def integer(value: object) -> int | None:
    """A whole number."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def moment(value: object) -> datetime | None:
    """An ISO 8601 time as a moment in UTC; one without a zone is none."""
    if not isinstance(value, str) or len(value) > 64:
        return None
    try:
        found = datetime.fromisoformat(value)
        return found.astimezone(UTC) if found.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None
