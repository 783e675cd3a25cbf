"""What these stores need of a SQLite database."""

import sqlite3
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

T = TypeVar("T")


class SqliteEngine(Protocol):
    """An open file. A job runs in a transaction that nobody else writes beside."""

    def run(self, job: Callable[[sqlite3.Connection], T]) -> Awaitable[T]:
        """The result of the job, once it is committed. Raises `StoreUnavailable`."""
        ...
