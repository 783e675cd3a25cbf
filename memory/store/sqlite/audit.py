"""The audit in SQLite: only added to, each entry chained to the one before it."""

import sqlite3
from typing import Final

from db.sqlite import SqliteDatabase
from memory.audit import FIRST, chained
from memory.store.audit_rows import link_from, row_of
from memory.store.ports import AuditEntry, Link

LAST: Final = "SELECT number, hash FROM memory_audit ORDER BY number DESC LIMIT 1"
ADD: Final = "INSERT INTO memory_audit VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
PAGE: Final = """
    SELECT number, at, action, tenant, person, details, previous, hash FROM memory_audit
    WHERE number > ? ORDER BY number LIMIT ?
"""


class SqliteAuditLog:
    """Implements `memory.store.ports.AuditLog`."""

    def __init__(self, engine: SqliteDatabase, key: bytes) -> None:
        self._engine = engine
        self._key = key

    async def append(self, entry: AuditEntry) -> None:
        """Add an entry, after the last one."""

        def job(db: sqlite3.Connection) -> None:
            number, previous = db.execute(LAST).fetchone() or (0, FIRST)
            db.execute(ADD, row_of(chained(self._key, number + 1, entry, previous)))

        await self._engine.run_job(job)

    async def links(self, after: int, limit: int) -> list[Link]:
        """Entries in order, from the one behind `after` on."""
        return await self._engine.run_job(
            lambda db: [link_from(row) for row in db.execute(PAGE, (after, limit))]
        )
