"""One PostgreSQL for all tests of memory, and a memory on each of the engines."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from gateway.ports.memory import WaitingTurn
from gateway.stores.unit_of_work import put_waiting_turn
from parley.wiring.storage import memory_stores
from tests.memory.rig import Rig, memory_rig, rig_on
from tests.support.clock import FakeClock
from tests.support.databases import PATIENT, migrated_database, postgres_database, sqlite_database
from tests.support.servers import PostgresServer


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))]
)
async def rig(request: pytest.FixtureRequest) -> AsyncIterator[Rig]:
    if request.param == "sqlite":
        async with memory_rig() as opened:
            yield opened
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    pool = postgres_database(migrated_database(server), PATIENT)
    database, clock = sqlite_database(":memory:"), FakeClock()
    await asyncio.gather(pool.start(), database.start())

    async def keep(turn: WaitingTurn) -> None:
        await pool.run(lambda: put_waiting_turn(turn))

    yield rig_on(memory_stores(pool, clock), database, clock, keep=keep)
    await asyncio.gather(pool.stop(), database.stop())
