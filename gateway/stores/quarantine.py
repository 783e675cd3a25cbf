"""Quarantined work. A quarantined turn for memory stays in its own table."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from db import Database, Statement, Work, among, change, execute, fetch
from db.statements import in_byte_order
from db.values import micros, storable, time_of
from gateway.ports.work_guard import Quarantined, WorkKind, WorkOwner

COLUMNS: Final = "kind, id, tenant, person, place, weight, at"
NEWEST_FIRST: Final = f"at DESC, {in_byte_order('kind')}, {in_byte_order('id')}"
ADD: Final = Statement(f"""
    INSERT INTO quarantine ({COLUMNS})
    VALUES (:kind, :id, :tenant, :person, :place, :weight, :at) ON CONFLICT DO NOTHING
""")
LISTED: Final = Statement(f"SELECT {COLUMNS} FROM quarantine ORDER BY {NEWEST_FIRST} LIMIT :limit")
REMOVE: Final = Statement("DELETE FROM quarantine WHERE kind = :kind AND id = :id")
PRUNE: Final = Statement(f"""
    DELETE FROM quarantine WHERE (kind, id) IN (
        SELECT kind, id FROM (
            SELECT kind, id, at, row_number() OVER (ORDER BY {NEWEST_FIRST}) AS number
            FROM quarantine
        ) AS numbered
        WHERE number > :most
            OR at < CASE WHEN {among("kind", "recurring")} THEN :recurring_before ELSE :before END
    ) RETURNING kind, id
""")
DISCARD: Final = Statement("DELETE FROM waiting_turns WHERE id = :id")


class QuarantineStore:
    """Quarantined work of every kind. Everything raises `StoreUnavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, entry: Quarantined) -> None:
        """Store an entry; a known one stays unchanged."""
        params = {
            "kind": entry.kind,
            "id": storable(entry.id),
            "tenant": storable(entry.owner.tenant),
            "person": storable(entry.owner.person),
            "place": storable(entry.owner.place),
            "weight": entry.weight,
            "at": micros(entry.at),
        }
        await self._database.change(ADD, params)

    async def listed(self, limit: int) -> list[Quarantined]:
        """Return the latest, newest first."""
        return [
            Quarantined(kind, id_, WorkOwner(*owner), weight, time_of(at))
            for kind, id_, *owner, weight, at in await self._database.fetch(
                LISTED, {"limit": limit}
            )
        ]

    async def remove(self, kind: WorkKind, item_id: str, *, discard: bool) -> bool:
        """Remove an entry, so that its work starts again, or with `discard` delete the work too.
        False if there is no such entry."""
        return await self._database.run(lambda: _remove(kind, storable(item_id), discard=discard))

    async def prune(
        self, before: datetime, recurring_before: datetime, recurring: Sequence[WorkKind], most: int
    ) -> int:
        """Discard entries from before then, and the oldest beyond `most`; those of the kinds
        `recurring` from before `recurring_before`. Returns how many."""
        params = {
            "before": micros(before),
            "recurring_before": micros(recurring_before),
            "recurring": list(recurring),
            "most": most,
        }
        return await self._database.run(lambda: _prune(params))


def _remove(kind: WorkKind, id_: str, *, discard: bool) -> Work[bool]:
    removed = (yield from change(REMOVE, {"kind": kind, "id": id_})) > 0
    if removed and discard and kind == "waiting_turn":
        yield from execute(DISCARD, {"id": id_})
    return removed


def _prune(params: dict[str, object]) -> Work[int]:
    gone = yield from fetch(PRUNE, params)
    yield from execute(DISCARD, *({"id": id_} for kind, id_ in gone if kind == "waiting_turn"))
    return len(gone)
