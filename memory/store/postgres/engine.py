"""What these stores need of PostgreSQL."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import LiteralString, Protocol, TypeVar

from psycopg import AsyncConnection
from psycopg.rows import TupleRow

T = TypeVar("T")
Connection = AsyncConnection[TupleRow]


class PostgresEngine(Protocol):
    """A pool of connections in autocommit mode. Every method raises `StoreUnavailable`."""

    async def run(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """The result of `work(connection)`; done a second time where the connection broke."""
        ...

    async def fetch(
        self, statement: LiteralString, parameters: Sequence[object] | Mapping[str, object] = ()
    ) -> list[TupleRow]:
        """All rows of one statement."""
        ...

    async def change(
        self, statement: LiteralString, parameters: Sequence[object] | Mapping[str, object]
    ) -> int:
        """How many rows one statement changed."""
        ...

    async def at_length(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """The result of work that takes minutes, on a connection of its own, without a bound."""
        ...
