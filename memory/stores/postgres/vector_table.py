"""Vectors in PostgreSQL, where the extension `vector` is there or can be made.

It is not part of the ledger, because without it everything else works: recall is lexical then.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import structlog
from psycopg.sql import SQL, Identifier, Literal

from db.errors import StoreUnavailable
from db.postgres import TAKE_LOCKS, Connection, PostgresDatabase, lock_keys
from db.values import storable

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


@dataclass(frozen=True, slots=True)
class Indexed:
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
        self._indexed: set[Indexed] = set()
        self._wanted: Indexed | None = None

    async def there(self, *, by_now: bool = False) -> bool:
        """True if the table exists; with `by_now` a missing table is looked for again. Raises
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
            log.warning("vectors_not_kept", problem=problem, advice=ADVICE)
            return False
        self._there = True
        return True

    async def problem(self) -> str:
        """Make the table; what stands in the way, empty for nothing."""

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

    async def index_of(self, model: str, dimension: int) -> Indexed | None:
        """The index over a model's vectors. Where there is none it is wanted from now on, and
        `make_index` makes it."""
        index = Indexed(storable(model), dimension)
        if index not in self._indexed:
            rows = await self._database.fetch_raw(INDEXED, {"name": index.name})
            if not (rows and rows[0][0]):
                self._wanted = index if dimension <= MAX_INDEXED else None
                return None
            self._indexed.add(index)
        return index

    async def make_index(self) -> int:
        """Make the index that was wanted, beside everything else that goes on; it takes minutes for
        a million vectors. Returns 0: nothing is left to do."""
        index, self._wanted = self._wanted, None
        if index is not None:
            log.info("vectors_being_indexed", model=index.model)
            await self._database.without_limit(lambda connection: _index(connection, index))
            log.info("vectors_indexed", model=index.model)
        return 0


async def _index(connection: Connection, index: Indexed) -> None:
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
