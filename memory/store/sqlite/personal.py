"""What memory keeps of a person in SQLite: given out whole, erased whole."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from db.sqlite import SqliteDatabase
from db.values import storable
from memory.store.personal import ERASED, TABLES
from memory.store.sqlite.links import leave

PERSONS: Final = "(SELECT value FROM json_each(:persons))"


class SqliteMemoryPersonal:
    """Implements `memory.store.ports.HoldsPersonal`."""

    def __init__(self, engine: SqliteDatabase) -> None:
        self._engine = engine

    async def export(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        """Everything of these identities, row by row."""
        asked = _asked(tenant, persons)

        def job(db: sqlite3.Connection) -> list[dict[str, object]]:
            return [row for table in TABLES for row in _rows(db, table.name, table.whose, asked)]

        return await self._engine.run_job(job)

    async def erase(self, tenant: str, persons: Sequence[str], exchange: str = "") -> int:
        """Delete what is theirs; take their name off what belongs to a project."""
        asked = _asked(tenant, persons)

        def job(db: sqlite3.Connection) -> int:
            for person in persons:
                leave(db, tenant, person)
            return sum(
                db.execute(sql.format(persons=PERSONS, tenant=":tenant"), asked).rowcount
                for sql in ERASED
            )

        return await self._engine.run_job(job)


def _rows(
    db: sqlite3.Connection, table: str, whose: str, asked: dict[str, object]
) -> list[dict[str, object]]:
    sql = f"SELECT * FROM {table} WHERE tenant = :tenant AND {whose}"  # noqa: S608 - constants
    found = db.execute(sql.format(persons=PERSONS), asked)
    names = [str(column[0]) for column in found.description]
    return [{"table": table} | _read(dict(zip(names, row, strict=True))) for row in found]


def _read(row: dict[str, Any]) -> dict[str, object]:
    row.pop("shelves", None)
    for name in ("tags", "derived_from", "passed", "failed", "record", "off_in", "untold"):
        if name in row:
            row[name] = json.loads(row[name])
    return row


def _asked(tenant: str, persons: Sequence[str]) -> dict[str, object]:
    return {
        "tenant": storable(tenant),
        "persons": json.dumps([storable(person) for person in persons if person]),
    }
