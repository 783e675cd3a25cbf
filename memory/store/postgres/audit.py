"""The audit in PostgreSQL: only added to, each entry chained to the one before it."""

from typing import Final

from db.postgres import Connection, PostgresDatabase
from memory.audit import FIRST, chained
from memory.store.audit_rows import link_from, row_of
from memory.store.ports import AuditEntry, Link
from memory.store.postgres.locks import LOCK, lock_numbers

LAST: Final = "SELECT number, hash FROM memory_audit ORDER BY number DESC LIMIT 1"
ADD: Final = "INSERT INTO memory_audit VALUES (%s, %s, %s, %s, %s, %s, %s, %s)"
PAGE: Final = """
    SELECT number, at, action, tenant, person, details, previous, hash FROM memory_audit
    WHERE number > %s ORDER BY number LIMIT %s
"""


class PostgresAuditLog:
    """Implements `memory.store.ports.AuditLog`."""

    def __init__(self, engine: PostgresDatabase, key: bytes) -> None:
        self._engine = engine
        self._key = key

    async def append(self, entry: AuditEntry) -> None:
        """Add an entry, after the last one; writers take turns."""

        async def work(connection: Connection) -> None:
            async with connection.transaction():
                await connection.execute(LOCK, (lock_numbers(["audit"]),))
                last = await (await connection.execute(LAST)).fetchone() or (0, FIRST)
                link = chained(self._key, int(last[0]) + 1, entry, str(last[1]))
                await connection.execute(ADD, row_of(link))

        await self._engine.with_connection(work)

    async def links(self, after: int, limit: int) -> list[Link]:
        """Entries in order, from the one behind `after` on."""
        return [link_from(row) for row in await self._engine.fetch_raw(PAGE, (after, limit))]
