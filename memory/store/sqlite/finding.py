"""Looks memories up in SQLite: the filter is in the query, and so is the rule of who sees what."""

import json
import sqlite3
from typing import Final

from memory.scope import Reach
from memory.store.ports import Filter, Match
from memory.store.ranking import Hit, page, ranked
from memory.store.rows import storable
from memory.store.shelves import within
from memory.store.sqlite.reach import OWN, SEES, parameters
from memory.store.sqlite.rows import SELECTED, record_from
from memory.store.terms import terms

MAX_HITS: Final = 20_000
"""Memories that one search weighs; the newest of a larger number."""

VISIBLE: Final = f"{SEES} AND (m.expires_at IS NULL OR m.expires_at > :now)"
HITS: Final = """
    WITH asked (bit, query) AS (SELECT 1 << key, value FROM json_each(:queries)),
    found (seq, terms) AS MATERIALIZED (
        SELECT f.rowid, sum(asked.bit) FROM asked
        CROSS JOIN memories_text f ON f.memories_text MATCH asked.query GROUP BY f.rowid
    )
    SELECT m.seq, m.id, found.terms, length(m.content)
    FROM found CROSS JOIN memories m ON m.seq = found.seq
    WHERE {where} ORDER BY m.seq DESC LIMIT {limit}
"""
NEWEST: Final = """
    SELECT {columns} FROM memories m WHERE {where} ORDER BY m.at DESC, m.seq DESC LIMIT :limit
"""
AFTER: Final = f"""
    (m.at, m.seq) < (SELECT m.at, m.seq FROM memories m WHERE m.id = :after AND {SEES})
"""  # noqa: S608 - constants


def find(db: sqlite3.Connection, reach: Reach, wanted: Filter, now: float) -> list[Match]:
    """What `MemoryStore.find` does, inside the caller's transaction."""
    conditions, asked = _conditions(reach, wanted, now)
    if not wanted.text:
        return _newest(db, wanted, conditions, asked)
    searched = terms(wanted.text)
    if not searched:
        return []
    shelves = " OR ".join(f'"{shelf}"' for shelf in within(reach))
    asked["queries"] = json.dumps(
        [f'shelves : ({shelves}) AND {{content tags}} : ("{term}")' for term in searched]
    )
    rows = db.execute(HITS.format(where=" AND ".join(conditions), limit=MAX_HITS), asked)
    found = page(ranked([Hit(*row) for row in rows], len(searched)), wanted.after_id, wanted.limit)
    records = _records(db, [hit.seq for hit, _ in found])
    return [Match(record_from(records[hit.seq]), score) for hit, score in found]


def _newest(
    db: sqlite3.Connection, wanted: Filter, conditions: list[str], asked: dict[str, object]
) -> list[Match]:
    if wanted.after_id:
        conditions.append(AFTER)
        asked["after"] = storable(wanted.after_id)
    asked["limit"] = wanted.limit
    sql = NEWEST.format(columns=SELECTED, where=" AND ".join(conditions))
    return [Match(record_from(row), 0.0) for row in db.execute(sql, asked)]


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
