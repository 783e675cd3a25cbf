"""Every step is applied once, also when several processes start at the same moment."""

import asyncio
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from db.errors import SchemaTooNew, StoreUnavailable
from db.migrations import Schema, applied_in, migrate_sqlite
from db.postgres import PostgresDatabase
from db.sqlite import SqliteDatabase
from db.statements import either
from gateway.stores.postgres_status import standing
from parley.wiring.storage import SCHEMAS
from tests.support.databases import new_database
from tests.support.servers import PostgresServer

in_postgres = pytest.mark.xdist_group("databases")
FIRST = ("CREATE TABLE a (id bigint)", either(sqlite="", postgres="CREATE TABLE p (id bigint)"))
A = Schema("a", (FIRST,))
LATER = Schema("a", (FIRST, ("ALTER TABLE a ADD COLUMN b bigint", "INSERT INTO a VALUES (1, 2)")))
B = Schema("b", (("CREATE TABLE b (id bigint)",),))
OLD_LEDGER = "CREATE TABLE schema_migrations (version integer PRIMARY KEY, name text NOT NULL)"


def opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=10, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    return connection


def test_every_step_is_applied_once_to_a_file(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "test.db")) as connection:
        migrate_sqlite(connection, (A,))
        migrate_sqlite(connection, (LATER, B))
        migrate_sqlite(connection, (LATER, B))
        assert applied_in(connection) == {("a", 1), ("a", 2), ("b", 1)}
        assert connection.execute("SELECT * FROM a").fetchall() == [(1, 2)]


def test_concurrent_openers_apply_every_step_once(tmp_path: Path) -> None:
    opened(tmp_path / "test.db").close()

    def start(_: int) -> int:
        with closing(opened(tmp_path / "test.db")) as connection:
            migrate_sqlite(connection, SCHEMAS)
            return len(applied_in(connection))

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(start, range(8))) == [sum(len(s.steps) for s in SCHEMAS)] * 8


def test_a_failing_step_is_rolled_back(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "test.db")) as connection:
        connection.execute("CREATE TABLE outbox (unexpected INTEGER)")
        with pytest.raises(sqlite3.OperationalError, match="outbox already exists"):
            migrate_sqlite(connection, SCHEMAS)
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        assert tables.fetchall() == [("outbox",)]


async def test_a_file_of_a_newer_version_is_not_changed(tmp_path: Path) -> None:
    newer = SqliteDatabase(tmp_path / "test.db", (LATER,))
    await newer.start()
    await newer.stop()
    with pytest.raises(SchemaTooNew, match="newer version of Parley"):
        await SqliteDatabase(tmp_path / "test.db", (A,)).start()


async def test_a_file_of_an_unsupported_old_version_is_reported(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "test.db")) as connection:
        connection.execute(OLD_LEDGER)
    with pytest.raises(StoreUnavailable, match="before its first release"):
        await SqliteDatabase(tmp_path / "test.db", (A,)).start()


@in_postgres
async def test_concurrent_connections_apply_every_step_once_in_postgres(
    server: PostgresServer,
) -> None:
    url = new_database(server)
    databases = [PostgresDatabase(url, SCHEMAS) for _ in range(6)]
    await asyncio.gather(*(database.start() for database in databases))
    rows = await databases[0].fetch_raw("SELECT schema, version FROM schema_migrations")
    await asyncio.gather(*(database.stop() for database in databases))
    assert sorted(rows) == sorted(
        (schema.name, version) for schema in SCHEMAS for version in range(1, len(schema.steps) + 1)
    )


@in_postgres
async def test_a_database_of_a_newer_or_unsupported_version_is_not_changed(
    server: PostgresServer,
) -> None:
    url = new_database(server)
    newer = PostgresDatabase(url, (LATER,))
    await newer.start()
    await newer.stop()
    with pytest.raises(SchemaTooNew, match="newer version of Parley"):
        await PostgresDatabase(url, (A,)).start()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP TABLE schema_migrations")
        connection.execute(OLD_LEDGER)
    with pytest.raises(StoreUnavailable, match="before its first release"):
        await PostgresDatabase(url, (A,)).start()
    with pytest.raises(StoreUnavailable, match="before its first release"):
        await standing(url, (A,))


@in_postgres
async def test_a_failing_step_is_rolled_back_in_postgres(server: PostgresServer) -> None:
    url = new_database(server)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE b (unexpected integer)")
        with pytest.raises(StoreUnavailable, match='"b" already exists'):
            await PostgresDatabase(url, (A, B)).start()
        done = connection.execute("SELECT schema, version FROM schema_migrations").fetchall()
        assert done == [("a", 1)]
        assert connection.execute("SELECT to_regclass('p')").fetchone() == ("p",)
