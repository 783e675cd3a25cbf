"""The interface of a database, the same for SQLite and PostgreSQL."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar

from db.statements import Engine, Statement
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
