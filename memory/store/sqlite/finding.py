"""Looks memories up in SQLite: the filter is in the query, and so is the rule of who sees what."""

import json
import sqlite3
from typing import Final

from memory.scope import Reach
from memory.store.ports import Filter, Match
from memory.store.ranking import MAX_WEIGHED, chosen, chunks, ranked
from memory.store.rows import storable
from memory.store.shelves import owners_within, within
from memory.store.sqlite.reach import OWN, SEES, parameters
from memory.store.sqlite.rows import SELECTED, record_from
from memory.store.terms import terms

VISIBLE: Final = f"{SEES} AND (m.expires_at IS NULL OR m.expires_at > :now)"
COUNTS: Final = """
    SELECT asked.key, count(*) FROM json_each(:queries) asked
    CROSS JOIN memories_text f ON f.memories_text MATCH asked.value GROUP BY asked.key
"""
HITS: Final = f"""
    WITH asked (bit, query, first) AS MATERIALIZED (
        SELECT 1 << key, value, key IN (SELECT value FROM json_each(:first))
        FROM json_each(:queries)
    ), found (seq, bits) AS MATERIALIZED (
        SELECT f.rowid, sum(asked.bit) FROM asked
        CROSS JOIN memories_text f ON f.memories_text MATCH asked.query
        WHERE asked.first GROUP BY f.rowid ORDER BY f.rowid DESC LIMIT {MAX_WEIGHED}
    ), more (seq, bits) AS (
        SELECT f.rowid, asked.bit FROM asked
        CROSS JOIN memories_text f ON f.memories_text MATCH asked.query
        WHERE NOT asked.first AND +f.rowid IN (SELECT seq FROM found)
    )
    SELECT seq, sum(bits) FROM (SELECT * FROM found UNION ALL SELECT * FROM more) GROUP BY seq
"""  # noqa: S608 - constants
PICK: Final = (
    "SELECT m.seq FROM memories m WHERE m.seq IN (SELECT value FROM json_each(:some)) AND "
)
ARMS: Final = ("m.owner = :owner", "m.tenant = :for_tenant AND m.room = :for_room AND m.room <> ''")
NEWEST: Final = " ORDER BY m.at DESC, m.seq DESC LIMIT :limit"
AFTER: Final = f"""
    (m.at, m.seq) < (SELECT m.at, m.seq FROM memories m WHERE m.id = :after AND {SEES})
"""  # noqa: S608 - constants


def find(db: sqlite3.Connection, reach: Reach, wanted: Filter, now: float) -> list[Match]:
    """What `MemoryStore.find` does, inside the caller's transaction."""
    conditions, asked = _conditions(reach, wanted, now)
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
    searched = terms(wanted.text)
    shelves = " OR ".join(f'"{shelf}"' for shelf in within(reach))
    asked["queries"] = json.dumps(
        [f'shelves : ({shelves}) AND {{content tags}} : ("{term}")' for term in searched]
    )
    having = dict(db.execute(COUNTS, asked).fetchall())
    counts = [int(having.get(word, 0)) for word in range(len(searched))]
    asked["first"] = json.dumps(chosen(counts))
    hits = ranked(db.execute(HITS, asked), counts)
    after = _number(db, wanted.after_id) if wanted.after_id else None
    found: list[tuple[int, float]] = []
    for some in chunks(hits, after):
        asked["some"] = json.dumps([seq for seq, _ in some])
        picked = {row[0] for row in db.execute(PICK + " AND ".join(conditions), asked)}
        found += [hit for hit in some if hit[0] in picked]
        if len(found) >= wanted.limit:
            break
    return found[: wanted.limit]


def _number(db: sqlite3.Connection, memory_id: str) -> int:
    """The number of a memory; -1, which none has, when there is no such memory."""
    row = db.execute("SELECT seq FROM memories WHERE id = ?", (storable(memory_id),)).fetchone()
    return -1 if row is None else int(row[0])


def _conditions(reach: Reach, wanted: Filter, now: float) -> tuple[list[str], dict[str, object]]:
    conditions, asked = [VISIBLE], parameters(reach) | {"now": now}
    if not wanted.superseded:
        conditions.append("m.superseded_by = ''")
    if wanted.own_only:
        conditions.append(OWN)
    if wanted.kinds:
        conditions.append("m.kind IN (SELECT value FROM json_each(:kinds))")
        asked["kinds"] = json.dumps(wanted.kinds)
    if wanted.tiers:
        conditions.append("m.tier IN (SELECT value FROM json_each(:tiers))")
        asked["tiers"] = json.dumps(wanted.tiers)
    if wanted.tags:
        conditions.append(
            "NOT EXISTS (SELECT 1 FROM json_each(:tags) tag WHERE tag.value NOT IN"
            " (SELECT value FROM json_each(m.tags)))"
        )
        asked["tags"] = json.dumps([storable(tag) for tag in wanted.tags])
    if wanted.at is not None:
        conditions += [
            "(m.true_from IS NULL OR m.true_from <= :then)",
            "(m.true_until IS NULL OR m.true_until > :then)",
            "(m.valid_until IS NULL OR m.valid_until > :then)",
        ]
        asked["then"] = wanted.at.timestamp()
    return conditions, asked


def _records(db: sqlite3.Connection, seqs: list[int]) -> dict[int, tuple[object, ...]]:
    rows = db.execute(
        f"SELECT m.seq, {SELECTED} FROM memories m"  # noqa: S608 - constants
        " WHERE m.seq IN (SELECT value FROM json_each(?))",
        (json.dumps(seqs),),
    )
    return {row[0]: row[1:] for row in rows}
