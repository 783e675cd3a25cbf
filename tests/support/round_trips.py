"""Counts the waits of a client for PostgreSQL, in libpq's own record of its messages."""

import tempfile
from collections.abc import Awaitable, Callable
from typing import TypeVar

from db.postgres import Connection, PostgresDatabase

T = TypeVar("T")


async def round_trips(database: PostgresDatabase, work: Callable[[], Awaitable[T]]) -> int:
    """The messages after which the server is waited for. The database has one connection."""
    with tempfile.TemporaryFile() as record:

        async def begin(connection: Connection) -> None:
            connection.pgconn.trace(record.fileno())

        async def end(connection: Connection) -> None:
            connection.pgconn.untrace()

        await database.with_connection(begin)
        await work()
        await database.with_connection(end)
        record.seek(0)
        sent = [line.split(b"\t") for line in record.read().splitlines()]
    return sum(b"Sync" in parts and b"F" in parts for parts in sent)
