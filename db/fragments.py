"""Parts of statements where the dialects of SQLite and PostgreSQL differ.

Every function returns text for the source of a `db.statements.Statement`. Most of SQL needs none of
them: both engines know `RETURNING`, `ON CONFLICT … DO UPDATE`, `CAST (… AS …)`, `FILTER`, common
table expressions, window functions and `NULLS LAST`.
"""

import re
from typing import Final, Literal

Engine = Literal["sqlite", "postgres"]

_OPEN, _MIDDLE, _CLOSE = "\x01", "\x02", "\x03"
_EITHER: Final = re.compile(f"{_OPEN}([^{_OPEN}-{_CLOSE}]*){_MIDDLE}([^{_OPEN}-{_CLOSE}]*){_CLOSE}")


def either(*, sqlite: str, postgres: str) -> str:
    """One text for SQLite, another one for PostgreSQL; both may contain fragments."""
    first, second = for_engine(sqlite, "sqlite"), for_engine(postgres, "postgres")
    return f"{_OPEN}{first}{_MIDDLE}{second}{_CLOSE}"


def for_engine(source: str, engine: Engine) -> str:
    """The source with its fragments in the dialect of one engine."""
    return _EITHER.sub(r"\1" if engine == "sqlite" else r"\2", source)


FOR_UPDATE: Final = either(sqlite="", postgres="FOR UPDATE")
"""Locks the rows that are read until the transaction ends. SQLite has one writer at a time."""
SKIP_LOCKED: Final = either(sqlite="", postgres="FOR UPDATE SKIP LOCKED")
"""Passes over rows that another transaction has locked, and locks the others."""


def among(column: str, parameter: str) -> str:
    """True where the column holds one of the values of a list. The parameter is a Python list."""
    return either(
        sqlite=f"{column} IN (SELECT value FROM json_each(:{parameter}))",  # noqa: S608 - constants
        postgres=f"{column} = ANY (:{parameter})",
    )


def within(column: str, query: str) -> str:
    """True where the column holds one of the values of a query that needs no row of its own. The
    query runs once, and PostgreSQL always looks its values up by the column's index."""
    return either(
        sqlite=f"{column} IN ({query})",
        postgres=f"{column} = ANY (ARRAY({query}))",
    )


def in_byte_order(column: str) -> str:
    """A text to sort by its bytes, which SQLite does by itself and PostgreSQL by its locale."""
    return either(sqlite=column, postgres=f'{column} COLLATE "C"')


def json_text(column: str, *path: str) -> str:
    """The text at a path of keys in a column that holds a JSON object as text."""
    return either(
        sqlite=f"json_extract({column}, '$.{'.'.join(path)}')",
        postgres=f"(CAST({column} AS jsonb) #>> '{{{','.join(path)}}}')",
    )


def json_values(source: str, name: str) -> str:
    """An item for `FROM`: the texts of a JSON list, as rows with one column `value`."""
    return either(
        sqlite=f"json_each({source}) AS {name}",
        postgres=f"json_array_elements_text(CAST({source} AS json)) AS {name} (value)",
    )


def json_item(column: str, index: int) -> str:
    """The text at an index of a column that holds a JSON list as text."""
    return either(
        sqlite=f"json_extract({column}, '$[{index}]')",
        postgres=f"(CAST({column} AS json) ->> {index})",
    )


def listed(parameter: str, name: str, of: Literal["text", "bigint"] = "text") -> str:
    """An item for `FROM`: the values of a parameter that is a Python list, in a column `value`."""
    return either(
        sqlite=f"json_each(:{parameter}) AS {name}",
        postgres=f"unnest(CAST(:{parameter} AS {of}[])) AS {name} (value)",
    )


def contains(text: str, part: str) -> str:
    """True where a text contains another one."""
    return either(sqlite=f"instr({text}, {part}) > 0", postgres=f"strpos({text}, {part}) > 0")


def begins(text: str, prefix: str) -> str:
    """True where a text begins with another one."""
    return f"substr({text}, 1, length({prefix})) = {prefix}"


NUMBERED: Final = either(
    sqlite="INTEGER PRIMARY KEY AUTOINCREMENT",
    postgres="bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
)
"""A column that numbers the rows; no number is used twice."""
BYTES: Final = either(sqlite="blob", postgres="bytea")
BY_KEY: Final = either(sqlite="WITHOUT ROWID", postgres="")
"""At the end of a small table that is read by its primary key only."""
