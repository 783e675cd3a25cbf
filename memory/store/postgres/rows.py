"""Rows of `memories` in PostgreSQL."""

from datetime import UTC, datetime
from typing import Any, Final

from psycopg.rows import TupleRow

from memory.record import Embedding, Record
from memory.store.rows import COLUMNS, SHAPES, columns_of, record_of
from memory.store.shelves import owner_of, shelves_of
from memory.store.terms import filed

SELECTED: Final = ", ".join(f"m.{name}" for name in COLUMNS)


LEXEMES: Final = "array_to_tsvector(%(lexemes)s::text[])"
"""What the index finds: words and shelves, as they are."""


def _cast(name: str) -> str:
    return f"%({name})s" + {"list": "::text[]", "time": "::timestamptz"}.get(SHAPES[name], "")


INSERT: Final = f"""
    INSERT INTO memories ({", ".join(COLUMNS)}, owner, shelves, words, length, lexemes)
    VALUES ({", ".join(_cast(name) for name in COLUMNS)}, %(owner)s, %(shelves)s,
        %(filed)s, %(length)s, {LEXEMES})
"""  # noqa: S608 - constants


def values_of(record: Record) -> dict[str, object]:
    """What `INSERT` takes."""
    return columns_of(record) | {"owner": owner_of(record)} | filed_values(record)


def filed_values(record: Record) -> dict[str, object]:
    """What a memory is found by."""
    words = filed(record.content, *record.tags)
    length = words.count(" ") + 1 if words else 0
    shelves = shelves_of(record)
    lexemes = [*words.split(), *map(shelf_lexeme, shelves.split())]
    return {"filed": words, "length": length, "shelves": shelves, "lexemes": lexemes}


def shelf_lexeme(shelf: str) -> str:
    """A shelf as no word can be written."""
    return f"~{shelf}"


def record_from(row: TupleRow, embedding: Embedding | None = None) -> Record:
    """The record of a row of `SELECTED`."""
    return record_of(map(_given, row), embedding)


def vector_text(vector: tuple[float, ...]) -> str:
    """A vector as pgvector reads it."""
    return f"[{','.join(map(repr, vector))}]"


def vector(text: str) -> tuple[float, ...]:
    """The vector of pgvector's text."""
    return tuple(float(part) for part in text.strip("[]").split(","))


def _given(value: Any) -> Any:
    return value.astimezone(UTC) if isinstance(value, datetime) else value
