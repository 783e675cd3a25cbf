"""Reading what arrived without trusting its shape: whatever is not as expected reads as empty."""

import hashlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, TypeAlias, cast

from gateway.message import MAX_CONTENT

Raw: TypeAlias = Mapping[str, object]
"""A JSON object as it arrived."""

_IDENTIFIER: Final = re.compile(r"[!-~]{1,255}")
_TS: Final = re.compile(r"[0-9]{1,11}(\.[0-9]{1,9})?")
_LONGEST_EVENT_ID: Final = 200


def mapping(source: Raw, key: str) -> Raw:
    """The object under `key`, or an empty one."""
    return as_mapping(source.get(key))


def as_mapping(value: object) -> Raw:
    """The value if it is an object, otherwise an empty one."""
    return cast("Raw", value) if isinstance(value, Mapping) else {}


def items(source: Raw, key: str, limit: int) -> list[Raw]:
    """The objects in the list under `key`, at most `limit` of them; other items are left out."""
    value = source.get(key)
    if not isinstance(value, list | tuple):
        return []
    return [cast("Raw", item) for item in value[:limit] if isinstance(item, Mapping)]


def text(source: Raw, key: str, limit: int = MAX_CONTENT) -> str:
    """The string under `key`, at most `limit` characters, storable everywhere; or ""."""
    value = source.get(key)
    return storable(value[:limit]) if isinstance(value, str) else ""


def storable(value: str) -> str:
    """Without NUL (PostgreSQL takes none) and without lone surrogates (UTF-8 takes none)."""
    return value.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def identifier(source: Raw, key: str) -> str:
    """The id under `key`: printable ASCII, at most 255 characters; or ""."""
    value = source.get(key)
    return value if isinstance(value, str) and _IDENTIFIER.fullmatch(value) else ""


def stamp(source: Raw, key: str) -> str:
    """The message id ("seconds.fraction") under `key`, or ""."""
    value = source.get(key)
    return value if isinstance(value, str) and _TS.fullmatch(value) else ""


def moment(ts: str) -> datetime:
    """When a message with this id (as from `stamp`) was written."""
    return datetime.fromtimestamp(float(ts), UTC)


def event_id(*parts: str) -> str:
    """An id that is the same whenever the parts are."""
    joined = ":".join(parts)
    if len(joined) <= _LONGEST_EVENT_ID:
        return joined
    return f"{parts[0]}:{hashlib.sha256(joined.encode('utf-8', 'replace')).hexdigest()}"
