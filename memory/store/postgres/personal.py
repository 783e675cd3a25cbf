"""What memory keeps of a person in PostgreSQL: given out whole, erased whole."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final, LiteralString

from db.postgres import Connection, PostgresDatabase
from db.values import storable
from memory.store.personal import ERASED, TABLES
from memory.store.postgres.links import leave

PERSONS: Final = "(SELECT unnest(%(persons)s::text[]))"
TENANT: Final = "%(tenant)s"


class PostgresMemoryPersonal:
    """Implements `memory.store.ports.HoldsPersonal`."""

    def __init__(self, engine: PostgresDatabase) -> None:
        self._engine = engine

    async def export(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        """Everything of these identities, row by row."""
        asked = _asked(tenant, persons)

        async def work(connection: Connection) -> list[dict[str, object]]:
            found = []
            async with connection.transaction():
                for table in TABLES:
                    found += await _rows(connection, table.name, table.whose, asked)
            return found

        return await self._engine.with_connection(work)

    async def erase(self, tenant: str, persons: Sequence[str], exchange: str = "") -> int:
        """Delete what is theirs; take their name off what belongs to a project."""
        asked = _asked(tenant, persons)

        async def work(connection: Connection) -> int:
            gone = 0
            async with connection.transaction():
                for person in persons:
                    await leave(connection, tenant, person)
                for statement in ERASED:
                    sql = statement.format(persons=PERSONS, tenant=TENANT)
                    gone += (await connection.execute(sql, asked)).rowcount
            return gone

        return await self._engine.with_connection(work)


async def _rows(
    connection: Connection, table: LiteralString, whose: LiteralString, asked: dict[str, object]
) -> list[dict[str, object]]:
    sql: LiteralString = f"SELECT * FROM {table} WHERE tenant = {TENANT} AND {whose}"  # noqa: S608
    found = await connection.execute(sql.format(persons=PERSONS), asked)
    names = [column.name for column in found.description or ()]
    return [
        {"table": table} | _read(dict(zip(names, row, strict=True)))
        for row in await found.fetchall()
    ]


def _read(row: dict[str, Any]) -> dict[str, object]:
    for name in ("lexemes", "shelves", "words", "length"):
        row.pop(name, None)
    if "record" in row:
        row["record"] = json.loads(row["record"])
    return {
        name: value.astimezone(UTC).timestamp() if isinstance(value, datetime) else value
        for name, value in row.items()
    }


def _asked(tenant: str, persons: Sequence[str]) -> dict[str, object]:
    return {
        "tenant": storable(tenant),
        "persons": [storable(person) for person in persons if person],
    }
