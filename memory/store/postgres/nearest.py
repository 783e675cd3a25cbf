"""Looks memories up by their vectors in PostgreSQL, with the filter in the query.

What few memories come into question are compared one by one: exact, and faster than any index, as
long as their owner does not have very many. Beyond that pgvector's HNSW index goes on until enough
of what it finds fits (`hnsw.iterative_scan`).
"""

from datetime import datetime
from typing import Final, LiteralString

from psycopg.sql import SQL, Literal

from db.postgres import Connection, PostgresDatabase
from db.values import storable
from memory.record import Embedding
from memory.scope import Reach
from memory.store.ports import Filter
from memory.store.postgres.conditions import conditions_of, values_of
from memory.store.postgres.reach import parameters
from memory.store.postgres.rows import vector_text
from memory.store.postgres.vectors import Indexed, PostgresVectors
from memory.store.shelves import owners_within

COMPARED: Final = 10_000
"""Vectors up to which they are compared one by one."""
SETTINGS: Final[tuple[LiteralString, ...]] = (
    "SET LOCAL hnsw.iterative_scan = strict_order",
    "SET LOCAL hnsw.ef_search = 200",
    "SET LOCAL hnsw.max_scan_tuples = 40000",
)
"""How far the index is followed until enough of what it finds fits the filter."""
WITHIN: Final = """
    (m.owner = ANY (%(owners)s::text[])
        OR (%(for_room)s <> '' AND m.tenant = %(for_tenant)s AND m.room = %(for_room)s
            AND m.room <> ''))
"""
MANY: Final = f"""
    SELECT count(*) FROM (SELECT 1 FROM memories m WHERE {WITHIN} LIMIT {COMPARED} + 1) AS counted
"""  # noqa: S608 - constants
EXACT: Final = f"""
    SELECT m.id, 1 - (v.vector <=> %(vector)s::vector) FROM memories m
    JOIN memory_vectors v ON v.memory = m.seq
    WHERE {WITHIN} AND v.model = %(model)s AND vector_dims(v.vector) = %(dimension)s AND """  # noqa: S608
EXACT_ORDER: Final = " ORDER BY v.vector <=> %(vector)s::vector, m.seq DESC LIMIT %(limit)s"


async def nearest(
    engine: PostgresDatabase,
    vectors: PostgresVectors,
    reach: Reach,
    query: Embedding,
    wanted: Filter,
    limit: int,
    now: datetime,
) -> list[tuple[str, float]]:
    """What `RecallStore.nearest` does: ids and cosines."""
    if not await vectors.there(by_now=True):
        return []
    asked = parameters(reach) | values_of(wanted) | {"now": now, "limit": limit}
    asked |= {
        "owners": owners_within(reach),
        "vector": vector_text(query.vector),
        "model": storable(query.model),
        "dimension": query.dimension,
    }
    many = int((await engine.fetch_raw(MANY, asked))[0][0])
    if many > COMPARED and (index := await vectors.index_of(query.model, query.dimension)):
        return await _approximate(engine, index, conditions_of(wanted), asked)
    rows = await engine.fetch_raw(EXACT + conditions_of(wanted) + EXACT_ORDER, asked)
    return [(str(id_), float(score)) for id_, score in rows]


async def _approximate(
    engine: PostgresDatabase, index: Indexed, conditions: LiteralString, asked: dict[str, object]
) -> list[tuple[str, float]]:
    """By the index. Its model and dimension stand in the statement, because the index is of them
    only and the planner has to see that."""
    distance = SQL("v.vector::vector({0}) <=> %(vector)s::vector({0})").format(
        Literal(index.dimension)
    )
    statement = SQL(
        "SELECT m.id, 1 - ({distance}) FROM memory_vectors v JOIN memories m ON m.seq = v.memory"
        " WHERE v.model = {model} AND vector_dims(v.vector) = {dimension} AND {within}"
        " AND {conditions} ORDER BY {distance} LIMIT %(limit)s"
    ).format(
        distance=distance,
        model=Literal(index.model),
        dimension=Literal(index.dimension),
        within=SQL(WITHIN),
        conditions=SQL(conditions),
    )

    async def work(connection: Connection) -> list[tuple[str, float]]:
        async with connection.transaction():
            for setting in SETTINGS:
                await connection.execute(setting)
            rows = await (await connection.execute(statement, asked, prepare=False)).fetchall()
        return [(str(id_), float(score)) for id_, score in rows]

    return await engine.with_connection(work)
