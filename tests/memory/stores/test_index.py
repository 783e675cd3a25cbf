"""PostgreSQL's index of vectors, for owners with very many memories."""

import math
import random

import pytest

from db.postgres import PostgresDatabase
from memory.model.record import Embedding, Kind
from memory.ports.memories import Filter, MemoryStore, TextVector
from memory.stores.memories import SqlMemories
from memory.stores.postgres import vector_search
from memory.stores.postgres.vector_search import VectorIndex, VectorTable
from memory.stores.search import RecallStore, Searches, searches_on
from tests.memory.stores.records import BOB, access, record
from tests.support.clock import FakeClock

pytestmark = pytest.mark.xdist_group("postgres")
MANY = 400


def around(number: int) -> Embedding:
    angle = math.pi * number / MANY
    return Embedding("m'1", (math.cos(angle), math.sin(angle), 0.0))


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_search, "COMPARED", 20)


@pytest.fixture
def searches(pool: PostgresDatabase) -> Searches:
    return searches_on(pool)


@pytest.fixture
def table(searches: Searches) -> VectorTable:
    assert isinstance(searches.vectors, vector_search.PostgresVectors)
    return searches.vectors.table


@pytest.fixture
async def memories(pool: PostgresDatabase, clock: FakeClock, searches: Searches) -> MemoryStore:
    kept = SqlMemories(pool, clock, searches)
    turns = [
        record(f"turn {number}", role="user", kind=Kind.DECISION if number % 50 == 7 else Kind.FACT)
        for number in range(MANY)
    ]
    theirs = [record(f"theirs {number}", role="user", person=BOB) for number in range(MANY)]
    await kept.keep_turns(access(), turns)
    await kept.keep_turns(access(BOB), theirs)
    every = [TextVector(one.id, one.content, around(number)) for number, one in enumerate(turns)]
    every += [TextVector(one.id, one.content, around(number)) for number, one in enumerate(theirs)]
    random.Random(1).shuffle(every)
    await kept.embed(every)
    other = record("of another length", role="user", embedding=Embedding("m'1", (1.0, 0.0)))
    await kept.keep_turns(access(), [other])
    return kept


async def test_the_vector_index_is_created_on_demand_and_finds_memories(
    pool: PostgresDatabase,
    memories: MemoryStore,
    clock: FakeClock,
    searches: Searches,
    table: VectorTable,
) -> None:
    recall = RecallStore(pool, clock, searches)
    query = around(100)
    exact = await recall.nearest(access(), query, Filter(), 21)
    assert await searches.maintain() == 0
    indexed = await table.index_of("m'1", 3)
    assert indexed is not None
    by_index = await recall.nearest(access(), query, Filter(), 21)
    assert {hit.id for hit in by_index} == {hit.id for hit in exact}
    assert by_index[0].score == pytest.approx(1.0)
    rare = await recall.nearest(access(), query, Filter(kinds=(Kind.DECISION,)), 3)
    assert len(rare) == 3
    kept = await memories.get(access(), by_index[0].id)
    assert kept is not None
    assert kept.content == "turn 100"
    await memories.delete(access(), [kept.id])
    again = await recall.nearest(access(), query, Filter(), 20)
    assert kept.id not in {hit.id for hit in again}
    assert len(again) == 20


@pytest.mark.usefixtures("memories")
async def test_an_interrupted_index_is_created_again(
    pool: PostgresDatabase, table: VectorTable
) -> None:
    expected = VectorIndex("m'1", 3)
    assert await table.index_of("m'1", 3) is None
    await table.make_index()
    invalid = "UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass(%s)"
    await pool.with_connection(lambda db: db.execute(invalid, (expected.name,)))
    table._indexed.clear()
    assert await table.index_of("m'1", 3) is None
    await table.make_index()
    assert await table.index_of("m'1", 3) == expected
    assert await table.index_of("m'1", 4_000) is None
    assert await table.make_index() == 0
