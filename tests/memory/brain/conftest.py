"""A whole memory over either engine."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from parley.wiring.storage.memory_stores import memory_stores
from tests.memory.rig import Rig, rig_on
from tests.support.clock import FakeClock
from tests.support.databases import PATIENT, migrated_database, postgres_database, sqlite_database
from tests.support.servers import PostgresServer


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))]
)
async def rig(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Rig]:
    clock, database = FakeClock(), sqlite_database(tmp_path / "test.db")
    await database.start()
    if request.param == "sqlite":
        yield rig_on(memory_stores(database, clock), database, clock)
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        pool = postgres_database(await migrated_database(server), PATIENT)
        await pool.start()
        yield rig_on(memory_stores(pool, clock), database, clock)
        await pool.stop()
    await database.stop()
