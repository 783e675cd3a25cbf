"""Looks memories up in PostgreSQL: the filter is in the query, and so is the rule of who sees what.

A statement is put together from constant parts, so that there are few different ones to prepare.
"""

from datetime import datetime
from typing import Final, LiteralString

from memory.scope import Reach
from memory.store.ports import Filter, Match
from memory.store.postgres.engine import PostgresEngine
from memory.store.postgres.reach import OWN, SEES, parameters
from memory.store.postgres.rows import SELECTED, record_from
from memory.store.ranking import MAX_WEIGHED, chosen, chunks, ranked
from memory.store.rows import storable
from memory.store.shelves import owners_within, within
from memory.store.terms import searchable, terms

VISIBLE: Final = f"{SEES} AND (m.expires_at IS NULL OR m.expires_at > %(now)s)"
ASKED: Final = """
    SELECT 1::bigint << (place - 1)::integer AS bit, place,
        to_tsquery('simple', %(shelves)s) && to_tsquery('parley', term) AS query
    FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS t (term, place)
"""
COUNTS: Final = f"""
    SELECT (SELECT count(*) FROM memories m WHERE m.lexemes @@ asked.query)
    FROM ({ASKED}) asked ORDER BY place
"""  # noqa: S608 - constants
HITS: Final = f"""
    WITH asked AS MATERIALIZED ({ASKED})
    SELECT m.seq, (SELECT sum(bit)::bigint FROM asked WHERE m.lexemes @@ query)
    FROM memories m
    WHERE m.lexemes @@
        (to_tsquery('simple', %(shelves)s) && to_tsquery('parley', %(first)s)) AND """  # noqa: S608
HITS_ORDER: Final = f" ORDER BY m.seq DESC LIMIT {MAX_WEIGHED}"
NUMBER: Final = "SELECT seq FROM memories WHERE id = %(after)s"
NEWEST_OF: Final = "SELECT m.at, m.seq FROM memories m WHERE "
OF_OWNERS: Final = """
    SELECT newest.at, newest.seq FROM unnest(%(owners)s::text[]) AS owners (name), LATERAL """
NEWEST_ORDER: Final = " ORDER BY m.at DESC, m.seq DESC LIMIT %(limit)s"
IN_ROOM: Final = "m.tenant = %(for_tenant)s AND m.room = %(for_room)s AND m.room <> '' AND "
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


async def find(engine: PostgresEngine, reach: Reach, wanted: Filter, now: datetime) -> list[Match]:
    """What `MemoryStore.find` does."""
    asked = parameters(reach) | {"now": now} | _values(wanted)
    if wanted.text:
        found = await _best(engine, reach, wanted, asked)
    else:
        found = await _newest(engine, reach, wanted, asked)
    rows = await engine.fetch(RECORDS, asked | {"seqs": [seq for seq, _ in found]})
    records = {row[0]: row[1:] for row in rows}
    return [Match(record_from(records[seq]), score) for seq, score in found if seq in records]


async def _newest(
    engine: PostgresEngine, reach: Reach, wanted: Filter, asked: dict[str, object]
) -> list[tuple[int, float]]:
    """The newest of each owner, and of the room, are at hand in order; the newest of all are among
    them."""
    after: LiteralString = f" AND {AFTER}" if wanted.after_id else ""
    rest = f"{_conditions(wanted)}{after}{NEWEST_ORDER}"
    statement: LiteralString = f"{OF_OWNERS} ({NEWEST_OF} m.owner = owners.name AND {rest}) newest"
    if reach.room:
        statement = f"{statement} UNION ({NEWEST_OF} {IN_ROOM} {rest})"
    rows = await engine.fetch(
        f"{statement} ORDER BY 1 DESC, 2 DESC LIMIT %(limit)s",
        asked | {"owners": owners_within(reach)},
    )
    return [(seq, 0.0) for _, seq in rows]


async def _best(
    engine: PostgresEngine, reach: Reach, wanted: Filter, asked: dict[str, object]
) -> list[tuple[int, float]]:
    words = [word for term in terms(wanted.text) if (word := _query(term))]
    if not words:
        return []
    asked = asked | {
        "terms": words,
        "shelves": " | ".join(f"'{shelf}'" for shelf in within(reach)),
    }
    counts = [int(row[0]) for row in await engine.fetch(COUNTS, asked)]
    first = " | ".join(f"({words[place]})" for place in chosen(counts))
    if not first:
        return []
    rows = await engine.fetch(HITS + _conditions(wanted) + HITS_ORDER, asked | {"first": first})
    hits = ranked(((seq, bits) for seq, bits in rows if bits), counts)
    after: int | None = None
    if wanted.after_id:
        number = await engine.fetch(NUMBER, asked)
        after = int(number[0][0]) if number else -1
    return [hit for some in chunks(hits, after) for hit in some][: wanted.limit]


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
