"""Vectors in PostgreSQL, if the extension `vector` is installed: their table, and the search.

The table is not part of the schema, because without it everything else works: recall is lexical
then. The filter is part of the query.

If few memories match the filter, they are compared one by one: exact, and faster than any index, as
long as their owner does not have very many. Beyond that pgvector's HNSW index goes on until enough
of what it finds fits (`hnsw.iterative_scan`).
"""

from hashlib import blake2b
from typing import Final, LiteralString

import structlog
from msgspec import Struct
from psycopg.sql import SQL, Identifier, Literal

from db import Params, Statement, among
from db.errors import StoreUnavailable
from db.postgres import TAKE_LOCKS, Connection, PostgresDatabase, lock_keys
from db.values import storable
from memory.ports.memories import TextVector
from memory.stores.filters import VectorQuery, conditions_of, statement, values_of
from memory.stores.partitions import owners_within

MAX_INDEXED: Final = 2_000
"""The largest dimension that pgvector's HNSW can index."""
CREATE: Final = """
    CREATE TABLE IF NOT EXISTS memory_vectors (
        memory bigint PRIMARY KEY, model text NOT NULL, vector vector NOT NULL
    )
"""
ADVICE: Final = (
    "install pgvector and run, as a superuser, CREATE EXTENSION vector, then restart; until then"
    " memories are found by their words only"
)

SET_MEMORY: Final = "SET maintenance_work_mem = '512MB'"
"""Of the connection that makes an index, with room for 300,000 vectors of 384 numbers; with the
64 MB that are usual, 80,000 of them took more than four minutes on a busy machine."""
INDEXED: Final = """
    SELECT i.indisvalid FROM pg_index i WHERE i.indexrelid = to_regclass(%(name)s)
"""

log = structlog.get_logger(__name__)


