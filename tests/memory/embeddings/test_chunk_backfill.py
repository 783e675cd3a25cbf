"""The background work that makes vectors of chunks, over the real index on both databases."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from structlog.testing import capture_logs

from gateway.errors import ModelRefused, ModelUnavailable
from gateway.inbound.crash_loop_guard import MAX_WEIGHT
from gateway.ports.work_guard import WorkItem
from memory.embeddings.backfill import (
    AFTER_FAILURE,
    AFTER_REFUSAL,
    PROBE,
    WHOLE_AGAIN,
    ChunkBackfill,
)
from memory.knowledge.ports import MAX_CLAIMED
from memory.knowledge.stores.vectors import SqlChunkVectors
from tests.memory.knowledge.search.conftest import Library, library
from tests.memory.knowledge.vectors import MeaningModel
from tests.support.clock import FakeClock
from tests.support.work import KnownCrashes

__all__ = ["library"]  # a fixture of the tests here


@dataclass
class Rig:
    library: Library
    clock: FakeClock = field(default_factory=FakeClock)
    model: MeaningModel = field(default_factory=MeaningModel)
    counted: list[str] = field(default_factory=list)
    guard: KnownCrashes = field(default_factory=KnownCrashes)

    @property
    def vectors(self) -> SqlChunkVectors:
        return SqlChunkVectors(self.library.database)

    def work(self, model: MeaningModel | None = None) -> ChunkBackfill:
        return ChunkBackfill(
            self.vectors,
            model or self.model,
            self.clock,
            self.counted.append,
            guard=self.guard,
        )

    async def add(self, *texts: str, id_: str = "r1") -> None:
        await self.library.add({f"{text}.py": text for text in texts}, id=id_)


@pytest.fixture
def rig(library: Library) -> Rig:
    return Rig(library)


async def finish(*works: ChunkBackfill) -> None:
    busy: Sequence[int] = (1,)
    while any(busy):
        busy = [await work.step() for work in works]


async def test_every_chunk_gets_its_vector_in_bounded_batches(rig: Rig) -> None:
    texts = [f"text {number}" for number in range(2 * MAX_CLAIMED + 3)]
    await rig.add(*texts)
    work = rig.work()
    assert await work.step()
    assert await rig.vectors.embedded("m") == (MAX_CLAIMED, len(texts))
    await finish(work)
    assert rig.model.texts == texts
    assert await rig.vectors.embedded("m") == (len(texts), len(texts))
    assert rig.counted == ["vectors_computed"] * len(texts)
    assert await work.step() == 0


async def test_new_chunks_are_found_by_the_next_step(rig: Rig) -> None:
    await rig.add("a cat")
    work = rig.work()
    await finish(work)
    await rig.add("a dog", id_="r2")
    assert await work.step()
    assert await rig.vectors.embedded("m") == (2, 2)


async def test_processes_share_the_work(rig: Rig) -> None:
    texts = [f"text {number}" for number in range(4 * MAX_CLAIMED)]
    await rig.add(*texts)
    one, other = MeaningModel(), MeaningModel()
    await finish(rig.work(one), rig.work(other))
    made = [[text for text in model.texts if text != PROBE] for model in (one, other)]
    assert sorted(made[0] + made[1]) == sorted(texts)
    assert len(made[0]) == len(made[1])


async def test_a_later_process_continues(rig: Rig) -> None:
    texts = [f"text {number}" for number in range(3 * MAX_CLAIMED)]
    await rig.add(*texts)
    await rig.work().step()
    await finish(rig.work())
    assert [text for text in rig.model.texts if text != PROBE] == texts


async def test_after_another_dimension_of_the_same_name_all_vectors_are_made_anew(rig: Rig) -> None:
    texts = [f"text {number}" for number in range(MAX_CLAIMED + 3)]
    await rig.add(*texts)
    await finish(rig.work())
    assert await rig.vectors.dimensions("m") == {5: len(texts)}
    work = rig.work(MeaningModel(more=2))
    assert await work.step()
    assert await rig.vectors.dimensions("m") == {5: 3, 7: MAX_CLAIMED}
    await finish(work)
    assert await rig.vectors.dimensions("m") == {7: len(texts)}
    again = MeaningModel(more=2)
    await finish(rig.work(again))
    assert again.texts == [PROBE]


async def test_a_dimension_that_changes_while_the_program_runs_is_followed(rig: Rig) -> None:
    await rig.add("a cat", "a dog")
    work = rig.work()
    await finish(work)
    rig.model.more = 1
    await rig.add("a tree", id_="r2")
    await finish(work)
    assert await rig.vectors.dimensions("m") == {5: 2, 6: 1}
    await rig.clock.advance(WHOLE_AGAIN)
    await finish(work)
    assert await rig.vectors.dimensions("m") == {6: 3}


async def test_another_model_makes_all_vectors_anew(rig: Rig) -> None:
    await rig.add("a cat", "a dog")
    await finish(rig.work())
    await finish(rig.work(MeaningModel("n")))
    assert await rig.vectors.embedded("m") == (0, 2)
    assert await rig.vectors.embedded("n") == (2, 2)


async def test_after_a_failure_it_rests_and_continues_at_the_same_chunk(rig: Rig) -> None:
    await rig.add("a cat")
    work = rig.work()
    rig.model.error = ModelUnavailable("no answer")
    with capture_logs() as logs:
        assert await work.step() == 0
        assert await work.step() == 0
    assert [line["event"] for line in logs] == ["vectors_not_computed"]
    assert logs[0]["hint"] == "repositories are searched by words"
    assert await rig.vectors.problem("m") == "no answer"
    rig.model.error = None
    assert await work.step() == 0
    await rig.clock.advance(AFTER_FAILURE)
    assert await work.step()
    assert await rig.vectors.embedded("m") == (1, 1)
    assert await rig.vectors.problem("m") == ""


async def test_a_refused_text_does_not_delay_the_others(rig: Rig) -> None:
    await rig.add(*(f"text {number}" for number in range(MAX_CLAIMED + 1)))
    work = rig.work()
    rig.model.error = ModelRefused("too long")
    await work.step()
    rig.model.error = None
    await rig.clock.advance(AFTER_REFUSAL)
    await finish(work)
    assert await rig.vectors.embedded("m") == (1, MAX_CLAIMED + 1)
    await rig.clock.advance(WHOLE_AGAIN)
    await finish(work)
    assert await rig.vectors.embedded("m") == (MAX_CLAIMED + 1, MAX_CLAIMED + 1)


async def test_a_model_that_cannot_be_loaded_is_reported(rig: Rig) -> None:
    await rig.add("a cat")

    async def warm() -> None:
        raise ModelRefused("no file")

    work = ChunkBackfill(rig.vectors, rig.model, rig.clock, warm=warm)
    assert await work.step() == 0
    assert await rig.vectors.problem("m") == "no file"
    assert rig.model.texts == []


async def test_a_text_that_ends_the_program_is_skipped(rig: Rig) -> None:
    await rig.add("a cat", "a dog", "a car")
    rig.guard.weights[WorkItem("embedding", "chunk 1")] = MAX_WEIGHT
    rig.guard.weights[WorkItem("embedding", "chunk 2")] = 1
    await finish(rig.work())
    assert rig.model.texts == ["a car", "a dog"]
    assert len(rig.guard.marked[-1]) == 1
