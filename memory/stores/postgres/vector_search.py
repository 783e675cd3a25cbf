"""Looks memories up by their vectors in PostgreSQL, with the filter in the query.

What few memories come into question are compared one by one: exact, and faster than any index, as
long as their owner does not have very many. Beyond that pgvector's HNSW index goes on until enough
of what it finds fits (`hnsw.iterative_scan`).
"""

from typing import Final, LiteralString

from psycopg.sql import SQL, Literal

from db import Params, Statement, among
from db.postgres import Connection, PostgresDatabase
from db.values import storable
from memory.model.record import Embedding
from memory.model.scope import AccessScope
from memory.ports.memories import Filter
from memory.stores.filters import conditions_of, statement, values_of
from memory.stores.partitions import owners_within
from memory.stores.postgres.vector_table import Indexed, VectorTable

COMPARED: Final = 10_000
"""Up to so many vectors are compared one by one."""
SETTINGS: Final[tuple[LiteralString, ...]] = (
    "SET LOCAL hnsw.iterative_scan = strict_order",
    "SET LOCAL hnsw.ef_search = 200",
    "SET LOCAL hnsw.max_scan_tuples = 40000",
)
"""How far the index is followed until enough matches fit the filter."""
SET: Final = Statement("""
    INSERT INTO memory_vectors (memory, model, vector)
    SELECT seq, :model, CAST(:vector AS vector) FROM memories WHERE id = :id
    ON CONFLICT (memory) DO UPDATE SET model = excluded.model, vector = excluded.vector
""")
WITHIN: Final = f"""
    ({among("m.owner", "owners")}
        OR (:for_room <> '' AND m.tenant = :for_tenant AND m.room = :for_room AND m.room <> ''))
"""
MANY: Final = Statement(f"""
    SELECT count(*) FROM (SELECT 1 FROM memories m WHERE {WITHIN} LIMIT {COMPARED} + 1) AS counted
""")  # noqa: S608 - constants
EXACT: Final = f"""
    SELECT m.id, 1 - (v.vector <=> CAST(:vector AS vector)) FROM memories m
    JOIN memory_vectors v ON v.memory = m.seq
    WHERE {WITHIN} AND v.model = :model AND vector_dims(v.vector) = :dimension AND
"""  # noqa: S608 - constants
EXACT_ORDER: Final = " ORDER BY v.vector <=> CAST(:vector AS vector), m.seq DESC LIMIT :limit"


class PostgresVectors:
    """Implements `memory.ports.search.VectorSearch`."""

    setting: Statement = SET

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self.table = VectorTable(database)

    async def there(self) -> bool:
        return await self.table.there()

    async def made(self) -> bool:
        return await self.table.made()

    def values(self, memory_id: str, embedding: Embedding) -> Params:
        return {
            "id": storable(memory_id),
            "model": storable(embedding.model),
            "vector": _text(embedding.vector),
        }

    def vector(self, kept: object) -> tuple[float, ...]:
        return tuple(float(part) for part in str(kept).strip("[]").split(","))

    async def nearest(
        self, access: AccessScope, query: Embedding, filters: Filter, limit: int, now: int
    ) -> list[tuple[str, float]]:
        if not await self.table.there(by_now=True):
            return []
        params = values_of(access, filters, now) | {
            "limit": limit,
            "owners": owners_within(access),
            "vector": _text(query.vector),
            "model": storable(query.model),
            "dimension": query.dimension,
        }
        many = int((await self._database.fetch(MANY, params))[0][0])
        conditions = conditions_of(filters)
        if many > COMPARED:
            index = await self.table.index_of(query.model, query.dimension)
            if index is not None:
                return await _approximate(self._database, index, conditions, params)
        exact = statement(f"{EXACT}{conditions}{EXACT_ORDER}")
        rows = await self._database.fetch(exact, params)
        return [(str(id_), float(score)) for id_, score in rows]


def _text(vector: tuple[float, ...]) -> str:
    """A vector as pgvector reads it."""
    return f"[{','.join(map(repr, vector))}]"


async def _approximate(
    database: PostgresDatabase, index: Indexed, conditions: str, params: Params
) -> list[tuple[str, float]]:
    """By the index. Its model and dimension stand in the statement, because the index is of them
    only and the planner has to see that."""
    distance = SQL("v.vector::vector({0}) <=> %(vector)s::vector({0})").format(
        Literal(index.dimension)
    )
    fits = statement(f"{WITHIN} AND {conditions}").postgres
    sql = SQL(
        "SELECT m.id, 1 - ({distance}) FROM memory_vectors v JOIN memories m ON m.seq = v.memory"
        " WHERE v.model = {model} AND vector_dims(v.vector) = {dimension} AND {fits}"
        " ORDER BY {distance} LIMIT %(limit)s"
    ).format(
        distance=distance,
        model=Literal(index.model),
        dimension=Literal(index.dimension),
        fits=SQL(fits),
    )

    async def work(connection: Connection) -> list[tuple[str, float]]:
        async with connection.transaction():
            for setting in SETTINGS:
                await connection.execute(setting)
            rows = await (await connection.execute(sql, params, prepare=False)).fetchall()
        return [(str(id_), float(score)) for id_, score in rows]

    return await database.with_connection(work)
