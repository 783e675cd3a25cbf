"""The interface of a database, the same for SQLite and PostgreSQL."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar

from db.statements import Engine, Statement
from db.transaction import NO_PARAMS, Params, Row, Work

T = TypeVar("T")


class Reader(Protocol):
    """A connection that only reads, beside the work of others."""

    async def fetch(self, statement: Statement, params: Params = NO_PARAMS) -> list[Row]:
        """All rows of one statement; a long result is fetched in pages, with LIMIT."""
        ...


class Database(Protocol):
    """An open database. Every method raises `StoreUnavailable`."""

    engine: Engine

    def run(self, make: Callable[[], Work[T]]) -> Awaitable[T]:
        """The result of the work, once it is committed. `make` is called again where the work has
        to run twice."""
        ...

    def fetch(self, statement: Statement, params: Params = NO_PARAMS) -> Awaitable[list[Row]]:
        """All rows of one statement, which is a transaction by itself."""
        ...

    def change(self, statement: Statement, params: Params = NO_PARAMS) -> Awaitable[int]:
        """The number of rows that one statement changed, which is a transaction by itself."""
        ...

    def reader(self) -> AbstractAsyncContextManager[Reader]:
        """A connection for reads that take long. It holds up neither the event loop nor writers."""
        ...
