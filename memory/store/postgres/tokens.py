"""Tokens that were given out, in PostgreSQL."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from psycopg.rows import TupleRow

from db.postgres import PostgresDatabase
from db.values import storable
from memory.store.tokens import MAX_LISTED, KeptToken

COLUMNS: Final = "id, name, tenant, person, issued_at, until"
ADD: Final = f"""
    INSERT INTO person_tokens ({COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING
"""  # noqa: S608 - constants
LISTED: Final = f"""
    SELECT {COLUMNS} FROM person_tokens WHERE until > %s ORDER BY issued_at DESC, id
    LIMIT {MAX_LISTED}
"""  # noqa: S608 - constants
REVOKE: Final = f"DELETE FROM person_tokens WHERE name = %s RETURNING {COLUMNS}"  # noqa: S608


class PostgresTokens:
    """Implements `memory.store.tokens.TokenStore`."""

    def __init__(self, engine: PostgresDatabase) -> None:
        self._engine = engine

    async def add(self, token: KeptToken) -> bool:
        """False when another one has the name."""
        row = (
            token.id,
            storable(token.name),
            storable(token.tenant),
            storable(token.person),
            token.issued_at,
            token.until,
        )
        return await self._engine.change_raw(ADD, row) == 1

    async def good(self, token_id: str) -> bool:
        """True until it was taken back."""
        sql: Final = "SELECT 1 FROM person_tokens WHERE id = %s"
        return bool(await self._engine.fetch_raw(sql, (token_id,)))

    async def listed(self, now: datetime) -> Sequence[KeptToken]:
        """Those that have not expired, the latest first."""
        return [_token(row) for row in await self._engine.fetch_raw(LISTED, (now,))]

    async def revoke(self, name: str) -> KeptToken | None:
        """Take back the one of this name."""
        gone = await self._engine.fetch_raw(REVOKE, (storable(name),))
        return _token(gone[0]) if gone else None

    async def clear(self) -> int:
        """Forget all of them."""
        return await self._engine.change_raw("DELETE FROM person_tokens", ())

    async def prune(self, now: datetime) -> int:
        """Forget those that have expired."""
        return await self._engine.change_raw("DELETE FROM person_tokens WHERE until <= %s", (now,))


def _token(row: TupleRow) -> KeptToken:
    id_, name, tenant, person, issued_at, until = row
    return KeptToken(id_, name, tenant, person, issued_at.astimezone(UTC), until.astimezone(UTC))
