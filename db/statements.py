"""SQL, written once with `:name` parameters, and translated once for both engines."""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from operator import itemgetter
from typing import Final

from db.fragments import for_engine

_TOKEN: Final = re.compile(
    r"""
    (?P<text>'[^']*+') | (?P<cast>::) | :(?P<name>[a-z_][a-z0-9_]*+) | (?P<percent>%) | (?P<mark>\?)
    """,
    re.VERBOSE,
)

_LIST: Final = re.compile(r"json_each\(:([a-z_][a-z0-9_]*)\)")


class Statement:
    """One statement for SQLite and PostgreSQL.

    The source is standard SQL with parameters as `:name` and fragments of `db.fragments`. It uses
    `CAST`, never `::`, and no `?`. A parameter that stands alone, as in `:name IS NULL`, is cast,
    because PostgreSQL has to know its type. Raises ValueError for anything else.

    Values of parameters: str, int, float, bytes, bool, None, and lists of str or int for `among`.
    Times are integers, in microseconds since 1970 (`db.times`). Lists in rows are JSON.
    """

    __slots__ = ("for_sqlite", "postgres", "sqlite")

    for_sqlite: Callable[[Mapping[str, object]], Sequence[object]]
    """The values of parameters in the order of their numbers in `sqlite`, lists as JSON."""

    def __init__(self, source: str) -> None:
        named = for_engine(source, "sqlite")
        names = list(dict.fromkeys(match["name"] for match in _tokens(named) if match["name"]))
        # Numbers, because the library makes and looks up a text for every name that it binds.
        self.sqlite = _replaced(named, lambda name: f"?{names.index(name) + 1}", "%")
        self.postgres = _replaced(for_engine(source, "postgres"), lambda name: f"%({name})s", "%%")
        self.for_sqlite = _values_of(names, frozenset(_LIST.findall(named)))

    def __repr__(self) -> str:
        return f"Statement({' '.join(self.sqlite.split())[:80]!r})"


def _replaced(sql: str, parameter: Callable[[str], str], percent: str) -> str:
    """The SQL with parameters and signs of percent as an engine writes them."""
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
