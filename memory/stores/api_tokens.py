"""The issued tokens of the HTTP API."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from db import Database, Row, Statement, among
from db.values import micros, storable, time_of
from gateway.ports.rights import EVERY_SCOPE, TokenScope

MAX_NAME = 60
MAX_LISTED = 1_000

LATER: Final = ("ALTER TABLE person_tokens ADD COLUMN scopes text NOT NULL DEFAULT 'read write'",)
"""A later step: the scopes, with a space between two. Tokens that were issued before have both."""
OF_AGENTS: Final = (
    "ALTER TABLE person_tokens ADD COLUMN agent text NOT NULL DEFAULT ''",
    "CREATE INDEX person_tokens_agent ON person_tokens (agent) WHERE agent <> ''",
)
"""A later step: the agent for which a token stands; empty for the person."""
COLUMNS: Final = "id, name, tenant, person, issued_at, until, scopes, agent"
ADD: Final = Statement(f"""
    INSERT INTO person_tokens ({COLUMNS})
    VALUES (:id, :name, :tenant, :person, :issued_at, :until, :scopes, :agent)
    ON CONFLICT DO NOTHING
""")
GOOD: Final = Statement("SELECT 1 FROM person_tokens WHERE id = :id")
LISTED: Final = Statement(f"""
    SELECT {COLUMNS} FROM person_tokens WHERE until > :now ORDER BY issued_at DESC, id
    LIMIT {MAX_LISTED}
""")
REVOKE: Final = Statement(f"DELETE FROM person_tokens WHERE name = :name RETURNING {COLUMNS}")
OF_PERSONS: Final = Statement(f"""
    SELECT {COLUMNS} FROM person_tokens
    WHERE tenant = :tenant AND {among("person", "persons")} AND until > :now
    ORDER BY issued_at DESC, id LIMIT {MAX_LISTED}
""")
REVOKE_OF: Final = Statement(f"""
    DELETE FROM person_tokens WHERE id = :id AND tenant = :tenant AND {among("person", "persons")}
    RETURNING {COLUMNS}
""")
CLEAR: Final = Statement("DELETE FROM person_tokens")
PRUNE: Final = Statement("DELETE FROM person_tokens WHERE until <= :now")


class ApiToken(Struct, frozen=True):
    """A token without its signature, so it grants no access. It is revoked by its `name`; `person`
    is a `str(PersonId)`. `scopes` and `agent` repeat those that are signed in the token."""

    id: str
    name: str
    tenant: str
    person: str
    issued_at: datetime
    until: datetime
    scopes: frozenset[TokenScope] = EVERY_SCOPE
    agent: str = ""


class TokenStore:
    """The valid tokens. Every method raises `StoreUnavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, token: ApiToken) -> bool:
        """Add a token; False if the name is taken."""
        params = {
            "id": token.id,
            "name": storable(token.name),
            "tenant": storable(token.tenant),
            "person": storable(token.person),
            "issued_at": micros(token.issued_at),
            "until": micros(token.until),
            "scopes": " ".join(sorted(token.scopes)),
            "agent": storable(token.agent),
        }
        return await self._database.change(ADD, params) == 1

    async def good(self, token_id: str) -> bool:
        """True until the token is revoked, its person erased, or its agent unregistered."""
        return bool(await self._database.fetch(GOOD, {"id": token_id}))

    async def listed(self, now: datetime) -> Sequence[ApiToken]:
        """Return up to `MAX_LISTED` tokens that have not expired, latest first."""
        return [_token(row) for row in await self._database.fetch(LISTED, {"now": micros(now)})]

    async def revoke(self, name: str) -> ApiToken | None:
        """Revoke the token with this name; None if there is none."""
        gone = await self._database.fetch(REVOKE, {"name": storable(name)})
        return _token(gone[0]) if gone else None

    async def of_persons(
        self, tenant: str, persons: Sequence[str], now: datetime
    ) -> Sequence[ApiToken]:
        """Return the tokens of these identities that have not expired, latest first."""
        params = {"tenant": storable(tenant), "persons": [storable(one) for one in persons]}
        rows = await self._database.fetch(OF_PERSONS, params | {"now": micros(now)})
        return [_token(row) for row in rows]

    async def revoke_of(
        self, tenant: str, persons: Sequence[str], token_id: str
    ) -> ApiToken | None:
        """Revoke a token of these identities; None if they have none with this id."""
        params = {"tenant": storable(tenant), "persons": [storable(one) for one in persons]}
        gone = await self._database.fetch(REVOKE_OF, params | {"id": storable(token_id)})
        return _token(gone[0]) if gone else None

    async def clear(self) -> int:
        """Delete all tokens; return their number."""
        return await self._database.change(CLEAR)

    async def prune(self, now: datetime) -> int:
        """Delete expired tokens; return their number."""
        return await self._database.change(PRUNE, {"now": micros(now)})


def _token(row: Row) -> ApiToken:
    id_, name, tenant, person, issued_at, until, scopes, agent = row
    return ApiToken(
        id=id_,
        name=name,
        tenant=tenant,
        person=person,
        issued_at=time_of(issued_at),
        until=time_of(until),
        scopes=frozenset(map(TokenScope, scopes.split())),
        agent=agent,
    )
