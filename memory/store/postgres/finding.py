"""Looks memories up in PostgreSQL: the filter is in the query, and so is the rule of who sees what.

A statement is put together from constant parts, so that there are few different ones to prepare.
"""

from typing import Final, LiteralString

from memory.scope import Reach
from memory.store.ports import Filter, Match
from memory.store.postgres.engine import PostgresEngine
from memory.store.postgres.reach import OWN, SEES, parameters
from memory.store.postgres.rows import SELECTED, record_from
from memory.store.ranking import Hit, page, ranked
from memory.store.rows import storable
from memory.store.terms import searchable, terms

MAX_HITS: Final = 20_000
"""Memories that one search weighs; the newest of a larger number."""

VISIBLE: Final = f"{SEES} AND (m.expires_at IS NULL OR m.expires_at > %(now)s)"
HITS: Final = """
    WITH asked (bit, query) AS (
        SELECT 1::bigint << (place - 1)::integer, to_tsquery('parley', term)
        FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS t (term, place)
    )
    SELECT m.seq, m.id, (SELECT sum(bit)::bigint FROM asked WHERE m.lexemes @@ query),
        length(m.content)
    FROM memories m WHERE m.lexemes @@ to_tsquery('parley', %(any)s) AND """
NEWEST: Final = f"SELECT {SELECTED} FROM memories m WHERE "  # noqa: S608 - constants
NEWEST_ORDER: Final = " ORDER BY m.at DESC, m.seq DESC LIMIT %(limit)s"
AFTER: Final = f"""
    (m.at, m.seq) < (SELECT m.at, m.seq FROM memories m WHERE m.id = %(after)s AND {SEES})
"""  # noqa: S608 - constants
THEN: Final = """
    (m.true_from IS NULL OR m.true_from <= %(then)s)
    AND (m.true_until IS NULL OR m.true_until > %(then)s)
    AND (m.valid_until IS NULL OR m.valid_until > %(then)s)
"""
RECORDS: Final = f"""
    SELECT m.seq, {SELECTED} FROM memories m WHERE m.seq = ANY (%(seqs)s::bigint[]) AND {VISIBLE}
"""  # noqa: S608 - constants


async def find(engine: PostgresEngine, wanted: Filter, asked: dict[str, object]) -> list[Match]:
    """What `MemoryStore.find` does; `asked` has the reach and `now`."""
    asked = asked | _values(wanted)
    conditions = _conditions(wanted)
    if not wanted.text:
        after: LiteralString = f" AND {AFTER}" if wanted.after_id else ""
        rows = await engine.fetch(NEWEST + conditions + after + NEWEST_ORDER, asked)
        return [Match(record_from(row), 0.0) for row in rows]
    words = [word for term in terms(wanted.text) if (word := _query(term))]
    if not words:
        return []
    asked |= {"terms": words, "any": " | ".join(f"({word})" for word in words)}
    rows = await engine.fetch(f"{HITS}{conditions} ORDER BY m.seq DESC LIMIT {MAX_HITS}", asked)
    hits = [Hit(seq, id_, bits, size) for seq, id_, bits, size in rows if bits]
    found = page(ranked(hits, len(words)), wanted.after_id, wanted.limit)
    rows = await engine.fetch(RECORDS, asked | {"seqs": [hit.seq for hit, _ in found]})
    records = {row[0]: row[1:] for row in rows}
    return [
        Match(record_from(records[hit.seq]), score) for hit, score in found if hit.seq in records
    ]


def _conditions(wanted: Filter) -> LiteralString:
    conditions: list[LiteralString] = [VISIBLE]
    if not wanted.superseded:
        conditions.append("m.superseded_by = ''")
    if wanted.own_only:
        conditions.append(OWN)
    if wanted.kinds:
        conditions.append("m.kind = ANY (%(kinds)s::text[])")
    if wanted.tiers:
        conditions.append("m.tier = ANY (%(tiers)s::text[])")
    if wanted.tags:
        conditions.append("m.tags @> %(tags)s::text[]")
    if wanted.at is not None:
        conditions.append(THEN)
    return " AND ".join(conditions)


def _values(wanted: Filter) -> dict[str, object]:
    return {
        "limit": wanted.limit,
        "after": storable(wanted.after_id),
        "kinds": [kind.value for kind in wanted.kinds],
        "tiers": [tier.value for tier in wanted.tiers],
        "tags": [storable(tag) for tag in wanted.tags],
        "then": wanted.at,
    }


def _query(term: str) -> str:
    """A word as PostgreSQL's query: nothing in it but quoted letters and digits."""
    return " & ".join(f"'{part}'" for part in searchable(term).split())


def asked_by(reach: Reach, now: object) -> dict[str, object]:
    """What every statement takes."""
    return parameters(reach) | {"now": now}
