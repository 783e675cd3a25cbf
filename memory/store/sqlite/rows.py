"""Rows of `memories` in SQLite: times as seconds since 1970, lists as JSON."""

import json
import struct
from datetime import UTC, datetime
from typing import Any, Final

from memory.record import Embedding, Record
from memory.store.rows import COLUMNS, SHAPES, columns_of, record_of
from memory.store.shelves import owner_of, shelves_of

SELECTED: Final = ", ".join(f"m.{name}" for name in COLUMNS)
INSERT: Final = (
    f"INSERT INTO memories ({', '.join(COLUMNS)}, owner, shelves)"  # noqa: S608 - constants
    f" VALUES ({', '.join(f':{name}' for name in COLUMNS)}, :owner, :shelves)"
)
_TIMES: Final = tuple(name for name, shape in SHAPES.items() if shape == "time")
_LISTS: Final = tuple(name for name, shape in SHAPES.items() if shape == "list")
_TIME_PLACES: Final = tuple(COLUMNS.index(name) for name in _TIMES)
_LIST_PLACES: Final = tuple(COLUMNS.index(name) for name in _LISTS)

Row = tuple[object, ...]


def values_of(record: Record) -> dict[str, object]:
    """What `INSERT` takes."""
    values = columns_of(record)
    values.update((name, _kept(values[name])) for name in _TIMES + _LISTS)
    values["owner"], values["shelves"] = owner_of(record), shelves_of(record)
    return values


def record_from(row: Row, embedding: Embedding | None = None) -> Record:
    """The record of a row of `SELECTED`; what is empty costs nothing: a recall reads 150 rows."""
    values: list[Any] = list(row)
    for place in _TIME_PLACES:
        if values[place] is not None:
            values[place] = moment(values[place])
    for place in _LIST_PLACES:
        values[place] = () if values[place] == "[]" else json.loads(values[place])
    return record_of(values, embedding)


def seconds(at: datetime | None) -> float | None:
    """A time as it is kept."""
    return None if at is None else at.timestamp()


def moment(at: float) -> datetime:
    """A kept time."""
    return datetime.fromtimestamp(at, UTC)


def blob(vector: tuple[float, ...]) -> bytes:
    """A vector as float32, little-endian."""
    return struct.pack(f"<{len(vector)}f", *vector)


def vector(data: bytes) -> tuple[float, ...]:
    """The vector of a BLOB."""
    return struct.unpack(f"<{len(data) // 4}f", data)


def _kept(value: object) -> object:
    if isinstance(value, datetime):
        return value.timestamp()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value
