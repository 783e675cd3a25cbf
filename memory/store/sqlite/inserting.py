"""Stores a record in SQLite, with everything that speaks against it asked in the same step."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Final

from memory.record import Embedding, Record, Scope
from memory.scope import Reach
from memory.store.alike import Filed, same_among
from memory.store.ports import Insertion, Like
from memory.store.rows import origins_of
from memory.store.shelves import owner_of, room_shelf, shelves_of
from memory.store.sqlite.reach import MAY_CHANGE, OWN, SEES, parameters
from memory.store.sqlite.rows import INSERT, blob, values_of
from memory.store.terms import filed

CURRENT: Final = "m.superseded_by = '' AND (m.expires_at IS NULL OR m.expires_at > :now)"
COUNTED: Final = (
    f"m.tenant = :for_tenant AND {OWN} AND m.role = '' AND m.tier <> 'working' AND {CURRENT}"
)
"""What counts towards a plan: what was learned, not the turns of conversations."""

REPLACEABLE: Final = """
    m.superseded_by IN ('', :by) AND (m.expires_at IS NULL OR m.expires_at > :now)
"""
"""By this very record it may be replaced already: both came from an export, the older one first."""
TARGET: Final = f"""
    SELECT m.seq, m.superseded_by = '' FROM memories m WHERE m.id = :target
        AND {SEES} AND {MAY_CHANGE} AND {REPLACEABLE}
"""  # noqa: S608 - constants
CANDIDATES: Final = f"""
    SELECT m.id, m.content FROM memories m WHERE m.seq IN (
        SELECT w.memory FROM json_each(:words) k
        CROSS JOIN memory_words w ON w.word = k.value AND w.size BETWEEN :least AND :most
    ) AND m.tenant = :for_tenant AND m.scope = :scope AND m.project = :of_project
        AND (m.scope <> 'user' OR {OWN}) AND m.id <> :target AND {CURRENT}
"""  # noqa: S608 - constants
REPLACED: Final = f"""
    DELETE FROM memories AS m WHERE m.id = :id AND m.role <> '' AND {MAY_CHANGE}
"""  # noqa: S608 - constants
COUNT: Final = f"SELECT count(*) FROM memories m WHERE {COUNTED}"  # noqa: S608 - constants
PUT_VECTOR: Final = """
    INSERT OR REPLACE INTO memory_vectors (memory, model, dimension, owner, room, vector)
    SELECT seq, :model, :dimension, owner,
        iif(scope = 'user' AND room <> '', tenant || char(31) || room, ''), :vector
    FROM memories WHERE id = :id
"""
SUPERSEDE: Final = """
    UPDATE memories SET superseded_by = :by, superseded_at = :at WHERE seq = :seq
"""


def insert(
    db: sqlite3.Connection,
    reach: Reach,
    record: Record,
    alike: Filed,
    *,
    threshold: float,
    quota: int | None,
    now: float,
) -> Insertion:
    """What `MemoryStore.insert` does, inside the caller's transaction."""
    asked = parameters(reach) | {"now": now, "target": record.supersedes, "by": record.id}
    if _is_there(db, record.id):
        return Insertion(True)
    target, freed = None, False
    if record.supersedes:
        found = db.execute(TARGET, asked).fetchone()
        if found is None:
            return Insertion(False, missing=record.supersedes)
        target, freed = found[0], bool(found[1])
    if record.current:
        duplicate = like(db, record, alike, asked, threshold)
        if duplicate is not None:
            return Insertion(False, duplicate=duplicate)
        if quota is not None and record.scope is Scope.USER and not record.role:
            used = count(db, asked) - freed
            if used >= quota:
                return Insertion(False, quota=(used, quota))
    _put(db, record, alike, target)
    return Insertion(True)


def keep_turns(db: sqlite3.Connection, reach: Reach, records: Sequence[Record]) -> None:
    """What `MemoryStore.keep_turns` does, inside the caller's transaction."""
    for record in records:
        if _is_there(db, record.id):
            db.execute(REPLACED, parameters(reach) | {"id": record.id})
        if not _is_there(db, record.id):
            _put(db, record, Filed(), None)


def count(db: sqlite3.Connection, asked: dict[str, object]) -> int:
    """How many memories count towards the person's plan; `asked` has the reach and `now`."""
    return int(db.execute(COUNT, asked).fetchone()[0])


def file_words(db: sqlite3.Connection, seq: int, alike: Filed) -> None:
    """File a memory under its words."""
    db.executemany(
        "INSERT OR IGNORE INTO memory_words (word, size, memory) VALUES (?, ?, ?)",
        [(word, alike.size, seq) for word in alike.stored],
    )


def file_terms(db: sqlite3.Connection, seq: int, record: Record) -> None:
    """File a memory under what it is found by."""
    words = filed(record.content, *record.tags)
    length = words.count(" ") + 1 if words else 0
    row = (seq, words, shelves_of(record), length, owner_of(record), room_shelf(record))
    db.execute("INSERT INTO memory_terms VALUES (?, ?, ?, ?, ?, ?)", row)


def put_vector(db: sqlite3.Connection, memory_id: str, embedding: Embedding) -> bool:
    """Set the vector of a memory; False when there is no such memory."""
    values = {
        "id": memory_id,
        "model": embedding.model,
        "dimension": embedding.dimension,
        "vector": blob(embedding.vector),
    }
    return db.execute(PUT_VECTOR, values).rowcount == 1


def like(
    db: sqlite3.Connection,
    record: Record,
    alike: Filed,
    asked: dict[str, object],
    threshold: float,
) -> Like | None:
    """The duplicate of a record; `asked` has the reach, `now` and the `target` it supersedes."""
    if not alike.lookup:
        return None
    least, most = alike.sizes
    asked = asked | {
        "words": json.dumps(alike.lookup),
        "least": least,
        "most": most,
        "scope": record.scope.value,
        "of_project": record.project,
    }
    return same_among(alike, db.execute(CANDIDATES, asked), threshold)


def _is_there(db: sqlite3.Connection, memory_id: str) -> bool:
    return db.execute("SELECT 1 FROM memories WHERE id = ?", (memory_id,)).fetchone() is not None


def _put(db: sqlite3.Connection, record: Record, alike: Filed, target: int | None) -> None:
    seq = db.execute(INSERT, values_of(record)).lastrowid
    if seq is None:
        raise sqlite3.DatabaseError("the stored row has no number")
    file_words(db, seq, alike)
    file_terms(db, seq, record)
    db.executemany(
        "INSERT OR IGNORE INTO memory_origins (origin, memory) VALUES (?, ?)",
        [(origin, seq) for origin in origins_of(record)],
    )
    if record.embedding is not None:
        put_vector(db, record.id, record.embedding)
    if target is not None:
        at = record.provenance.at.timestamp()
        db.execute(SUPERSEDE, {"by": record.id, "at": at, "seq": target})
