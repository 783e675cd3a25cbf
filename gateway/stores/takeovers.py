"""Takeovers: conversations that an operator answers instead of the assistant."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from db import Database, Row, Statement, Work, fetch
from db.database import delete_some, deleting_some
from db.statements import BY_KEY
from db.values import micros, storable, time_of
from gateway.errors import TakenOver
from gateway.ports.takeovers import Takeover

COLUMNS: Final = "id, tenant, conversation, operator, name, person, since, active, shared"
SCHEMA: Final = (
    f"""CREATE TABLE takeovers (
        conversation text PRIMARY KEY, id text NOT NULL UNIQUE, tenant text NOT NULL,
        operator text NOT NULL, name text NOT NULL, person text NOT NULL, since bigint NOT NULL,
        active bigint NOT NULL, shared integer NOT NULL DEFAULT 0
    ) {BY_KEY}""",
    "CREATE INDEX takeovers_active ON takeovers (active)",
)
TAKE: Final = Statement(f"""
    INSERT INTO takeovers ({COLUMNS}) VALUES (:id, :tenant, :conversation, :operator, :name,
        :person, :since, :active, :shared)
    ON CONFLICT (conversation) DO UPDATE SET id = excluded.id, tenant = excluded.tenant,
        operator = excluded.operator, name = excluded.name, person = excluded.person,
        since = excluded.since, active = excluded.active, shared = excluded.shared
    WHERE takeovers.active < :idle_before
""")  # noqa: S608 - a constant of this module
OF: Final = Statement(f"SELECT {COLUMNS} FROM takeovers WHERE conversation = :conversation")  # noqa: S608 - a constant of this module
FIND: Final = Statement(f"SELECT {COLUMNS} FROM takeovers WHERE id = :id")  # noqa: S608 - a constant of this module
LISTED: Final = Statement(f"""
    SELECT {COLUMNS} FROM takeovers WHERE tenant = :tenant AND active >= :since
    ORDER BY active DESC, conversation LIMIT :limit
""")  # noqa: S608 - a constant of this module
ACTIVE: Final = Statement(
    "SELECT 1 FROM takeovers WHERE conversation = :conversation AND active > :since"
)
TOOK_PART: Final = Statement("UPDATE takeovers SET active = :at WHERE id = :id")
SHARE: Final = Statement("UPDATE takeovers SET shared = 1 WHERE id = :id")
END: Final = Statement("DELETE FROM takeovers WHERE id = :id")
PRUNE: Final = deleting_some("takeovers", "conversation", "active < :before", "active")


class TakeoverStore:
    """Implements `gateway.ports.takeovers.Takeovers`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, takeover: Takeover, idle_before: datetime) -> bool:
        """Store a takeover; False if the conversation has one whose operator took part since
        `idle_before`."""
        params = {
            "id": takeover.id,
            "tenant": takeover.tenant,
            "conversation": takeover.conversation,
            "operator": takeover.operator,
            "name": storable(takeover.name),
            "person": takeover.person,
            "since": micros(takeover.since),
            "active": micros(takeover.active),
            "shared": int(takeover.shared),
            "idle_before": micros(idle_before),
        }
        return await self._database.change(TAKE, params) > 0

    async def of(self, conversation: str) -> Takeover | None:
        """Return the takeover of a conversation, also one that has become idle."""
        return _one(await self._database.fetch(OF, {"conversation": conversation}))

    async def find(self, takeover_id: str) -> Takeover | None:
        """Return a takeover by its id."""
        return _one(await self._database.fetch(FIND, {"id": storable(takeover_id)}))

    async def listed(self, tenant: str, since: datetime, limit: int) -> list[Takeover]:
        """Return the takeovers whose operators took part since then, the latest first."""
        params = {"tenant": tenant, "since": micros(since), "limit": limit}
        return [_takeover(row) for row in await self._database.fetch(LISTED, params)]

    async def took_part(self, takeover_id: str, at: datetime) -> bool:
        """Record that the operator took part; False if it has ended."""
        params = {"id": takeover_id, "at": micros(at)}
        return await self._database.change(TOOK_PART, params) > 0

    async def share(self, takeover_id: str) -> bool:
        """Record that the person shows the earlier text; False if it has ended."""
        return await self._database.change(SHARE, {"id": takeover_id}) > 0

    async def end(self, takeover_id: str) -> bool:
        """Give the conversation back; False if that has happened."""
        return await self._database.change(END, {"id": takeover_id}) > 0

    async def prune(self, before: datetime) -> int:
        """Delete some takeovers whose operators took no part since then; 0 at the end."""
        return await delete_some(self._database, PRUNE, {"before": micros(before)})


def require_silence(conversation: str, since: datetime) -> Work[None]:
    """Raise `TakenOver` if an operator of the conversation took part after that."""
    if (yield from fetch(ACTIVE, {"conversation": conversation, "since": micros(since)})):
        raise TakenOver


def _one(rows: Sequence[Row]) -> Takeover | None:
    return _takeover(rows[0]) if rows else None


def _takeover(row: Row) -> Takeover:
    id_, tenant, conversation, operator, name, person, since, active, shared = row
    named = (str(id_), str(tenant), str(conversation), str(operator), str(name), str(person))
    return Takeover(*named, time_of(since), time_of(active), bool(shared))
