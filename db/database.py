"""The interface of a database, the same for SQLite and PostgreSQL."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol, TypeVar

from db.statements import SKIP_LOCKED, Engine, Statement, either
from db.transaction import NO_PARAMS, Params, Row, Work

T = TypeVar("T")


class Reader(Protocol):
    """A read-only connection, concurrent with other work."""

    async def fetch(self, statement: Statement, params: Params = NO_PARAMS) -> list[Row]:
        """Return all rows of one statement; fetch a long result in pages, with LIMIT."""
        ...


class Database(Protocol):
    """An open database. Every method raises `StoreUnavailable`."""

    engine: Engine

    def run(self, make: Callable[[], Work[T]]) -> Awaitable[T]:
        """Return the result of the work after its commit. `make` is called again if the work has to
        run twice."""
        ...

    def fetch(self, statement: Statement, params: Params = NO_PARAMS) -> Awaitable[list[Row]]:
        """Return all rows of one statement in its own transaction."""
        ...

    def change(self, statement: Statement, params: Params = NO_PARAMS) -> Awaitable[int]:
        """Run one statement in its own transaction; return the number of changed rows."""
        ...

    def reader(self) -> AbstractAsyncContextManager[Reader]:
        """A connection for long reads. It blocks neither the event loop nor writers."""
        ...


AT_ONCE: Final[Mapping[Engine, int]] = {"sqlite": 500, "postgres": 5_000}
"""Rows that one step deletes. SQLite works on the event loop: 500 rows take some milliseconds."""


def deleting_some(table: str, key: str, where: str, order: str, returning: str = "") -> Statement:
    """Deletes the first rows for which `where` holds. `key` names the columns of the key, and
    `returning` those that are returned of each deleted row."""
    some = f"FROM {table} WHERE {where} ORDER BY {order} LIMIT :most {SKIP_LOCKED}"
    chosen = either(
        sqlite=f"({key}) IN (SELECT {key} {some})",
        # by the place of a row, which PostgreSQL never joins with the whole table
        postgres=f"ctid = ANY (ARRAY(SELECT ctid {some}))",
    )
    columns = f" RETURNING {returning}" if returning else ""
    return Statement(f"DELETE FROM {table} WHERE {chosen}{columns}")


async def delete_some(database: Database, statement: Statement, params: Params) -> int:
    """Run one step of a statement of `deleting_some`; return the number of rows."""
    return await database.change(statement, {**params, "most": AT_ONCE[database.engine]})


async def deleted_some(database: Database, statement: Statement, params: Params) -> list[Row]:
    """Run one step of a statement of `deleting_some` with `returning`; return the deleted rows."""
    return await database.fetch(statement, {**params, "most": AT_ONCE[database.engine]})