class VectorIndex(Struct, frozen=True):
    """An HNSW index: of which model's vectors, and how long they are."""

    model: str
    dimension: int

    @property
    def name(self) -> str:
        """The index's, as PostgreSQL has it."""
        named = blake2b(self.model.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
        return f"memory_vectors_{named}_{self.dimension}"


class VectorTable:
    """The table of vectors and its indexes."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self._there: bool | None = None
        self._tried = False
        self._indexed: set[VectorIndex] = set()
        self._requested: VectorIndex | None = None

    async def there(self, *, by_now: bool = False) -> bool:
        """True if the table exists; with `by_now` a missing table is searched for again. Raises
        `StoreUnavailable`."""
        if self._there is None or (by_now and not self._there):
            rows = await self._database.fetch_raw(
                "SELECT to_regclass('memory_vectors') IS NOT NULL"
            )
            self._there = bool(rows[0][0])
        return self._there

    async def made(self) -> bool:
        """The same, after it was made where that is possible. It is tried once in the life of the
        program; what is missing is logged."""
        if await self.there() or self._tried:
            return bool(self._there)
        self._tried = True
        if problem := await self.problem():
            log.warning("vectors_not_stored", problem=problem, advice=ADVICE)
            return False
        self._there = True
        return True

    async def problem(self) -> str:
        """Create the table; return the obstacle, empty for none."""

        async def work(connection: Connection) -> None:
            async with connection.transaction():
                await connection.execute(TAKE_LOCKS, (lock_keys(("vectors",)),))
                await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
                await connection.execute(CREATE)

        try:
            await self._database.with_connection(work)
        except StoreUnavailable as error:
            return str(error)
        return ""

    async def index_of(self, model: str, dimension: int) -> VectorIndex | None:
        """The index over a model's vectors. Where there is none it is wanted from now on, and
        `make_index` makes it."""
        index = VectorIndex(storable(model), dimension)
        if index not in self._indexed:
            rows = await self._database.fetch_raw(INDEXED, {"name": index.name})
            if not (rows and rows[0][0]):
                self._requested = index if dimension <= MAX_INDEXED else None
                return None
            self._indexed.add(index)
        return index

    async def make_index(self) -> int:
        """Create the requested index concurrently; it takes minutes for a million vectors. Returns
        0, because no work is left."""
        index, self._requested = self._requested, None
        if index is not None:
            log.info("vectors_being_indexed", model=index.model)
            await self._database.without_limit(lambda connection: _index(connection, index))
            log.info("vectors_indexed", model=index.model)
        return 0


async def _index(connection: Connection, index: VectorIndex) -> None:
    """A half-made one, of an attempt that was broken off, is made again."""
    name = Identifier(index.name)
    row = await (await connection.execute(INDEXED, {"name": index.name})).fetchone()
    if row is not None and not row[0]:
        await connection.execute(SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(name))
    await connection.execute(SET_MEMORY)
    await connection.execute(
        SQL(
            "CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON memory_vectors"
            " USING hnsw ((vector::vector({dimension})) vector_cosine_ops)"
            " WHERE model = {model} AND vector_dims(vector) = {dimension}"
        ).format(name=name, dimension=Literal(index.dimension), model=Literal(index.model))
    )


COMPARED: Final = 10_000
"""Up to so many vectors are compared one by one."""
SETTINGS: Final[tuple[LiteralString, ...]] = (
    "SET LOCAL hnsw.iterative_scan = strict_order",
    "SET LOCAL hnsw.ef_search = 200",
    "SET LOCAL hnsw.max_scan_tuples = 40000",
)
"""The distance to which the index is followed until enough matches fit the filter."""
SET: Final = Statement("""
    INSERT INTO memory_vectors (memory, model, vector)
    SELECT seq, :model, CAST(:vector AS vector) FROM memories WHERE id = :id AND content = :text
    ON CONFLICT (memory) DO UPDATE SET model = excluded.model, vector = excluded.vector
""")
WITHIN: Final = f"""
    ({among("m.owner", "owners")}
        OR (:for_room <> '' AND m.tenant = :for_tenant AND m.room = :for_room AND m.room <> ''))
"""
EXACT_ORDER: Final = " ORDER BY v.vector <=> CAST(:vector AS vector), m.seq DESC LIMIT :limit"
SHARED: Final = f"""m.seq IN (
    SELECT s.number FROM pool_readers r JOIN pool_memories s ON s.seq = r.share
    WHERE {among("r.name", "names")})"""


class Searched(Struct, frozen=True):
    """The memories among which a search takes place, as a condition on `m`."""

    within: str

    @property
    def many(self) -> Statement:
        """Counts them, up to a bound."""
        some = f"SELECT 1 FROM memories m WHERE {self.within} LIMIT {COMPARED} + 1"
        return statement(f"SELECT count(*) FROM ({some}) AS counted")

    def exact(self, conditions: str) -> Statement:
        """Compares all of them."""
        return statement(f"""
            SELECT m.id, 1 - (v.vector <=> CAST(:vector AS vector)) FROM memories m
            JOIN memory_vectors v ON v.memory = m.seq
            WHERE {self.within} AND v.model = :model AND vector_dims(v.vector) = :dimension
                AND {conditions}
            {EXACT_ORDER}
        """)


class PostgresVectors:
    """Implements `memory.stores.search.VectorSearch`."""

    setting: Statement = SET

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self.table = VectorTable(database)

    async def there(self) -> bool:
        return await self.table.there()

    async def made(self) -> bool:
        return await self.table.made()

    def values(self, vector: TextVector) -> Params:
        embedding = vector.embedding
        return {
            "id": storable(vector.memory_id),
            "text": storable(vector.text),
            "model": storable(embedding.model),
            "vector": _text(embedding.vector),
        }

    def vector(self, kept: object) -> tuple[float, ...]:
        return tuple(float(part) for part in str(kept).strip("[]").split(","))

    async def nearest(self, query: VectorQuery) -> list[tuple[str, float]]:
        if not await self.table.there(by_now=True):
            return []
        access, filters, vector = query.access, query.filters, query.vector
        searched = Searched(SHARED if query.shares else WITHIN)
        params = values_of(access, filters, query.now) | {
            "limit": query.limit,
            "owners": owners_within(access),
            "names": list(query.shares),
            "vector": _text(vector.vector),
            "model": storable(vector.model),
            "dimension": vector.dimension,
        }
        many = int((await self._database.fetch(searched.many, params))[0][0])
        conditions = conditions_of(access, filters)
        if many > COMPARED:
            index = await self.table.index_of(vector.model, vector.dimension)
            if index is not None:
                within = f"{searched.within} AND {conditions}"
                return await _approximate(self._database, index, within, params)
        rows = await self._database.fetch(searched.exact(conditions), params)
        return [(str(id_), float(score)) for id_, score in rows]


def _text(vector: tuple[float, ...]) -> str:
    """A vector as pgvector reads it."""
    return f"[{','.join(map(repr, vector))}]"


async def _approximate(
    database: PostgresDatabase, index: VectorIndex, conditions: str, params: Params
) -> list[tuple[str, float]]:
    """By the index. Its model and dimension stand in the statement, because the index is of them
    only and the planner has to see that."""
    distance = SQL("v.vector::vector({0}) <=> %(vector)s::vector({0})").format(
        Literal(index.dimension)
    )
    fits = statement(conditions).postgres
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
