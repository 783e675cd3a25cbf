"""Several writers go the whole write path at once: every text is stored once, and none is lost."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from db.sqlite import SqliteDatabase
from memory.model.outcome import Outcome
from memory.model.record import Draft, Kind
from memory.ports.memories import Filter
from parley.wiring.storage import MemoryStores
from tests.memory.rig import rig_on
from tests.memory.stores.writing import text_of
from tests.support.clock import FakeClock
from tests.support.databases import PATIENT, migrated_database, postgres_database, sqlite_database
from tests.support.servers import PostgresServer

WRITERS = 8
CLOCK = FakeClock()


@asynccontextmanager
async def sqlite(folder: Path) -> AsyncIterator[list[MemoryStores]]:
    """Every writer has a connection of its own, as a process would."""
    opened = [sqlite_database(folder / "memory.db") for _ in range(WRITERS)]
    for database in opened:
        await database.start()
    yield [MemoryStores(database, CLOCK) for database in opened]
    for database in opened:
        await database.stop()


@asynccontextmanager
async def postgres_pools(server: PostgresServer) -> AsyncIterator[list[MemoryStores]]:
    """Every writer has a pool of its own, as a process would."""
    url = migrated_database(server)
    opened = [postgres_database(url, PATIENT) for _ in range(WRITERS)]
    for pool in opened:
        await pool.start()
    yield [MemoryStores(pool, CLOCK) for pool in opened]
    for pool in opened:
        await pool.stop()


async def written(stores: MemoryStores, states: SqliteDatabase, texts: list[str]) -> Counter[str]:
    """One writer after the other of its texts; what became of them."""
    rig, outcomes = rig_on(stores, states, CLOCK), Counter[str]()
    for text in texts:
        result = await (await rig.handle("ada")).write.remember(Draft(text, Kind.FACT))
        outcomes["stored" if result.outcome is Outcome.STORED else result.code] += 1
    return outcomes


async def check(opened: list[MemoryStores], writes: int, distinct: int) -> None:
    states = sqlite_database(":memory:")
    await states.start()
    every = [text_of(number % distinct) for number in range(writes)]
    random.Random(1).shuffle(every)  # the same order for all, so that they meet
    done = await asyncio.gather(*(written(stores, states, every) for stores in opened))
    total = sum(done, Counter[str]())
    assert total == {"stored": distinct, "duplicate": WRITERS * writes - distinct}
    rig = rig_on(opened[0], states, CLOCK)
    result = await (await rig.handle("ada")).read.search(Filter(limit=1_000))
    assert sorted(match.record.content for match in result) == sorted(set(every))
    await states.stop()


SOME = pytest.param(30, 15, id="some")
ALL = pytest.param(1_000, 500, id="all", marks=[pytest.mark.nightly, pytest.mark.timeout(900)])


@pytest.mark.parametrize(("writes", "distinct"), [SOME, ALL])
async def test_concurrent_writers_store_each_text_once_in_sqlite(
    tmp_path: Path, writes: int, distinct: int
) -> None:
    async with sqlite(tmp_path) as opened:
        await check(opened, writes, distinct)


@pytest.mark.xdist_group("postgres")
@pytest.mark.parametrize(("writes", "distinct"), [SOME, ALL])
async def test_concurrent_writers_store_each_text_once_in_postgres(
    postgres: PostgresServer, writes: int, distinct: int
) -> None:
    async with postgres_pools(postgres) as opened:
        await check(opened, writes, distinct)
