"""Databases of their own for tests that share one PostgreSQL server."""

import asyncio
import itertools
import os
from collections import Counter, deque
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

import psycopg
import pytest

from db.migrations import Schema
from db.postgres import CONNECTION_DEFAULTS, PoolLimits, PostgresDatabase
from db.sqlite import SqliteDatabase
from parley.wiring.storage import SCHEMAS
from tests.support.patience import PATIENCE
from tests.support.servers import PostgresServer

Engine: TypeAlias = SqliteDatabase | PostgresDatabase
Opened = TypeVar("Opened", SqliteDatabase, PostgresDatabase)

PATIENT = PoolLimits(checkout=PATIENCE, statement=PATIENCE)
"""For tests in which the server is there and only the machine is busy."""
WORD_INDEXES = ("long_document_text", "memories_text", "shares_text", "turns_text")
"""Tables of SQLite whose rows cannot be listed, with those that they consist of."""
_NUMBERS = itertools.count()
_COPIES: WeakKeyDictionary[PostgresServer, dict[tuple[Schema, ...], "_Copies"]] = (
    WeakKeyDictionary()
)
_OBJECTS: Final = """
    SELECT relkind::text, relname::text, relnatts::integer FROM pg_class
    WHERE relnamespace = 'public'::regnamespace
    UNION SELECT 'function', proname::text, pronargs FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace
    UNION SELECT 'trigger', tgname::text, 0 FROM pg_trigger
    ORDER BY 1, 2, 3
"""
"""What a database consists of."""
_TERMINATE: Final = """
    SELECT pg_terminate_backend(pid, %s) FROM pg_stat_activity
    WHERE datname = %s AND pid <> pg_backend_pid()
"""
"""A connection that is about to end could still write, or keep the database from being copied."""
_KEPT: Final = 30
"""Databases of a server that may be in use; older ones are dropped, so that they fill no memory."""
_MADE: WeakKeyDictionary[PostgresServer, deque[str]] = WeakKeyDictionary()
_UNUSED: Final = 4
"""Databases that wait for a test."""
_USES: Final = 50
"""Tests that get the same database: the space of deleted rows stays until they are vacuumed."""


def sqlite_database(path: Path | str, **options: Any) -> SqliteDatabase:
    """A file with the tables of all domains, not opened yet."""
    return SqliteDatabase(path, SCHEMAS, **options)


def postgres_database(url: str, limits: PoolLimits | None = None) -> PostgresDatabase:
    """A PostgreSQL database with the tables of all domains, not opened yet."""
    return PostgresDatabase(url, SCHEMAS, limits)


def wait_for_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a server on a busy machine more than the three seconds of the program."""
    monkeypatch.setitem(CONNECTION_DEFAULTS, "connect_timeout", str(round(PATIENCE)))


@asynccontextmanager
async def started(database: Opened) -> AsyncIterator[Opened]:
    """A database that is open until the end."""
    await database.start()
    try:
        yield database
    finally:
        await database.stop()


def new_database(server: PostgresServer) -> str:
    """The URL of a database that nobody else uses and nothing is in."""
    return _created(server, "template1")


def migrated_database(server: PostgresServer, schemas: Sequence[Schema] = SCHEMAS) -> str:
    """The same with every table in it and no rows, as a start leaves it. Until the end of the test:
    another test gets the same database, emptied."""
    copies = _COPIES.setdefault(server, {})
    if tuple(schemas) not in copies:
        copies[tuple(schemas)] = _Copies(server, schemas)
    return copies[tuple(schemas)].take(server)


def end_of_test() -> None:
    """Let other tests have the databases that this one used."""
    for copies in (one for of_server in _COPIES.values() for one in of_server.values()):
        copies.give_back()


class _Copies:
    """Copies of a database that was started once, which takes a sixth of the time of starting on an
    empty one. Emptying a copy takes half of the time of another copy."""

    def __init__(self, server: PostgresServer, schemas: Sequence[Schema]) -> None:
        url = new_database(server)
        with ThreadPoolExecutor(1) as thread:  # where no event loop runs
            thread.submit(asyncio.run, _migrate(url, schemas)).result()
        self._template = url.rpartition("/")[2]
        _MADE[server].remove(self._template)
        with psycopg.connect(server.url, autocommit=True) as connection:
            _terminate(connection, url)
        first = _created(server, self._template)
        with psycopg.connect(first, autocommit=True) as connection:
            self._objects = connection.execute(_OBJECTS).fetchall()
        self._emptying = _emptying(self._objects)
        self._in_use: list[str] = []
        self._unused = [first]
        self._uses: Counter[str] = Counter()

    def take(self, server: PostgresServer) -> str:
        """The URL of an empty one."""
        url = self._unused.pop() if self._unused else ""
        if not url or not self._emptied(url):
            url = _created(server, self._template)
        self._uses[url] += 1
        self._in_use.append(url)
        return url

    def give_back(self) -> None:
        """Nobody uses those that were taken."""
        kept = (url for url in self._in_use if self._uses[url] < _USES)
        self._unused = [*self._unused, *kept][-_UNUSED:]
        self._in_use.clear()

    def _emptied(self, url: str) -> bool:
        """Delete every row; False where a test left other tables or functions, or a lock."""
        with suppress(psycopg.Error), psycopg.connect(url, autocommit=True) as connection:
            _terminate(connection, url)
            if connection.execute(_OBJECTS).fetchall() == self._objects:
                connection.execute(self._emptying)
                return True
        return False


def _terminate(connection: psycopg.Connection[Any], url: str) -> None:
    """End every other connection to a database."""
    connection.execute(_TERMINATE, (int(PATIENCE * 1000), url.rpartition("/")[2]))


def _emptying(objects: Sequence[tuple[Any, ...]]) -> bytes:
    """Statements that delete the rows of these tables, without triggers, and restart sequences."""
    tables = [name for kind, name, _ in objects if kind == "r" and name != "schema_migrations"]
    sequences = [name for kind, name, _ in objects if kind == "S"]
    statements = [
        "SET lock_timeout = '5s'",
        "SET session_replication_role = replica",
        *(f"DELETE FROM {name}" for name in tables),
        *(f"SELECT setval('{name}', 1, false)" for name in sequences),
    ]
    return ";".join(statements).encode()


async def _migrate(url: str, schemas: Sequence[Schema]) -> None:
    async with started(PostgresDatabase(url, schemas, PATIENT)):
        pass


def _created(server: PostgresServer, template: str) -> str:
    name = f"test_{os.getpid()}_{next(_NUMBERS)}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        # Files copied as they are take a fifth of the time of a copy by way of the log.
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
        older = _MADE.setdefault(server, deque())
        older.append(name)
        if len(older) > _KEPT:
            with suppress(psycopg.errors.ObjectInUse):
                connection.execute(f"DROP DATABASE {older.popleft()}")
    return server.url.removesuffix("/postgres") + f"/{name}"
