"""Files memories that are there already under the words that they are found by."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Final

from memory.store.sqlite.inserting import file_terms
from memory.store.sqlite.rows import SELECTED, record_from

UNFILED: Final = """
    SELECT m.id FROM memories m LEFT JOIN memory_terms t ON t.memory = m.seq
    WHERE t.memory IS NULL AND m.id NOT IN (SELECT value FROM json_each(:passed))
    ORDER BY m.seq DESC LIMIT :limit
"""
THESE: Final = """
    SELECT m.seq FROM memories m LEFT JOIN memory_terms t ON t.memory = m.seq
    WHERE t.memory IS NULL AND m.id IN (SELECT value FROM json_each(?))
"""
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


def unfiled(db: sqlite3.Connection, limit: int, passed: Sequence[str]) -> list[str]:
    """Some of what an older version stored, the newest first."""
    if not db.execute(DUE).fetchone()[0]:
        return []
    asked = {"limit": limit, "passed": json.dumps(list(passed))}
    found = [str(row[0]) for row in db.execute(UNFILED, asked)]
    if not (found or passed):
        db.execute(DONE)
    return found


def file_these(db: sqlite3.Connection, ids: Sequence[str]) -> int:
    """File those of them that are not filed; how many."""
    seqs = [int(row[0]) for row in db.execute(THESE, (json.dumps(list(ids)),))]
    file_again(db, seqs)
    return len(seqs)
