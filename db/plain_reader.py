"""Reads an SQLite file without an event loop and without threads, for a command that has to start
at once."""

import sqlite3
from collections.abc import Coroutine, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from db.errors import StoreUnavailable
from db.statements import Engine, Statement
from db.transaction import NO_PARAMS, Params, Row

T = TypeVar("T")
BUSY_SECONDS: Final = 2.0
"""Seconds for which a query waits for a process that holds the whole file."""


class PlainReader:
    """Implements `fetch` of `db.Database`, which is all that queries of a store use."""

    engine: Engine = "sqlite"

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def fetch(self, statement: Statement, params: Params = NO_PARAMS) -> list[Row]:
        """Return all rows of one statement. Raises `StoreUnavailable`."""
        try:
            values = statement.for_sqlite(params)
            return self._connection.execute(statement.sqlite, values).fetchall()
        except sqlite3.Error as error:
            raise StoreUnavailable(f"cannot read the database: {error}") from error


@contextmanager
def plain_reader(file: Path) -> Iterator[PlainReader]:
    """Open an existing file. Raises `StoreUnavailable`."""
    try:
        # "rw", because a file with a log cannot be opened otherwise; nothing is changed.
        address = f"{file.absolute().as_uri()}?mode=rw"
        connection = sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)
    except sqlite3.Error as error:
        raise StoreUnavailable(f"cannot open the database {file}: {error}") from error
    with closing(connection):
        try:
            connection.execute("PRAGMA query_only = true")
        except sqlite3.Error as error:
            raise StoreUnavailable(f"cannot open the database {file}: {error}") from error
        yield PlainReader(connection)


def result_of(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that waits for nothing but a `PlainReader`."""
    try:
        work.send(None)
    except StopIteration as ended:
        result: T = ended.value
        return result
    work.close()
    raise RuntimeError("this work waits for an event loop")
