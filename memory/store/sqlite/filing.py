"""Files memories that are there already under the words that they are found by."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Final

from memory.store.sqlite.inserting import file_terms
from memory.store.sqlite.rows import SELECTED, record_from

AT_ONCE: Final = 200
"""Memories that one step files: some milliseconds."""
UNFILED: Final = f"""
    SELECT m.seq FROM memories m LEFT JOIN memory_terms t ON t.memory = m.seq
    WHERE t.memory IS NULL ORDER BY m.seq DESC LIMIT {AT_ONCE}
"""  # noqa: S608 - constants
DUE: Final = "SELECT due FROM memory_upkeep WHERE task = 'file'"
DONE: Final = "UPDATE memory_upkeep SET due = 0 WHERE task = 'file'"


def file_again(db: sqlite3.Connection, seqs: Sequence[int]) -> None:
    """File memories that are not filed."""
    rows = db.execute(
        f"SELECT m.seq, {SELECTED} FROM memories m"  # noqa: S608 - constants
        " WHERE m.seq IN (SELECT value FROM json_each(?))",
        (json.dumps(seqs),),
    )
    for seq, *columns in rows.fetchall():
        file_terms(db, seq, record_from(tuple(columns)))


def file_some(db: sqlite3.Connection) -> int:
    """File some of what an older version stored, the newest first; how many, 0 in the end."""
    if not db.execute(DUE).fetchone()[0]:
        return 0
    seqs = [int(row[0]) for row in db.execute(UNFILED)]
    file_again(db, seqs)
    if not seqs:
        db.execute(DONE)
    return len(seqs)
