"""Reads the rows of a table once more after an upgrade, to file them under words of this version.

A step of the schema marks the rows that exist then. They are read newest first, some at a time in
the background. Each step is one transaction with its mark, so interrupted work goes on where it
stopped.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from db.statements import FOR_UPDATE, Statement
from db.transaction import Row, Work, execute, fetch


class Refiling(Struct, frozen=True):
    """The rows of a table that are read once more. `mark` is the table that says up to which number
    they are still to be read."""

    mark: str
    rows: str
    """The table, called `m` in `columns`."""
    number: str
    """The column with the ascending numbers of the rows."""
    columns: str
    """The further columns that are read."""

    @property
    def table(self) -> str:
        """Make the table of the mark."""
        return f"CREATE TABLE {self.mark} (upto bigint NOT NULL)"

    @property
    def again(self) -> tuple[str, str]:
        """Mark all rows that exist."""
        return (
            f"DELETE FROM {self.mark}",
            f"INSERT INTO {self.mark} SELECT COALESCE(max({self.number}), 0) FROM {self.rows}",
        )

    def step(self, refile: Callable[[Sequence[Row]], Work[Any]], at_once: int) -> Work[int]:
        """Pass the next rows, number first, at most `at_once`; return how many these are, 0 when
        none is left."""
        rows = yield from fetch(_next(self), {"most": at_once})
        if rows:
            yield from refile(rows)
            yield from execute(_done(self), {"upto": int(rows[-1][0]) - 1})
        return len(rows)


@lru_cache
def _next(of: Refiling) -> Statement:
    return Statement(f"""
        SELECT m.{of.number}, {of.columns} FROM {of.rows} m
        WHERE m.{of.number} <= (SELECT max(upto) FROM {of.mark})
        ORDER BY m.{of.number} DESC LIMIT :most {FOR_UPDATE}
    """)


@lru_cache
def _done(of: Refiling) -> Statement:
    # Another process may have read further meanwhile.
    return Statement(f"UPDATE {of.mark} SET upto = :upto WHERE upto > :upto")
