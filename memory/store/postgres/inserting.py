"""Stores a record in PostgreSQL, with everything that speaks against it asked under one lock.

Whoever writes for a person holds the lock of everybody that person is linked with, so that of two
writers the second sees what the first stored. Two round trips: the questions, and the answer.
"""

from datetime import datetime
from typing import Final

from psycopg.rows import TupleRow

from db.postgres import Connection
from memory.record import Record, Scope
from memory.scope import Reach
from memory.store.alike import Filed, same_among
from memory.store.ports import Insertion
from memory.store.postgres.locks import LOCK, lock_numbers
from memory.store.postgres.reach import MAY_CHANGE, OWN, SEES, parameters
from memory.store.postgres.rows import INSERT, values_of
from memory.store.rows import origins_of
from memory.store.shelves import alike_shelves

CURRENT: Final = "m.superseded_by = '' AND (m.expires_at IS NULL OR m.expires_at > %(now)s)"
COUNTED: Final = (
    f"m.tenant = %(for_tenant)s AND {OWN} AND m.role = '' AND m.tier <> 'working' AND {CURRENT}"
)
"""What counts towards a plan: what was learned, not the turns of conversations."""
COUNT: Final = f"SELECT count(*) FROM memories m WHERE {COUNTED}"  # noqa: S608 - constants

KNOWN: Final = "SELECT EXISTS (SELECT FROM memories WHERE id = %(id)s)"
REPLACEABLE: Final = """
    m.superseded_by IN ('', %(id)s) AND (m.expires_at IS NULL OR m.expires_at > %(now)s)
"""
"""By this very record it may be replaced already: both came from an export, the older one first."""
TARGET: Final = f"""
    SELECT m.seq, m.superseded_by = '' FROM memories m
    WHERE m.id = %(target)s AND {SEES} AND {MAY_CHANGE} AND {REPLACEABLE} FOR UPDATE
"""  # noqa: S608 - constants
CANDIDATES: Final = f"""
    SELECT DISTINCT m.id, m.content FROM memory_words w JOIN memories m ON m.seq = w.memory
    WHERE w.word = ANY (%(words)s::bigint[]) AND w.size BETWEEN %(least)s AND %(most)s
        AND m.tenant = %(for_tenant)s AND m.scope = %(scope)s AND m.project = %(project)s
        AND (m.scope <> 'user' OR {OWN}) AND m.id <> %(target)s AND {CURRENT}
"""  # noqa: S608 - constants
REPLACED: Final = f"""
    DELETE FROM memories m WHERE m.id = %(id)s AND m.role <> '' AND {MAY_CHANGE}
"""  # noqa: S608 - constants
PUT: Final = f"""
    WITH new AS ({INSERT} RETURNING seq), filed AS (
        INSERT INTO memory_words (word, size, memory)
        SELECT DISTINCT word, %(size)s::integer, new.seq
        FROM new, unnest(%(stored)s::bigint[]) AS word
    ), derived AS (
        INSERT INTO memory_origins (origin, memory)
        SELECT DISTINCT origin, new.seq FROM new, unnest(%(origins)s::text[]) AS origin
    ), replaced AS (
        UPDATE memories SET superseded_by = %(id)s, superseded_at = %(at)s::timestamptz
        WHERE seq = %(old)s::bigint
    )
    SELECT seq FROM new
"""  # noqa: S608 - constants
PUT_VECTOR: Final = """
    INSERT INTO memory_vectors (memory, model, vector)
    SELECT seq, %(model)s, %(vector)s::vector FROM memories WHERE id = %(id)s
    ON CONFLICT (memory) DO UPDATE SET model = excluded.model, vector = excluded.vector
"""


async def insert(
    connection: Connection,
    reach: Reach,
    record: Record,
    filed: Filed,
    asked: dict[str, object],
    *,
    threshold: float,
    quota: int | None,
) -> Insertion:
    """What `MemoryStore.insert` does; `asked` comes from `questions`."""
    locks = lock_numbers(alike_shelves(reach, record))
    async with connection.pipeline(), connection.transaction():
        await connection.execute(LOCK, (locks,))
        known = await connection.execute(KNOWN, asked)
        target = await connection.execute(TARGET, asked) if record.supersedes else None
        compared = bool(filed.lookup) and record.current
        likely = await connection.execute(CANDIDATES, asked) if compared else None
        counted = quota is not None and record.scope is Scope.USER and not record.role
        counted = counted and record.current
        used = await connection.execute(COUNT, asked) if counted else None
        found = await known.fetchone()
        if found is not None and found[0]:
            return Insertion(True)
        old: TupleRow | None = await target.fetchone() if target is not None else None
        if record.supersedes and old is None:
            return Insertion(False, missing=record.supersedes)
        same = same_among(filed, await likely.fetchall(), threshold) if likely else None
        if same is not None:
            return Insertion(False, duplicate=same)
        if used is not None and quota is not None:
            number = ((await used.fetchone()) or (0,))[0] - (old is not None and bool(old[1]))
            if number >= quota:
                return Insertion(False, quota=(number, quota))
        await connection.execute(PUT, asked | {"old": old[0] if old else None})
        if "vector" in asked:
            await connection.execute(PUT_VECTOR, asked)
    return Insertion(True)


async def keep_turn(connection: Connection, asked: dict[str, object]) -> None:
    """Store a turn in place of the one with the same id, inside the caller's transaction."""
    await connection.execute(REPLACED, asked)
    known = await (await connection.execute(KNOWN, asked)).fetchone()
    if known is None or known[0]:
        return
    await connection.execute(PUT, asked | {"old": None})
    if "vector" in asked:
        await connection.execute(PUT_VECTOR, asked)


def questions(reach: Reach, record: Record, filed: Filed, now: datetime) -> dict[str, object]:
    """What the statements take."""
    least, most = filed.sizes
    return {
        **parameters(reach),
        **values_of(record),
        "now": now,
        "target": record.supersedes,
        "words": list(filed.lookup),
        "least": least,
        "most": most,
        "stored": list(filed.stored),
        "size": filed.size,
        "origins": origins_of(record),
    }
