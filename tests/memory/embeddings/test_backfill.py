"""The background work that makes vectors, over a real store."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import pytest
from structlog.testing import capture_logs

from gateway.errors import ModelRefused, ModelUnavailable
from gateway.inbound.crash_loop_guard import MAX_WEIGHT
from memory.embeddings.backfill import (
    AFTER_FAILURE,
    AFTER_REFUSAL,
    BATCH,
    MODEL,
    WHOLE_AGAIN,
    EmbeddingBackfill,
)
from memory.model.record import Embedding
from memory.ports.memories import Filter, MemoryStore
from memory.stores.memories import SqlMemories
from memory.stores.search import RecallStore, searches_on
from tests.memory.stores.records import access, record, store
from tests.support.clock import FakeClock
from tests.support.databases import sqlite_database
from tests.support.work import deadly, suspected


@dataclass
class Model:
    """Says of a text how long it is; `more` numbers make another dimension."""

    model: str = "m"
    more: int = 0
    error: Exception | None = None
    texts: list[str] = field(default_factory=list)

    async def embed_in_background(self, texts: Sequence[str]) -> list[Embedding]:
        if self.error:
            raise self.error
        self.texts += texts
        return [
            Embedding(self.model, (float(len(text)), 1.0, *(0.5,) * self.more)) for text in texts
        ]


@dataclass
class Rig:
    memories: MemoryStore
    recall: RecallStore
    clock: FakeClock
    model: Model
    counted: list[str] = field(default_factory=list)

    def work(self, model: Model | None = None) -> EmbeddingBackfill:
        return EmbeddingBackfill(
            self.memories, model or self.model, self.clock, self.counted.append
        )

    async def keep(self, *texts: str) -> list[str]:
        some = [record(text) for text in texts]
        for one in some:
            assert (await store(self.memories, one)).stored
        return [one.id for one in some]

    async def found(self, model: str = "m") -> set[str]:
        hits = await self.recall.nearest(access(), Embedding(model, (1.0, 1.0)), Filter(), 100)
        return {hit.id for hit in hits}


@pytest.fixture
async def rig(clock: FakeClock) -> AsyncIterator[Rig]:
    database = sqlite_database(":memory:")
    await database.start()
    searches = searches_on(database)
    memories = SqlMemories(database, clock, searches)
    yield Rig(memories, RecallStore(database, clock, searches), clock, Model())
    await database.stop()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


async def finish(work: EmbeddingBackfill) -> int:
    made = 0
    while step := await work.step():
        made += step
    return made


async def test_every_memory_gets_its_vector_newest_first(rig: Rig) -> None:
    texts = [f"memory {'x' * number} {number}" for number in range(2 * BATCH + 3)]
    ids = await rig.keep(*texts)
    work = rig.work()
    assert await rig.memories.embedded("m") == (0, len(texts))
    assert await finish(work) == len(texts)
    assert await rig.memories.embedded("m") == (len(texts), len(texts))
    assert rig.model.texts == texts[::-1]
    assert await rig.found() == set(ids)
    assert rig.counted == ["vectors_computed"] * len(texts)


async def test_new_memories_precede_older_ones(rig: Rig) -> None:
    await rig.keep(*(f"old {'x' * number} {number}" for number in range(3 * BATCH)))
    work = rig.work()
    assert await work.step() == BATCH
    new = await rig.keep("brand new")
    assert await work.step() == 1
    assert set(new) <= await rig.found()
    assert await finish(work) == 2 * BATCH
    many = await rig.keep(*(f"more {'y' * number} {number}" for number in range(2 * BATCH + 1)))
    assert await finish(work) == len(many)
    assert len(await rig.found()) == 5 * BATCH + 2
    assert len(rig.model.texts) == 5 * BATCH + 2


async def test_another_model_makes_all_vectors_anew_without_mixing(rig: Rig) -> None:
    ids = await rig.keep(*(f"memory {'x' * number} {number}" for number in range(BATCH + 5)))
    await finish(rig.work())
    other = rig.work(Model("n"))
    assert await other.step() == BATCH
    assert len(await rig.found("n")) == BATCH
    assert await rig.found("n") | await rig.found("m") == set(ids)
    assert await rig.memories.embedded("n") == (BATCH, len(ids))
    await finish(other)
    assert await rig.found("n") == set(ids)
    assert await rig.found("m") == set()


async def test_an_edited_memory_gets_a_new_vector_later(rig: Rig) -> None:
    turn = record("I like tea", role="user", message_id="m1")
    await store(rig.memories, turn)
    work = rig.work()
    assert await finish(work) == 1
    await rig.memories.revise_message("t", ("test", "main", "C1"), "m1", "I like rum")
    assert await work.step() == 0
    assert await rig.found() == set()
    await rig.clock.advance(WHOLE_AGAIN)
    assert await finish(work) == 1
    assert rig.model.texts == ["I like tea", "I like rum"]
    assert await rig.found() == {turn.id}


async def test_the_model_is_loaded_before_there_is_work(rig: Rig) -> None:
    """So that the first question does not wait for it."""
    loaded: list[int] = []

    async def warm() -> None:
        loaded.append(len(loaded))
        if len(loaded) == 1:
            raise ModelUnavailable("not yet")

    work = EmbeddingBackfill(rig.memories, rig.model, rig.clock, warm=warm)
    for _ in range(3):
        assert await work.step() == 0
    assert loaded == [0]
    await rig.clock.advance(AFTER_FAILURE)
    for _ in range(3):
        assert await work.step() == 0
    assert loaded == [0, 1]


@pytest.mark.parametrize(
    ("error", "pause"),
    [(ModelUnavailable("busy"), AFTER_FAILURE), (ModelRefused("no key"), AFTER_REFUSAL)],
)
async def test_a_failing_model_is_skipped_for_a_while_and_reported_once(
    rig: Rig, error: Exception, pause: float
) -> None:
    ids = await rig.keep("one", "two")
    work, rig.model.error = rig.work(), error
    with capture_logs() as logs:
        for _ in range(3):
            assert await work.step() == 0
            await rig.clock.advance(pause)
    assert [line["event"] for line in logs if line["log_level"] == "warning"] == [
        "vectors_not_computed"
    ]
    rig.model.error = None
    await rig.clock.advance(WHOLE_AGAIN)
    assert await finish(work) == 2
    assert await rig.found() == set(ids)


async def test_a_crashing_memory_is_embedded_alone_or_not_at_all(rig: Rig) -> None:
    ids = await rig.keep("one", "two", "three", "four")
    guard = suspected("embedding", {ids[0]: 4, ids[1]: MAX_WEIGHT, ids[2]: 1})
    work = EmbeddingBackfill(rig.memories, rig.model, rig.clock, guard=guard)
    while await work.step():
        pass
    assert await rig.found() == {ids[0], ids[2], ids[3]}
    batches = [{item.id for item in items} for items in guard.marked]
    assert batches == [{MODEL}, {ids[3]}, {ids[2]}, {ids[0]}]


async def test_a_crashing_model_is_not_loaded(rig: Rig) -> None:
    await rig.keep("one")
    guard = deadly("embedding", MODEL)
    work = EmbeddingBackfill(rig.memories, rig.model, rig.clock, guard=guard)
    assert await work.step() == 0
    assert await rig.found() == set()


async def test_after_another_dimension_of_the_same_name_all_vectors_are_made_anew(
    rig: Rig,
) -> None:
    ids = await rig.keep(*(f"memory {number}" for number in range(BATCH + 3)))
    assert await finish(rig.work()) == len(ids)
    assert await rig.memories.dimensions("m") == {2: len(ids)}
    wider = Model(more=2)
    work = rig.work(wider)
    assert await work.step() == BATCH
    assert await rig.memories.dimensions("m") == {2: 3, 4: BATCH}
    assert await finish(work) == 3
    assert await rig.memories.dimensions("m") == {4: len(ids)}
    assert await rig.found() == set(), "a question of the old dimension finds nothing"
    again = rig.work(Model(more=2))
    assert await finish(again) == 0


async def test_a_dimension_that_changes_while_the_program_runs_is_followed(rig: Rig) -> None:
    await rig.keep("one", "two")
    work = rig.work()
    assert await finish(work) == 2
    rig.model.more = 1
    await rig.keep("three")
    assert await finish(work) == 1
    assert await rig.memories.dimensions("m") == {2: 2, 3: 1}
    await rig.clock.advance(601)
    assert await finish(work) == 2
    assert await rig.memories.dimensions("m") == {3: 3}
