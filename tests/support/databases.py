"""Databases of their own for tests that share one PostgreSQL server."""

import asyncio
import itertools
import os
from collections import deque
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

import psycopg

from db.migrations import Schema
from db.postgres import PoolLimits, PostgresDatabase
from db.sqlite import SqliteDatabase
from parley.wiring.storage import SCHEMAS
from tests.support.patience import PATIENCE
from tests.support.servers import PostgresServer

Engine: TypeAlias = SqliteDatabase | PostgresDatabase
Opened = TypeVar("Opened", SqliteDatabase, PostgresDatabase)

PATIENT = PoolLimits(checkout=PATIENCE, statement=PATIENCE)
"""For tests in which the server is there and only the machine is busy."""
WORD_INDEXES = ("memories_text", "shares_text", "turns_text")
"""Tables of SQLite whose rows cannot be listed, with those that they consist of."""
_NUMBERS = itertools.count()
_MIGRATED: WeakKeyDictionary[PostgresServer, dict[tuple[Schema, ...], str]] = WeakKeyDictionary()
_KEPT: Final = 30
"""Databases of a server that may be in use; older ones are dropped, so that they fill no memory."""
_MADE: WeakKeyDictionary[PostgresServer, deque[str]] = WeakKeyDictionary()


def sqlite_database(path: Path | str, **options: Any) -> SqliteDatabase:
    """A file with the tables of all domains, not opened yet."""
    return SqliteDatabase(path, SCHEMAS, **options)


def postgres_database(url: str, limits: PoolLimits | None = None) -> PostgresDatabase:
    """A PostgreSQL database with the tables of all domains, not opened yet."""
    return PostgresDatabase(url, SCHEMAS, limits)


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
    """The same with every table in it, as a start leaves it: a copy of one that was started, which
    takes a sixth of the time of starting on an empty one."""
    templates = _MIGRATED.setdefault(server, {})
    made = templates.get(tuple(schemas))
    if made is None:
        url = new_database(server)
        with ThreadPoolExecutor(1) as thread:  # where no event loop runs
            thread.submit(asyncio.run, _migrate(url, schemas)).result()
        made = url.rpartition("/")[2]
        with psycopg.connect(server.url, autocommit=True) as connection:
            # A connection that is still about to end would keep it from being copied.
            connection.execute(
                "SELECT pg_terminate_backend(pid, %s) FROM pg_stat_activity WHERE datname = %s",
                (int(PATIENCE * 1000), made),
            )
        _MADE[server].remove(made)
        templates[tuple(schemas)] = made
    return _created(server, made)


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
