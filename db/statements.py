"""SQL, written once with `:name` parameters, and translated once for both engines."""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from operator import itemgetter
from typing import Final, Literal

Engine = Literal["sqlite", "postgres"]

_OPEN, _MIDDLE, _CLOSE = "\x01", "\x02", "\x03"
_EITHER: Final = re.compile(f"{_OPEN}([^{_OPEN}-{_CLOSE}]*){_MIDDLE}([^{_OPEN}-{_CLOSE}]*){_CLOSE}")


def either(*, sqlite: str, postgres: str) -> str:
    """One text for SQLite, another one for PostgreSQL; both may contain fragments."""
    first, second = for_engine(sqlite, "sqlite"), for_engine(postgres, "postgres")
    return f"{_OPEN}{first}{_MIDDLE}{second}{_CLOSE}"


def for_engine(source: str, engine: Engine) -> str:
    """Return the source with its fragments in the dialect of one engine."""
    return (
        _EITHER.sub(r"\1" if engine == "sqlite" else r"\2", source) if _OPEN in source else source
    )


FOR_UPDATE: Final = either(sqlite="", postgres="FOR UPDATE")
"""Locks the rows that are read until the transaction ends. SQLite has one writer at a time."""
SKIP_LOCKED: Final = either(sqlite="", postgres="FOR UPDATE SKIP LOCKED")
"""Skips rows that another transaction has locked, and locks the others."""


def among(column: str, parameter: str) -> str:
    """True where the column holds one of the values of a list. The parameter is a Python list."""
    return either(
        sqlite=f"{column} IN (SELECT value FROM json_each(:{parameter}))",
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


_TOKEN: Final = re.compile(
    r"""
    (?P<text>'[^']*+') | (?P<cast>::) | :(?P<name>[a-z_][a-z0-9_]*+) | (?P<percent>%) | (?P<mark>\?)
    """,
    re.VERBOSE,
)

_LIST: Final = re.compile(r"json_each\(:([a-z_][a-z0-9_]*)\)")


class Statement:
    """One statement for SQLite and PostgreSQL.

    The source is standard SQL with parameters as `:name` and fragments of `db.statements`. It uses
    `CAST`, never `::`, and no `?`. A parameter that stands alone, as in `:name IS NULL`, is cast,
    because PostgreSQL has to know its type. Raises ValueError for anything else.

    Values of parameters: str, int, float, bytes, bool, None, and lists of str or int for `among`.
    Times are integers, in microseconds since 1970 (`db.values`). Lists in rows are JSON.
    """

    __slots__ = ("for_sqlite", "postgres", "sqlite")

    for_sqlite: Callable[[Mapping[str, object]], Sequence[object]]
    """Return the values of parameters in the order of their numbers in `sqlite`, lists as JSON."""

    def __init__(self, source: str) -> None:
        named, numbers = for_engine(source, "sqlite"), dict[str, int]()
        # Numbers, because the library makes and looks up a text for every name that it binds.
        self.sqlite = _replaced(
            named, lambda name: f"?{numbers.setdefault(name, len(numbers) + 1)}", "%"
        )
        self.postgres = _replaced(for_engine(source, "postgres"), lambda name: f"%({name})s", "%%")
        self.for_sqlite = _values_of(list(numbers), frozenset(_LIST.findall(named)))

    def __repr__(self) -> str:
        return f"Statement({' '.join(self.sqlite.split())[:80]!r})"


def _replaced(sql: str, parameter: Callable[[str], str], percent: str) -> str:
    """Return the SQL with parameters and percent signs as an engine writes them."""
    parts, done = [], 0
    for token in _tokens(sql):
        parts.append(sql[done : token.start()])
        done = token.end()
        name, text = token["name"], token.group()
        parts.append(parameter(name) if name else text.replace("%", percent))
    return "".join((*parts, sql[done:]))


def _values_of(
    names: Sequence[str], lists: Collection[str]
) -> Callable[[Mapping[str, object]], Sequence[object]]:
    if not lists and len(names) > 1:
        return itemgetter(*names)
    of_lists = [place for place, name in enumerate(names) if name in lists]

    def values(params: Mapping[str, object]) -> list[object]:
        row = [params[name] for name in names]
        for place in of_lists:
            if isinstance(row[place], list | tuple):
                row[place] = json.dumps(row[place])
        return row

    return values


def _tokens(sql: str) -> list[re.Match[str]]:
    tokens = list(_TOKEN.finditer(sql))
    for match in tokens:
        if match["cast"]:
            raise ValueError(f"write CAST(… AS …) instead of '::' in: {sql.strip()[:200]}")
        if match["mark"]:
            raise ValueError(f"write ':name' instead of '?' in: {sql.strip()[:200]}")
    return tokens
