"""The stores of memory on either database."""

import pytest

from memory.ports.memories import MemoryStore
from memory.stores.conflicts import ConflictStore
from memory.stores.documents import DocumentStore
from memory.stores.links import LinkStore
from memory.stores.memories import SqlMemories
from memory.stores.people import PeopleStore
from memory.stores.reviews import ReviewStore
from memory.stores.search import RecallStore, searches_on
from tests.support.clock import FakeClock
from tests.support.databases import Engine


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
def conflicts(engine: Engine) -> ConflictStore:
    return ConflictStore(engine)


@pytest.fixture
def links(engine: Engine) -> LinkStore:
    return LinkStore(engine)


@pytest.fixture
def brain(engine: Engine) -> DocumentStore:
    return DocumentStore(engine)


@pytest.fixture
def stores_elsewhere(second_engine: Engine, clock: FakeClock) -> tuple[MemoryStore, RecallStore]:
    """The same database once more, over a connection of its own."""
    return memories_on(second_engine, clock), recall_on(second_engine, clock)
