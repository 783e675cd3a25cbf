"""Both engines behind one fixture: every test of a store runs once on either."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.storage.postgres.pool import PostgresPool
from gateway.storage.sqlite.database import Database
from memory.store.ports import BrainStore, MemoryStore, PeopleStore, ReviewStore
from memory.store.postgres.brain import PostgresBrain
from memory.store.postgres.memories import PostgresMemories
from memory.store.postgres.people import PostgresPeople
from memory.store.postgres.reviews import PostgresReviews
from memory.store.sqlite.brain import SqliteBrain
from memory.store.sqlite.memories import SqliteMemories
from memory.store.sqlite.people import SqlitePeople
from memory.store.sqlite.reviews import SqliteReviews
from tests.support.clock import FakeClock
from tests.support.databases import new_database
from tests.support.servers import PostgresServer

Engine = Database | PostgresPool


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    opened = Database(tmp_path / "test.db")
    await opened.start()
    yield opened
    await opened.stop()


@pytest.fixture
async def pool(postgres: PostgresServer) -> AsyncIterator[PostgresPool]:
    opened = PostgresPool(new_database(postgres))
    await opened.start()
    yield opened
    await opened.stop()


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))]
)
def engine(request: pytest.FixtureRequest) -> Engine:
    opened: Engine = request.getfixturevalue("database" if request.param == "sqlite" else "pool")
    return opened


@pytest.fixture
def memories(engine: Engine, clock: FakeClock) -> MemoryStore:
    return memories_on(engine, clock)


def memories_on(engine: Engine, clock: FakeClock) -> MemoryStore:
    """The records of an open engine."""
    if isinstance(engine, Database):
        return SqliteMemories(engine, clock)
    return PostgresMemories(engine, clock)


@pytest.fixture
def people(engine: Engine, clock: FakeClock) -> PeopleStore:
    return (
        SqlitePeople(engine, clock)
        if isinstance(engine, Database)
        else PostgresPeople(engine, clock)
    )


@pytest.fixture
def reviews(engine: Engine) -> ReviewStore:
    return SqliteReviews(engine) if isinstance(engine, Database) else PostgresReviews(engine)


@pytest.fixture
def brain(engine: Engine) -> BrainStore:
    return SqliteBrain(engine) if isinstance(engine, Database) else PostgresBrain(engine)
