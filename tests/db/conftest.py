"""The same tests on both engines."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from db import Database
from db.migrations import Schema
from db.postgres import PoolLimits, PostgresDatabase
from db.sqlite import SqliteDatabase
from db.statements import either
from tests.support.databases import new_database
from tests.support.patience import PATIENCE
from tests.support.servers import PostgresServer, postgres_server

PATIENT = PoolLimits(checkout=PATIENCE, statement=PATIENCE)
THINGS = Schema(
    "things",
    (
        (
            f"""CREATE TABLE things (
                id text PRIMARY KEY, size bigint, weight double precision,
                data {either(sqlite="blob", postgres="bytea")}, kept boolean NOT NULL DEFAULT false,
                document text NOT NULL DEFAULT '{{}}'
            )""",
        ),
    ),
)


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    with postgres_server() as started:
        yield started


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    opened = SqliteDatabase(tmp_path / "things.db", (THINGS,))
    await opened.start()
    yield opened
    await opened.stop()


@pytest.fixture
async def postgres(server: PostgresServer) -> AsyncIterator[PostgresDatabase]:
    opened = PostgresDatabase(new_database(server), (THINGS,), PATIENT)
    await opened.start()
    yield opened
    await opened.stop()


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("databases"))]
)
def database(request: pytest.FixtureRequest) -> Database:
    opened: Database = request.getfixturevalue(request.param)
    return opened
