"""Vectors in PostgreSQL, where the extension `vector` is there or can be made.

It is not part of the ledger, because without it everything else works: recall is lexical then.
"""

from typing import Final

import structlog

from gateway.errors import StoreUnavailable
from memory.store.postgres.engine import Connection, PostgresEngine
from memory.store.postgres.locks import LOCK, lock_numbers

CREATE: Final = """
    CREATE TABLE IF NOT EXISTS memory_vectors (
        memory bigint PRIMARY KEY, model text NOT NULL, vector vector NOT NULL
    )
"""
ADVICE: Final = (
    "install pgvector and run, as a superuser, CREATE EXTENSION vector, then restart; until then"
    " memories are found by their words only"
)

log = structlog.get_logger(__name__)


class PostgresVectors:
    """Whether there is a table of vectors."""

    def __init__(self, engine: PostgresEngine) -> None:
        self._engine = engine
        self._there: bool | None = None
        self._tried = False

    async def there(self) -> bool:
        """Whether the table is there. Raises `StoreUnavailable`."""
        if self._there is None:
            rows = await self._engine.fetch("SELECT to_regclass('memory_vectors') IS NOT NULL")
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
                await connection.execute(LOCK, (lock_numbers(("vectors",)),))
                await connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
                await connection.execute(CREATE)

        try:
            await self._engine.run(work)
        except StoreUnavailable as error:
            return str(error)
        return ""
