"""Quarantined work in SQLite. A turn that waits for memory stays in its own table meanwhile."""

import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from db.sqlite import SqliteDatabase
from gateway.ports.work_guard import Owner, WorkKind
from gateway.stores import Quarantined

COLUMNS: Final = "kind, id, tenant, person, place, deaths, at"
ADD: Final = "INSERT INTO quarantine VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
LISTED: Final = f"SELECT {COLUMNS} FROM quarantine ORDER BY at DESC, kind, id LIMIT ?"  # noqa: S608 - a constant
REMOVE: Final = "DELETE FROM quarantine WHERE kind = ? AND id = ?"
OLD: Final = "SELECT kind, id, at, row_number() OVER (ORDER BY at DESC, kind, id) FROM quarantine"
DISCARD: Final = "DELETE FROM waiting_turns WHERE id = ?"


class SqliteQuarantine:
    """Implements `gateway.stores.QuarantineStore`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def add(self, entry: Quarantined) -> None:
        """Keep an entry; one that is known stays as it is."""
        owner, at = entry.owner, entry.at.timestamp()
        row = (entry.kind, entry.id, owner.tenant, owner.person, owner.place, entry.deaths, at)
        await self._database.run_job(lambda db: db.execute(ADD, row).rowcount)

    async def listed(self, limit: int) -> list[Quarantined]:
        """The latest, newest first."""
        rows = await self._database.run_job(lambda db: db.execute(LISTED, (limit,)).fetchall())
        return [
            Quarantined(kind, id_, Owner(*owner), deaths, datetime.fromtimestamp(at, UTC))
            for kind, id_, *owner, deaths, at in rows
        ]

    async def remove(self, kind: WorkKind, item_id: str, *, discard: bool) -> bool:
        """Take an entry off the list; with `discard` delete a turn that waits as well."""
        return await self._database.run_job(lambda db: _removed(db, kind, item_id, discard=discard))

    async def prune(
        self, before: datetime, recurring_before: datetime, recurring: Sequence[WorkKind], most: int
    ) -> int:
        """Delete entries that are too old, and the oldest entries beyond `most`."""

        def job(db: sqlite3.Connection) -> int:
            gone = [
                (kind, id_)
                for kind, id_, at, place in db.execute(OLD)
                if place > most
                or at < (recurring_before if kind in recurring else before).timestamp()
            ]
            return sum(_removed(db, kind, id_, discard=True) for kind, id_ in gone)

        return await self._database.run_job(job)


def _removed(db: sqlite3.Connection, kind: WorkKind, item_id: str, *, discard: bool) -> bool:
    found = db.execute(REMOVE, (kind, item_id)).rowcount > 0
    if found and discard and kind == "waiting_turn":
        db.execute(DISCARD, (item_id,))
    return found
