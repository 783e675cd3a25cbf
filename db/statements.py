"""SQL, written once with `:name` parameters, and translated once for both engines."""

import json
import re
from collections.abc import Mapping
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

    __slots__ = ("_lists", "postgres", "sqlite", "takes_lists")

    def __init__(self, source: str) -> None:
        self.sqlite = for_engine(source, "sqlite")
        self.postgres = _for_psycopg(for_engine(source, "postgres"))
        self._lists = tuple(dict.fromkeys(_LIST.findall(self.sqlite)))
        self.takes_lists = bool(self._lists)

    def for_sqlite(self, params: Mapping[str, object]) -> Mapping[str, object]:
        """The parameters with lists as JSON, which SQLite has no type for."""
        if not self._lists:
            return params
        lists = {
            name: json.dumps(params[name])
            for name in self._lists
            if isinstance(params[name], list | tuple)
        }
        return {**params, **lists}

    def __repr__(self) -> str:
        return f"Statement({' '.join(self.sqlite.split())[:80]!r})"


def _for_psycopg(sql: str) -> str:
    parts, done = [], 0
    for found in _tokens(sql):
        parts.append(sql[done : found.start()])
        done = found.end()
        token = found.group()
        parts.append(f"%({found['name']})s" if found["name"] else token.replace("%", "%%"))
    return "".join((*parts, sql[done:]))


def _tokens(sql: str) -> list[re.Match[str]]:
    found = list(_TOKEN.finditer(sql))
    for match in found:
        if match["cast"]:
            raise ValueError(f"write CAST(… AS …) instead of '::' in: {sql.strip()[:200]}")
        if match["mark"]:
            raise ValueError(f"write ':name' instead of '?' in: {sql.strip()[:200]}")
    return found
