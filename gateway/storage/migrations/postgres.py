"""Takes a PostgreSQL database through the ledger."""

from typing import Final

from psycopg import AsyncConnection
from psycopg.rows import TupleRow

from gateway.storage.migrations.ledger import missing
from gateway.storage.migrations.step import statements

LOCK: Final = 0x7061726C6579
"""The advisory lock under which steps are taken: "parley" in ASCII."""
STEP_SECONDS: Final = 600
"""How long one step may take, waiting for another process's included."""
CREATE_LEDGER: Final = (
    "CREATE TABLE IF NOT EXISTS schema_migrations ("
    "version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL)"
)


async def migrate(connection: AsyncConnection[TupleRow]) -> None:
    """Apply what is missing, each step in a transaction; processes that start at once take turns.

    `connection` is in autocommit mode. Raises `StoreUnavailable` when the database is newer than
    this program, and `psycopg.Error`; a step that failed leaves nothing behind.
    """
    while await _take_next(connection):
        pass


async def _take_next(connection: AsyncConnection[TupleRow]) -> bool:
    """Take one step; False when there is none left."""
    async with connection.transaction():
        await connection.execute(
            "SELECT set_config('statement_timeout', %s, true)", (f"{STEP_SECONDS}s",)
        )
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        await connection.execute(CREATE_LEDGER)
        rows = await connection.execute("SELECT version FROM schema_migrations")
        left = missing([row[0] for row in await rows.fetchall()])
        if not left:
            return False
        for statement in statements(left[0].postgres):
            await connection.execute(statement)
        await connection.execute(
            "INSERT INTO schema_migrations VALUES (%s, %s, now())",
            (left[0].version, left[0].name),
        )
    return True
