"""One ledger, two databases: the same steps, each once, also when several processes start."""

import asyncio
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from gateway.errors import StoreUnavailable
from gateway.storage.migrations.ledger import MIGRATIONS
from gateway.storage.migrations.sqlite import applied, migrate
from gateway.storage.migrations.step import statements
from gateway.storage.postgres.pool import PostgresPool
from tests.support.databases import new_database
from tests.support.servers import PostgresServer

in_postgres = pytest.mark.xdist_group("postgres")


def opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=10, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    return connection


def test_the_steps_are_numbered_without_a_gap() -> None:
    assert [step.version for step in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


def test_deeper_lines_belong_to_the_statement_above_them() -> None:
    found = statements("""
    CREATE TABLE a (b);

    CREATE TRIGGER t AFTER DELETE ON a BEGIN
        SELECT 1;
        SELECT 2;
        END;
    SELECT 3;
""")
    assert [part.split()[0] for part in found] == ["CREATE", "CREATE", "SELECT"]
    assert found[1].endswith("END")
    assert statements(None) == []


def test_a_file_takes_every_step_once(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "test.db")) as connection:
        migrate(connection)
        migrate(connection)
        rows = connection.execute("SELECT version, name FROM schema_migrations").fetchall()
    assert rows == [(step.version, step.name) for step in MIGRATIONS]


def test_files_that_many_open_at_once_take_every_step_once(tmp_path: Path) -> None:
    opened(tmp_path / "test.db").close()

    def start(_: int) -> set[int]:
        with closing(opened(tmp_path / "test.db")) as connection:
            migrate(connection)
            return applied(connection)

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(start, range(8))) == [{step.version for step in MIGRATIONS}] * 8


def test_a_step_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "test.db")) as connection:
        connection.execute("CREATE TABLE outbox (unexpected INTEGER)")
        with pytest.raises(sqlite3.OperationalError, match="outbox already exists"):
            migrate(connection)
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        assert tables.fetchall() == [("outbox",)]


def test_a_file_of_the_second_step_keeps_what_it_has(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "test.db")) as connection:
        connection.execute(
            "CREATE TABLE schema_migrations"
            " (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)"
        )
        for step in MIGRATIONS[:2]:
            connection.executescript(step.sqlite or "")
            connection.execute(
                "INSERT INTO schema_migrations VALUES (?, ?, 'then')", (step.version, step.name)
            )
        spent = "INSERT INTO usage VALUES (?, 'x1', 't', 'ada', 'w', 'm', 1, 1, 0, 0, 5, 0.0)"
        connection.executemany(spent, [(1,), (2,)])
        migrate(connection)
        assert connection.execute("SELECT turn, micros FROM usage").fetchall() == [("x1", 5)] * 2


@in_postgres
async def test_a_database_that_many_open_at_once_takes_every_step_once(
    postgres: PostgresServer,
) -> None:
    url = new_database(postgres)
    pools = [PostgresPool(url) for _ in range(6)]
    await asyncio.gather(*(pool.start() for pool in pools))
    rows = await pools[0].fetch("SELECT version, name FROM schema_migrations ORDER BY version")
    assert rows == [(step.version, step.name) for step in MIGRATIONS]
    await asyncio.gather(*(pool.stop() for pool in pools))


@in_postgres
async def test_a_database_of_a_newer_program_is_left_alone(postgres: PostgresServer) -> None:
    url = new_database(postgres)
    pool = PostgresPool(url)
    await pool.start()
    await pool.change("INSERT INTO schema_migrations VALUES (999, 'later', now())", ())
    await pool.stop()
    with pytest.raises(StoreUnavailable, match="newer version of Parley"):
        await PostgresPool(url).start()


@in_postgres
async def test_a_step_that_fails_in_postgres_leaves_nothing_behind(
    postgres: PostgresServer,
) -> None:
    url = new_database(postgres)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE traces (unexpected integer)")
        with pytest.raises(StoreUnavailable, match='"traces" already exists'):
            await PostgresPool(url).start()
        done = connection.execute("SELECT version FROM schema_migrations").fetchall()
        assert done == [(1,)]
        assert connection.execute("SELECT to_regclass('turns')").fetchone() == (None,)
