"""Memories that an earlier version stored are filed again under the words of this one."""

import pytest

from db import Statement, Work
from db.errors import StoreUnavailable
from gateway.immutable import replace
from memory.ports.memories import Filter, MemoryStore
from memory.stores import refiling, rows
from memory.stores.refiling import refile_some
from memory.stores.search import RecallStore
from tests.memory.model.scope_cases import ADA, BEN, SHOWN, of
from tests.memory.stores.records import BOB, access, record, store
from tests.memory.stores.test_isolation_cases import put, share_with
from tests.memory.stores.test_isolation_pools import JOIN
from tests.support.databases import Engine

TEXTS = [f"Cousin {number} lives in Łódź." for number in range(7)]


@pytest.fixture
async def old(memories: MemoryStore, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memories with the words of an earlier version, which kept strokes."""
    monkeypatch.setattr(refiling, "AT_ONCE", 3)
    with pytest.MonkeyPatch.context() as earlier:
        earlier.setattr(rows, "index_terms", lambda *texts: " ".join(texts).lower())
        for text in TEXTS:
            await store(memories, record(text))
        await store(memories, record("Bob lives in Łódź.", person=BOB), access(BOB))
    for statement in refiling.MEMORIES.again:
        await engine.change(Statement(statement))


async def found(recall: RecallStore, words: str) -> int:
    return len(await recall.lexical(access(), words, Filter(), 20))


async def test_an_older_memory_is_found_by_its_words_of_today(
    engine: Engine, recall: RecallStore, old: None
) -> None:
    assert await found(recall, "lodz") == 0
    read = 0
    while some := await refile_some(engine):
        read += some
    assert read == len(TEXTS) + 1
    assert await found(recall, "lodz") == len(TEXTS)
    assert await found(recall, "łódź.") == len(TEXTS)
    assert await refile_some(engine) == 0


async def test_a_memory_may_go_before_and_after_it_is_filed_again(
    engine: Engine, memories: MemoryStore, recall: RecallStore, old: None
) -> None:
    first = [one.record.id for one in await memories.find(access(), Filter(limit=20))]
    assert await memories.delete(access(), first[:1]) == first[:1]
    while await refile_some(engine):
        assert await memories.delete(access(), first[-1:]) in (first[-1:], [])
    assert await found(recall, "lodz") == len(TEXTS) - 2
    assert await memories.delete(access(), first[1:-1])
    assert await found(recall, "lodz cousin") == 0


async def test_work_that_is_broken_off_goes_on_where_it_stopped(
    engine: Engine, recall: RecallStore, old: None
) -> None:
    await refile_some(engine)
    before = await found(recall, "lodz")

    def stopped() -> Work[int]:
        yield from refiling.MEMORIES.step(
            lambda rows: refiling._refile(rows, engine.engine == "sqlite"), 3
        )
        raise StoreUnavailable("stopped before the commit")

    with pytest.raises(StoreUnavailable):
        await engine.run(stopped)
    assert await found(recall, "lodz") == before < len(TEXTS)
    while await refile_some(engine):
        pass
    assert await found(recall, "lodz") == len(TEXTS)


async def test_a_new_memory_is_not_read_again(engine: Engine, memories: MemoryStore) -> None:
    await store(memories, record("Aunt Ida lives in Łódź."))
    assert await refile_some(engine) == 0


async def test_a_shared_memory_is_found_by_its_words_of_today(
    engine: Engine, recall: RecallStore, old: None
) -> None:
    reader, share = next((access, share) for access, share, shown in SHOWN if shown)
    with pytest.MonkeyPatch.context() as earlier:
        earlier.setattr(rows, "index_terms", lambda *texts: " ".join(texts).lower())
        stored = await put(engine, replace(of(BEN), id="mem-s", content="The pump is in Łódź."))
    for statement in refiling.MEMORIES.again:
        await engine.change(Statement(statement))
    numbers = {}
    for agent, granted in {("theirs", True), *share.readers}:
        values = {"pool": "pool", "tenant": "t", "agent": agent, "granted": granted, "person": ADA}
        numbers[agent] = (await engine.fetch(JOIN, values))[0][0]
    await share_with(engine, "pool", stored, share, numbers["theirs"])
    assert await recall.lexical(reader, "lodz", Filter(), 9) == []
    while await refile_some(engine):
        pass
    assert "mem-s" in {hit.id for hit in await recall.lexical(reader, "lodz", Filter(), 9)}
    await engine.change(Statement("DELETE FROM memories WHERE id = 'mem-s'"))
    assert "mem-s" not in {hit.id for hit in await recall.lexical(reader, "lodz", Filter(), 9)}
