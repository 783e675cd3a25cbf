"""Tokens that were given out, in SQLite."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from db.sqlite import SqliteDatabase
from db.values import storable
from memory.store.sqlite.rows import moment, seconds
from memory.store.tokens import MAX_LISTED, KeptToken

COLUMNS: Final = "id, name, tenant, person, issued_at, until"
ADD: Final = f"INSERT OR IGNORE INTO person_tokens ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"  # noqa: S608
LISTED: Final = f"""
    SELECT {COLUMNS} FROM person_tokens WHERE until > ? ORDER BY issued_at DESC, id
    LIMIT {MAX_LISTED}
"""  # noqa: S608 - constants
REVOKE: Final = f"DELETE FROM person_tokens WHERE name = ? RETURNING {COLUMNS}"  # noqa: S608


class SqliteTokens:
    """Implements `memory.store.tokens.TokenStore`."""

    def __init__(self, engine: SqliteDatabase) -> None:
        self._engine = engine

    async def add(self, token: KeptToken) -> bool:
        """False when another one has the name."""
        row = (
            token.id,
            storable(token.name),
            storable(token.tenant),
            storable(token.person),
            seconds(token.issued_at),
            seconds(token.until),
        )
        return await self._engine.run_job(lambda db: db.execute(ADD, row).rowcount == 1)

    async def good(self, token_id: str) -> bool:
        """True until it was taken back."""
        sql = "SELECT 1 FROM person_tokens WHERE id = ?"
        found = await self._engine.run_job(lambda db: db.execute(sql, (token_id,)).fetchone())
        return found is not None

    async def listed(self, now: datetime) -> Sequence[KeptToken]:
        """Those that have not expired, the latest first."""
        asked = (now.timestamp(),)
        rows = await self._engine.run_job(lambda db: db.execute(LISTED, asked).fetchall())
        return [_token(row) for row in rows]

    async def revoke(self, name: str) -> KeptToken | None:
        """Take back the one of this name."""

        def job(db: sqlite3.Connection) -> list[Any]:
            return db.execute(REVOKE, (storable(name),)).fetchall()

        gone = await self._engine.run_job(job)
        return _token(gone[0]) if gone else None

    async def clear(self) -> int:
        """Forget all of them."""
        sql = "DELETE FROM person_tokens"
        return await self._engine.run_job(lambda db: db.execute(sql).rowcount)

    async def prune(self, now: datetime) -> int:
        """Forget those that have expired."""
        sql, at = "DELETE FROM person_tokens WHERE until <= ?", (now.timestamp(),)
        return await self._engine.run_job(lambda db: db.execute(sql, at).rowcount)


def _token(row: tuple[str, str, str, str, float, float]) -> KeptToken:
    id_, name, tenant, person, issued_at, until = row
    return KeptToken(id_, name, tenant, person, moment(issued_at), moment(until))
