"""Deletes expired rows of the hot state in SQLite, some at a time."""

import sqlite3
from typing import Final

PRUNED_AT_ONCE: Final = 500
"""Rows per call, which take some milliseconds; the caller repeats the call."""


def delete_some(db: sqlite3.Connection, table: str, key: str, where: str, *values: object) -> int:
    """Delete at most `PRUNED_AT_ONCE` of the rows for which `where` holds; returns how many.

    `table`, `key` (the columns of its key) and `where` are constants of this program; `values` are
    the parameters.
    """
    some = f"SELECT {key} FROM {table} WHERE {where} LIMIT {PRUNED_AT_ONCE}"
    return db.execute(f"DELETE FROM {table} WHERE ({key}) IN ({some})", values).rowcount
