"""Counts of the data of each person: the contract on both engines."""

import pytest

from gateway.text import verbatim
from memory.model.record import Scope, Tier
from memory.ports.memories import MemoryStore
from memory.ports.people import PersonCount
from memory.stores.documents import DocumentStore
from memory.stores.people import PeopleStore
from memory.stores.personal_data import MemoryCounts
from memory.stores.reviews import ReviewItem, ReviewStore
from tests.memory.stores.records import ADA, AT, BOB, access, operator, record, store
from tests.support.databases import Engine

EVE = "other:main:eve"
ZOE = "Other:main:zoe"


@pytest.fixture
def counts(engine: Engine) -> MemoryCounts:
    return MemoryCounts(engine)


async def test_everybody_with_stored_data_is_counted_in_the_order_of_ids(
    counts: MemoryCounts,
    memories: MemoryStore,
    reviews: ReviewStore,
    people: PeopleStore,
    brain: DocumentStore,
) -> None:
    assert await counts.known("t", 10) == []
    await store(memories, record("likes tea"))
    await store(memories, record("said so", tier=Tier.EPISODIC))
    await store(memories, record("said more", tier=Tier.EPISODIC))
    shared = record("for all", BOB, scope=Scope.GLOBAL)
    await store(memories, shared, operator())
    await reviews.add(access(), ReviewItem("r1", record("maybe", id="m"), verbatim("hedged"), AT))
    await people.turn_memory("t", EVE, False)
    await brain.write(access(ZOE), "soul", "Zoe's", ZOE, AT)
    results = [PersonCount(ZOE, 0, 0, 0), PersonCount(EVE, 0, 0, 0), PersonCount(ADA, 2, 1, 1)]
    assert await counts.known("t", 10) == sorted(results, key=lambda one: one.person)
    assert len(await counts.known("t", 2)) == 2
    assert await counts.known("u", 10) == []
