"""Takeovers: conversations that an operator answers instead of the assistant, and ended ones.

An ended takeover stays as a record for the person whose conversation it was.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from db import Database, Row, Statement, Work, change, fetch
from db.database import delete_some, deleting_some
from db.statements import BY_KEY
from db.values import micros, storable, time_of
from gateway.errors import TakenOver

MAX_NAME = 60
"""Characters of the name under which an operator answers."""


class Takeover(Struct, frozen=True):
    """A conversation in the hands of an operator. `operator` is a `str(PersonId)`, `name` the name
    that people read. `person` is the `str(PersonId)` of a direct conversation, empty for a room.

    The operator reads what was written from `since` on; `shared`: the person shows them the earlier
    text too. `active` is when the operator last took part.
    """

    id: str
    tenant: str
    conversation: str
    operator: str
    name: str
    person: str
    since: datetime
    active: datetime
    shared: bool = False


COLUMNS: Final = "id, tenant, conversation, operator, name, person, since, active, shared"
SCHEMA: Final = (
    f"""CREATE TABLE takeovers (
        conversation text PRIMARY KEY, id text NOT NULL UNIQUE, tenant text NOT NULL,
        operator text NOT NULL, name text NOT NULL, person text NOT NULL, since bigint NOT NULL,
        active bigint NOT NULL, shared integer NOT NULL DEFAULT 0
    ) {BY_KEY}""",
    "CREATE INDEX takeovers_active ON takeovers (active)",
)
LATER: Final = (
    f"""CREATE TABLE takeovers_kept (
        id text PRIMARY KEY, tenant text NOT NULL, conversation text NOT NULL,
        operator text NOT NULL, name text NOT NULL, person text NOT NULL, since bigint NOT NULL,
        active bigint NOT NULL, shared integer NOT NULL DEFAULT 0, ended bigint
    ) {BY_KEY}""",
    f"INSERT INTO takeovers_kept ({COLUMNS}) SELECT {COLUMNS} FROM takeovers",
    "DROP TABLE takeovers",
    "ALTER TABLE takeovers_kept RENAME TO takeovers",
    "CREATE INDEX takeovers_active ON takeovers (active)",
    "CREATE UNIQUE INDEX takeovers_open ON takeovers (conversation) WHERE ended IS NULL",
    "CREATE INDEX takeovers_person ON takeovers (tenant, person)",
)
"""Ended takeovers stay: `ended` is null for the open one of a conversation."""
END_IDLE: Final = Statement("""
    UPDATE takeovers SET ended = :since
    WHERE conversation = :conversation AND ended IS NULL AND active < :idle_before
""")
TAKE: Final = Statement(f"""
    INSERT INTO takeovers ({COLUMNS}) VALUES (:id, :tenant, :conversation, :operator, :name,
        :person, :since, :active, :shared)
    ON CONFLICT (conversation) WHERE ended IS NULL DO NOTHING
""")
OF: Final = Statement(
    f"SELECT {COLUMNS} FROM takeovers WHERE conversation = :conversation AND ended IS NULL"
)
FIND: Final = Statement(f"SELECT {COLUMNS} FROM takeovers WHERE id = :id AND ended IS NULL")
LISTED: Final = Statement(f"""
    SELECT {COLUMNS} FROM takeovers WHERE tenant = :tenant AND active >= :since AND ended IS NULL
    ORDER BY active DESC, conversation LIMIT :limit
""")
ACTIVE: Final = Statement(
    "SELECT 1 FROM takeovers"
    " WHERE conversation = :conversation AND active > :since AND ended IS NULL"
)
TOOK_PART: Final = Statement("UPDATE takeovers SET active = :at WHERE id = :id AND ended IS NULL")
SHARE: Final = Statement("UPDATE takeovers SET shared = 1 WHERE id = :id AND ended IS NULL")
END: Final = Statement("UPDATE takeovers SET ended = :at WHERE id = :id AND ended IS NULL")
PRUNE: Final = deleting_some("takeovers", "id", "active < :before", "active")


class TakeoverStore:
    """At most one takeover per conversation. Every method raises `StoreUnavailable`."""

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

        def work() -> Work[int]:
            yield from change(END_IDLE, params)
            return (yield from change(TAKE, params))

        return await self._database.run(work) > 0

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

    async def end(self, takeover_id: str, at: datetime) -> bool:
        """Give the conversation back; False if that has happened. The takeover stays as a record
        for its person."""
        return await self._database.change(END, {"id": takeover_id, "at": micros(at)}) > 0

    async def prune(self, before: datetime) -> int:
        """Delete some takeovers, also ended ones, whose operators took no part since then; 0 at the
        end."""
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
