"""Deletes rows in steps, so that neither the event loop nor a lock is blocked for long."""

from collections.abc import Mapping
from typing import Final

from db.database import Database
from db.statements import SKIP_LOCKED, Engine, Statement, either
from db.transaction import Params

AT_ONCE: Final[Mapping[Engine, int]] = {"sqlite": 500, "postgres": 5_000}
"""Rows that one step deletes. SQLite works on the event loop: 500 rows take some milliseconds."""


def deleting_some(table: str, key: str, where: str, order: str) -> Statement:
    """Deletes the first rows for which `where` holds. `key` names the columns of the key."""
    some = f"FROM {table} WHERE {where} ORDER BY {order} LIMIT :most {SKIP_LOCKED}"
    chosen = either(
        sqlite=f"({key}) IN (SELECT {key} {some})",
        # by the place of a row, which PostgreSQL never joins with the whole table
        postgres=f"ctid = ANY (ARRAY(SELECT ctid {some}))",
    )
    return Statement(f"DELETE FROM {table} WHERE {chosen}")  # noqa: S608 - constants of the caller


async def delete_some(database: Database, statement: Statement, params: Params) -> int:
    """Run one step of a statement of `deleting_some`; return the number of rows."""
    return await database.change(statement, {**params, "most": AT_ONCE[database.engine]})
