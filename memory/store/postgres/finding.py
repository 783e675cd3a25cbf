"""Looks memories up in PostgreSQL: the filter is in the query, and so is the rule of who sees what.

A statement is put together from constant parts, so that there are few different ones to prepare.
"""

from datetime import datetime
from typing import Final, LiteralString

from db.postgres import PostgresDatabase
from db.values import storable
from memory.record import Kind
from memory.scope import Reach
from memory.store.ports import Filter, Match
from memory.store.postgres.conditions import VISIBLE, conditions_of, values_of
from memory.store.postgres.lexical import having
from memory.store.postgres.reach import OWN, SEES, parameters
from memory.store.postgres.rows import SELECTED, record_from
from memory.store.ranking import chunks
from memory.store.shelves import owners_within
from memory.store.terms import asked as asked_terms

NUMBER: Final = "SELECT seq FROM memories WHERE id = %(after)s"
NEWEST_OF: Final = "SELECT m.at, m.seq FROM memories m WHERE "
OF_OWNERS: Final = """
    SELECT newest.at, newest.seq FROM unnest(%(owners)s::text[]) AS owners (name), LATERAL """
NEWEST_ORDER: Final = " ORDER BY m.at DESC, m.seq DESC LIMIT %(limit)s"
IN_ROOM: Final = "m.tenant = %(for_tenant)s AND m.room = %(for_room)s AND m.room <> '' AND "
TALLY: Final = f"""
    SELECT m.kind, count(*) FROM memories m WHERE m.tenant = %(for_tenant)s AND {OWN}
"""  # noqa: S608 - constants
AFTER: Final = f"""
    (m.at, m.seq) < (SELECT m.at, m.seq FROM memories m WHERE m.id = %(after)s AND {SEES})
"""  # noqa: S608 - constants
RECORDS: Final = f"""
    SELECT m.seq, {SELECTED} FROM memories m WHERE m.seq = ANY (%(seqs)s::bigint[]) AND {VISIBLE}
"""  # noqa: S608 - constants


async def find(
    engine: PostgresDatabase, reach: Reach, wanted: Filter, now: datetime
) -> list[Match]:
    """What `MemoryStore.find` does."""
    asked = parameters(reach) | {"now": now} | values_of(wanted)
    if wanted.text:
        found = await _best(engine, reach, wanted, now)
    else:
        found = await _newest(engine, reach, wanted, asked)
    rows = await engine.fetch_raw(RECORDS, asked | {"seqs": [seq for seq, _ in found]})
    records = {row[0]: row[1:] for row in rows}
    return [Match(record_from(records[seq]), score) for seq, score in found if seq in records]


async def tally(
    engine: PostgresDatabase, reach: Reach, wanted: Filter, now: datetime
) -> dict[Kind, int]:
    """What `MemoryStore.tally` does."""
    asked = parameters(reach) | {"now": now} | values_of(wanted)
    statement: LiteralString = f"{TALLY} AND {conditions_of(wanted)} GROUP BY m.kind"
    rows = await engine.fetch_raw(statement, asked)
    return {Kind(kind): int(count) for kind, count in rows}


async def _newest(
    engine: PostgresDatabase, reach: Reach, wanted: Filter, asked: dict[str, object]
) -> list[tuple[int, float]]:
    """The newest of each owner, and of the room, are at hand in order; the newest of all are among
    them."""
    after: LiteralString = f" AND {AFTER}" if wanted.after_id else ""
    rest = f"{conditions_of(wanted)}{after}{NEWEST_ORDER}"
    statement: LiteralString = f"{OF_OWNERS} ({NEWEST_OF} m.owner = owners.name AND {rest}) newest"
    if reach.room:
        statement = f"{statement} UNION ({NEWEST_OF} {IN_ROOM} {rest})"
    rows = await engine.fetch_raw(
        f"{statement} ORDER BY 1 DESC, 2 DESC LIMIT %(limit)s",
        asked | {"owners": owners_within(reach)},
    )
    return [(seq, 0.0) for _, seq in rows]


async def _best(
    engine: PostgresDatabase, reach: Reach, wanted: Filter, now: datetime
) -> list[tuple[int, float]]:
    terms = asked_terms(storable(wanted.text), unfinished=wanted.unfinished)
    hits, _ = await having(engine, reach, terms, wanted, now)
    after: int | None = None
    if wanted.after_id:
        number = await engine.fetch_raw(NUMBER, {"after": storable(wanted.after_id)})
        after = int(number[0][0]) if number else -1
    return [hit for some in chunks(hits, after) for hit in some][: wanted.limit]
