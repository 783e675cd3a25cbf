"""The number of waits for PostgreSQL when storing and recalling: a server is milliseconds away."""

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from db.postgres import PostgresDatabase
from gateway.immutable import replace
from memory.model.record import Embedding, Record
from memory.ports.memories import Filter
from memory.stores.memories import SqlMemories
from memory.stores.search import RecallStore, searches_on
from tests.memory.stores.records import access, record, store
from tests.support.clock import FakeClock
from tests.support.databases import PATIENT, postgres_database
from tests.support.round_trips import round_trips

pytestmark = pytest.mark.xdist_group("postgres")
VECTOR = Embedding("m", (1.0, 0.5))
WORDS = ("amber", "harbour", "lantern", "orchard", "compass")


class Rig:
    """A memory over one connection, in which every statement has run before."""

    def __init__(self, database: PostgresDatabase, clock: FakeClock) -> None:
        searches = searches_on(database)
        self.database = database
        self.memories = SqlMemories(database, clock, searches)
        self.recall = RecallStore(database, clock, searches)
        self.last = ""

    def new(self, number: int, **rest: Any) -> Record:
        words = " ".join(f"{word}{number * place}" for place, word in enumerate(WORDS, start=1))
        return record(f"tea {words}", message_id=f"m{number}", **rest)

    async def insert(self, number: int) -> None:
        new = self.new(number, embedding=VECTOR, supersedes=self.last)
        assert (await store(self.memories, new, quota=100)).stored
        self.last = new.id

    async def turns(self, number: int) -> None:
        replies = [self.new(number, role=role, conversation="g") for role in ("user", "assistant")]
        await self.memories.keep_turns(access(), replies)

    async def lexical(self, _: int) -> None:
        assert await self.recall.lexical(access(), "tea amber", Filter(), 10)

    async def nearest(self, _: int) -> None:
        assert await self.recall.nearest(access(), VECTOR, Filter(), 10)

    async def neighbours(self, _: int) -> None:
        assert await self.recall.neighbours(access(), [self.last], 2)

    async def find(self, _: int) -> None:
        assert await self.memories.find(access(), Filter())

    async def find_words(self, _: int) -> None:
        assert await self.memories.find(access(), Filter(text="tea"))

    async def get(self, _: int) -> None:
        assert await self.memories.get(access(), self.last)


@pytest.fixture
async def rig(postgres_url: str, clock: FakeClock) -> AsyncIterator[Rig]:
    opened = postgres_database(postgres_url, replace(PATIENT, connections=1))
    await opened.start()
    yield Rig(opened, clock)
    await opened.stop()


MOST: dict[Callable[[Rig, int], Awaitable[None]], int] = {
    Rig.insert: 2,
    Rig.turns: 2,
    Rig.lexical: 3,
    Rig.nearest: 2,
    Rig.neighbours: 1,
    Rig.find: 1,
    Rig.find_words: 3,
    Rig.get: 1,
}


async def test_each_operation_has_the_minimum_of_round_trips(rig: Rig) -> None:
    for number in range(3):
        await rig.insert(number)
        await rig.turns(number)
    counted = {}
    for doing in MOST:
        await doing(rig, 7)
        counted[doing] = await round_trips(rig.database, partial(doing, rig, 8))
    assert counted == MOST
