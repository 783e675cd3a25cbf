"""One PostgreSQL for all tests of memory, and a memory on each of the engines."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gateway.ports.memory import WaitingTurn
from gateway.stores.unit_of_work import put_waiting_turn
from memory.model.plans import Plans
from memory.write.prepare import WriteRules
from parley.wiring.storage import MemoryStores
from tests.memory.rig import Rig, memory_rig, rig_on
from tests.support.clock import FakeClock
from tests.support.databases import PATIENT, migrated_database, postgres_database, sqlite_database
from tests.support.servers import PostgresServer

ENGINES = ["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))]


@pytest.fixture(params=ENGINES)
async def rig(request: pytest.FixtureRequest) -> AsyncIterator[Rig]:
    async with rig_of(request) as opened:
        yield opened


@pytest.fixture(params=ENGINES)
async def free_rig(request: pytest.FixtureRequest) -> AsyncIterator[Rig]:
    """A memory in which everybody has the plan of three memories."""
    async with rig_of(request, Plans(default="free")) as opened:
        yield opened


@pytest.fixture(params=ENGINES)
async def repeating_rig(request: pytest.FixtureRequest) -> AsyncIterator[Rig]:
    """A memory that stores repetitions."""
    async with rig_of(request, rules=WriteRules(dedup_threshold=None)) as opened:
        yield opened


@asynccontextmanager
async def rig_of(
    request: pytest.FixtureRequest, plans: Plans | None = None, rules: WriteRules | None = None
) -> AsyncIterator[Rig]:
    if request.param == "sqlite":
        async with memory_rig(plans=plans, rules=rules) as opened:
            yield opened
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    pool = postgres_database(migrated_database(server), PATIENT)
    database, clock = sqlite_database(":memory:"), FakeClock()
    await asyncio.gather(pool.start(), database.start())

    async def keep(turn: WaitingTurn) -> None:
        await pool.run(lambda: put_waiting_turn(turn))

    yield rig_on(MemoryStores(pool, clock), database, clock, keep=keep, plans=plans, rules=rules)
    await asyncio.gather(pool.stop(), database.stop())
