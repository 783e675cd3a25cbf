"""Quarantined work in PostgreSQL. A turn that waits for memory stays in its own table meanwhile."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from db.postgres import Connection, PostgresDatabase
from gateway.ports.work_guard import Owner, WorkKind
from gateway.storage.postgres.rows import storable
from gateway.stores import Quarantined

COLUMNS: Final = "kind, id, tenant, person, place, deaths, at"
ADD: Final = f"""
    INSERT INTO quarantine ({COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING
"""  # noqa: S608 - constants
LISTED: Final = f"SELECT {COLUMNS} FROM quarantine ORDER BY at DESC, kind, id LIMIT %s"  # noqa: S608 - a constant
REMOVE: Final = "DELETE FROM quarantine WHERE kind = %s AND id = %s"
DISCARD: Final = "DELETE FROM waiting_turns WHERE id = %s"
PRUNE: Final = """
    WITH placed AS (
        SELECT kind, id, at, row_number() OVER (ORDER BY at DESC, kind, id) AS place FROM quarantine
    ), gone AS (
        DELETE FROM quarantine q USING placed p WHERE q.kind = p.kind AND q.id = p.id AND (
            p.place > %(most)s OR p.at < CASE WHEN p.kind = ANY (%(recurring)s::text[])
                THEN %(recurring_before)s::timestamptz ELSE %(before)s::timestamptz END)
        RETURNING q.kind, q.id
    ), turns AS (
        DELETE FROM waiting_turns WHERE id IN (SELECT id FROM gone WHERE kind = 'waiting_turn')
    ) SELECT count(*) FROM gone
"""


class PostgresQuarantine:
    """Implements `gateway.stores.QuarantineStore`."""

    def __init__(self, pool: PostgresDatabase) -> None:
        self._pool = pool

    async def add(self, entry: Quarantined) -> None:
        """Keep an entry; one that is known stays as it is."""
        owner = entry.owner
        named = (entry.id, owner.tenant, owner.person, owner.place)
        row = (entry.kind, *map(storable, named), entry.deaths, entry.at)
        await self._pool.change_raw(ADD, row)

    async def listed(self, limit: int) -> list[Quarantined]:
        """The latest, newest first."""
        return [
            Quarantined(kind, id_, Owner(*owner), deaths, at.astimezone(UTC))
            for kind, id_, *owner, deaths, at in await self._pool.fetch_raw(LISTED, (limit,))
        ]

    async def remove(self, kind: WorkKind, item_id: str, *, discard: bool) -> bool:
        """Take an entry off the list; with `discard` delete a turn that waits as well."""

        async def work(connection: Connection) -> bool:
            async with connection.transaction():
                found = (await connection.execute(REMOVE, (kind, storable(item_id)))).rowcount > 0
                if found and discard and kind == "waiting_turn":
                    await connection.execute(DISCARD, (item_id,))
            return found

        return await self._pool.with_connection(work)

    async def prune(
        self, before: datetime, recurring_before: datetime, recurring: Sequence[WorkKind], most: int
    ) -> int:
        """Delete entries that are too old, and the oldest entries beyond `most`."""
        asked = {
            "before": before,
            "recurring_before": recurring_before,
            "recurring": list(recurring),
            "most": most,
        }
        return int((await self._pool.fetch_raw(PRUNE, asked))[0][0])
