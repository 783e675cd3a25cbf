"""Both engines in one fixture: every test of a store runs once on each."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from db.postgres import PostgresDatabase
from db.sqlite import SqliteDatabase
from memory.ports.memories import MemoryStore
from memory.stores.brain import BrainStore
from memory.stores.links import LinkStore
from memory.stores.memories import SqlMemories
from memory.stores.people import PeopleStore
from memory.stores.reviews import ReviewStore
from memory.stores.search import RecallStore, searches_on
from tests.support.clock import FakeClock
from tests.support.databases import PATIENT, migrated_database, postgres_database, sqlite_database
from tests.support.servers import PostgresServer

Engine = SqliteDatabase | PostgresDatabase


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    opened = sqlite_database(tmp_path / "test.db")
    await opened.start()
    yield opened
    await opened.stop()


@pytest.fixture
async def url(postgres: PostgresServer) -> str:
    return await migrated_database(postgres)


@pytest.fixture
async def pool(url: str) -> AsyncIterator[PostgresDatabase]:
    opened = postgres_database(url, PATIENT)
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
    return SqlMemories(engine, clock, searches_on(engine))


@pytest.fixture
def recall(engine: Engine, clock: FakeClock) -> RecallStore:
    return recall_on(engine, clock)


def recall_on(engine: Engine, clock: FakeClock) -> RecallStore:
    """Return the recall store of an open engine."""
    return RecallStore(engine, clock, searches_on(engine))


@pytest.fixture
def people(engine: Engine, clock: FakeClock) -> PeopleStore:
    return PeopleStore(engine, clock)


@pytest.fixture
def reviews(engine: Engine) -> ReviewStore:
    return ReviewStore(engine)


@pytest.fixture
def links(engine: Engine) -> LinkStore:
    return LinkStore(engine)


@pytest.fixture
def brain(engine: Engine) -> BrainStore:
    return BrainStore(engine)


@pytest.fixture
async def again(
    request: pytest.FixtureRequest, engine: Engine, clock: FakeClock
) -> AsyncIterator[tuple[MemoryStore, RecallStore]]:
    """The same database once more, over a connection of its own."""
    other: Engine
    if isinstance(engine, SqliteDatabase):
        other = sqlite_database(engine.path)
    else:
        other = postgres_database(request.getfixturevalue("url"), PATIENT)
    await other.start()
    yield memories_on(other, clock), recall_on(other, clock)
    await other.stop()
