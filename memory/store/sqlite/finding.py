"""Looks memories up in SQLite: the filter is in the query, and so is the rule of who sees what."""

import json
import sqlite3
from typing import Final

from db.values import storable
from memory.record import Kind
from memory.scope import Reach
from memory.store.ports import Filter, Match
from memory.store.ranking import chunks
from memory.store.shelves import owners_within
from memory.store.sqlite.conditions import conditions_of
from memory.store.sqlite.lexical import having
from memory.store.sqlite.reach import OWN, SEES
from memory.store.sqlite.rows import SELECTED, record_from
from memory.store.terms import asked as asked_terms

PICK: Final = (
    "SELECT m.seq FROM memories m WHERE m.seq IN (SELECT value FROM json_each(:some)) AND "
)
ARMS: Final = ("m.owner = :owner", "m.tenant = :for_tenant AND m.room = :for_room AND m.room <> ''")
NEWEST: Final = " ORDER BY m.at DESC, m.seq DESC LIMIT :limit"
TALLY: Final = f"SELECT m.kind, count(*) FROM memories m WHERE m.tenant = :for_tenant AND {OWN}"  # noqa: S608 - constants
AFTER: Final = f"""
    (m.at, m.seq) < (SELECT m.at, m.seq FROM memories m WHERE m.id = :after AND {SEES})
"""  # noqa: S608 - constants


def find(db: sqlite3.Connection, reach: Reach, wanted: Filter, now: float) -> list[Match]:
    """What `MemoryStore.find` does, inside the caller's transaction."""
    conditions, asked = conditions_of(reach, wanted, now)
    if not wanted.text:
        found = [(seq, 0.0) for seq in _newest(db, reach, wanted, conditions, asked)]
    else:
        found = _best(db, reach, wanted, conditions, asked)
    records = _records(db, [seq for seq, _ in found])
    return [Match(record_from(records[seq]), score) for seq, score in found]


def _newest(
    db: sqlite3.Connection,
    reach: Reach,
    wanted: Filter,
    conditions: list[str],
    asked: dict[str, object],
) -> list[int]:
    """The newest of each owner, and of the room, are at hand in order; the newest of all are among
    them."""
    if wanted.after_id:
        conditions.append(AFTER)
        asked["after"] = storable(wanted.after_id)
    asked["limit"] = wanted.limit
    rest = " AND ".join(conditions) + NEWEST
    found: set[tuple[float, int]] = set()
    for owner in owners_within(reach):
        sql = f"SELECT m.at, m.seq FROM memories m WHERE {ARMS[0]} AND {rest}"  # noqa: S608
        found.update(db.execute(sql, asked | {"owner": owner}))
    if reach.room:
        sql = f"SELECT m.at, m.seq FROM memories m WHERE {ARMS[1]} AND {rest}"  # noqa: S608
        found.update(db.execute(sql, asked))
    return [seq for _, seq in sorted(found, reverse=True)[: wanted.limit]]


def _best(
    db: sqlite3.Connection,
    reach: Reach,
    wanted: Filter,
    conditions: list[str],
    asked: dict[str, object],
) -> list[tuple[int, float]]:
    terms = asked_terms(storable(wanted.text), unfinished=wanted.unfinished)
    hits, _ = having(db, reach, terms)
    after = _number(db, wanted.after_id) if wanted.after_id else None
    found: list[tuple[int, float]] = []
    for some in chunks(hits, after):
        asked["some"] = json.dumps([seq for seq, _ in some])
        picked = {row[0] for row in db.execute(PICK + " AND ".join(conditions), asked)}
        found += [hit for hit in some if hit[0] in picked]
        if len(found) >= wanted.limit:
            break
    return found[: wanted.limit]


def tally(db: sqlite3.Connection, reach: Reach, wanted: Filter, now: float) -> dict[Kind, int]:
    """What `MemoryStore.tally` does, inside the caller's transaction."""
    conditions, asked = conditions_of(reach, wanted, now)
    rows = db.execute(f"{TALLY} AND {' AND '.join(conditions)} GROUP BY m.kind", asked)
    return {Kind(kind): int(count) for kind, count in rows}


def _number(db: sqlite3.Connection, memory_id: str) -> int:
    """The number of a memory; -1, which none has, when there is no such memory."""
    row = db.execute("SELECT seq FROM memories WHERE id = ?", (storable(memory_id),)).fetchone()
    return -1 if row is None else int(row[0])


def _records(db: sqlite3.Connection, seqs: list[int]) -> dict[int, tuple[object, ...]]:
    rows = db.execute(
        f"SELECT m.seq, {SELECTED} FROM memories m"  # noqa: S608 - constants
        " WHERE m.seq IN (SELECT value FROM json_each(?))",
        (json.dumps(seqs),),
    )
    return {row[0]: row[1:] for row in rows}
