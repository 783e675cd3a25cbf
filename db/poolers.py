"""Finds poolers that give one session of PostgreSQL to several connections by turns.

Locks of a session, its settings and prepared statements then belong to nobody: two processes hold
the same lock, and neither notices.
"""

from typing import Any, Final

from psycopg import AsyncConnection

PROBES: Final = 5
"""Comparisons: other clients of the pooler may take the session that was just released."""
SHARED: Final = (
    "database.url leads to a pooler that changes the session between transactions, such as"
    " pgbouncer with pool_mode = transaction. Parley needs a session for each connection: write the"
    " address of the server itself, or set pool_mode = session. database.connections limits the"
    " connections"
)
"""The problem, and the next step."""


async def shares_sessions(connection: AsyncConnection[Any], conninfo: str) -> bool:
    """Return True if another connection gets the session of this one, which is in no transaction.
    Raises psycopg's errors."""
    if await _session(connection) == connection.info.backend_pid:
        return False
    async with await AsyncConnection.connect(conninfo, autocommit=True) as other:
        for _ in range(PROBES):
            if await _session(connection) == await _session(other):
                return True
    return False


async def _session(connection: AsyncConnection[Any]) -> int:
    """Return the id of the server process that answers."""
    cursor = await connection.execute("SELECT pg_backend_pid()", prepare=False)
    row = await cursor.fetchone()
    return int(row[0]) if row else 0
