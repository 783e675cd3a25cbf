"""Forgetting in steps: whatever runs on the loop's thread holds up everything else."""

import sqlite3
from typing import Final

PRUNED_AT_ONCE: Final = 500
"""Rows that one call deletes, some milliseconds' worth; the caller comes again for the rest."""


def delete_some(db: sqlite3.Connection, table: str, key: str, where: str, *values: object) -> int:
    """Delete at most `PRUNED_AT_ONCE` of the rows for which `where` holds; returns how many.

    `table`, `key` (its columns that tell rows apart) and `where` are our own words, `values` fill
    the question marks.
    """
    some = f"SELECT {key} FROM {table} WHERE {where} LIMIT {PRUNED_AT_ONCE}"  # noqa: S608 - constants
    return db.execute(f"DELETE FROM {table} WHERE ({key}) IN ({some})", values).rowcount  # noqa: S608 - constants
