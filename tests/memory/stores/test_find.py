"""The matches of both memory stores, their order, and their omissions."""

import importlib
from collections.abc import Callable, Iterable
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from gateway.errors import BadInput
from memory.model.record import (
    Evidence,
    Kind,
    Scope,
    Tier,
)
from memory.ports.memories import Filter, MemoryStore
from tests.memory.stores.records import AT, access, operator, record, store, texts
from tests.support.clock import FakeClock
from tests.support.databases import Engine

DAY = timedelta(days=1)


async def test_the_newest_memories_come_first_in_pages(memories: MemoryStore) -> None:
    for number in range(7):
        await store(memories, record(f"number {number}", at=AT + timedelta(minutes=number // 2)))
    seen: list[str] = []
    after = ""
    while page := await memories.find(access(), Filter(limit=3, after_id=after)):
        seen += [match.record.content for match in page]
        after = page[-1].record.id
    assert seen == [f"number {number}" for number in reversed(range(7))]
    assert await memories.find(access(), Filter(after_id="mem-none")) == []


async def test_the_memory_with_the_most_rare_words_is_best(memories: MemoryStore) -> None:
    for text in (
        "my dog is called Rex",
        "my dog likes my cat",
        "my car is red",
        "my house is old and my car, too",
    ):
        await store(memories, record(text))
    matches = await memories.find(access(), Filter(text="what is my dog called?"))
    assert matches[0].record.content == "my dog is called Rex"
    scores = [match.score for match in matches]
    assert all(1 >= one >= two > 0 for one, two in pairwise(scores))
    assert scores[0] > 2 * scores[-1]
    assert (await memories.find(access(), Filter(text="dog Rex")))[0].score == 1.0
    weak = await memories.find(access(), Filter(text="my passport"))
    assert all(match.score < 0.35 for match in weak)


async def test_pages_of_a_search_contain_everything_once(memories: MemoryStore) -> None:
    for number in range(11):
        await store(memories, record(f"tea {'and biscuits ' * (number % 3)}number {number}"))
    seen: list[str] = []
    after = ""
    while page := await memories.find(
        access(), Filter(text="biscuits tea", limit=4, after_id=after)
    ):
        seen += [match.record.id for match in page]
        after = page[-1].record.id
    assert len(seen) == len(set(seen)) == 11
    assert await memories.find(access(), Filter(text="tea", after_id="mem-none")) == []


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("I prefer dark themes", "theme preferences"),
        ("wohnt in Žofín", "zofin"),
        ("wohnt in Žofín", "Z\u030cofi\u0301n"),
        ("Она живёт в Москве", "МОСКВЕ"),
        ("mail me at ada@example.com", "example"),
        ("the key is in snake_case", "snake"),
    ],
)
async def test_words_are_found_in_other_forms(memories: MemoryStore, text: str, query: str) -> None:
    await store(memories, record(text))
    assert await texts(memories, text=query) == [text]


async def test_tags_are_searched(memories: MemoryStore) -> None:
    await store(memories, record("likes tea", tags=("drinks",)))
    assert await texts(memories, text="drink") == ["likes tea"]


async def test_every_filter_reduces_the_results(memories: MemoryStore) -> None:
    await store(memories, record("tea one", tags=("a", "b"), kind=Kind.PREFERENCE))
    await store(memories, record("tea two", tags=("b",), tier=Tier.EPISODIC))
    await store(memories, record("tea three", scope=Scope.GLOBAL), operator())
    for text in ("", "tea"):
        assert len(await texts(memories, text=text)) == 3
        assert await texts(memories, text=text, tags=("b", "a")) == ["tea one"]
        assert await texts(memories, text=text, kinds=(Kind.PREFERENCE,)) == ["tea one"]
        assert await texts(memories, text=text, tiers=(Tier.EPISODIC,)) == ["tea two"]
        assert len(await texts(memories, text=text, own_only=True)) == 2
        assert len(await texts(memories, text=text, limit=2)) == 2


@pytest.mark.parametrize("text", ["", "tea"])
async def test_memories_that_are_not_valid_at_that_time_are_excluded(
    memories: MemoryStore, text: str
) -> None:
    await store(memories, record("tea from", true_from=AT + DAY))
    await store(memories, record("tea until", true_until=AT + DAY))
    await store(memories, record("tea proof", evidence=Evidence("c", AT, 1, "", AT + DAY)))
    assert set(await texts(memories, text=text, at=AT)) == {"tea until", "tea proof"}
    assert await texts(memories, text=text, at=AT + DAY) == ["tea from"]
    assert len(await texts(memories, text=text)) == 3


@pytest.mark.parametrize("text", ["", "tea"])
async def test_expired_memories_are_excluded_before_they_are_deleted(
    memories: MemoryStore, clock: FakeClock, text: str
) -> None:
    kept = record("tea", expires_at=AT + DAY)
    await store(memories, kept)
    assert await texts(memories, text=text) == ["tea"]
    await clock.advance(DAY.total_seconds())
    assert await texts(memories, text=text) == []
    assert await memories.get(access(), kept.id) is None


@pytest.mark.parametrize("limit", [0, -1, 1_001])
async def test_the_number_of_memories_is_limited(memories: MemoryStore, limit: int) -> None:
    with pytest.raises(BadInput, match="limit must be 1 to 1,000"):
        await memories.find(access(), Filter(limit=limit))


async def test_memories_shown_in_a_session_are_checked_again(
    memories: MemoryStore, clock: FakeClock
) -> None:
    """Check that a shown memory still exists, is still valid and is still visible."""
    gone, old, stays = record("gone"), record("old"), record("stays")
    over = record("over", true_until=AT + DAY)
    expired = record("expired", expires_at=AT + DAY)
    theirs = record("theirs", "test:main:bob")
    for one in (gone, old, stays, over, expired, theirs):
        await store(memories, one)
    answers = [one.id for one in (gone, old, stays, over, expired, theirs)]
    assert await memories.visible(access(), answers) == set(answers) - {theirs.id}

    await memories.delete(access(), [gone.id])
    await store(memories, record("new", supersedes=old.id))
    assert await memories.visible(access(), answers) == {stays.id, over.id, expired.id}
    await clock.advance(2 * DAY.total_seconds())
    assert await memories.visible(access(), answers) == {stays.id}


async def test_the_oldest_memory_with_common_words_is_found_and_the_newest(
    memories: MemoryStore,
) -> None:
    """Each word is in more memories than are read."""
    await store(memories, record("my phone number is 12"))
    for number in range(400):
        text = f"the phone of the office rang on day {number}, says the list with each number"
        await store(memories, record(text))
    for text in ("my phone number is 34 now", "the phone number is 56"):
        found = await texts(memories, text=text, own_only=True, similar=True, limit=6)
        assert "my phone number is 12" in found[:2]
        await store(memories, record("your phone number is 78", "test:main:bob"))
    await store(memories, record("my phone number is 90"))
    found = await texts(memories, text="the phone number", own_only=True, similar=True, limit=6)
    assert set(found[:2]) == {"my phone number is 12", "my phone number is 90"}


async def test_similar_memories_are_found_among_many_with_their_words(
    memories: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rare words, two common words together, and one common word lead to a memory."""
    for engine in ("sqlite", "postgres"):
        monkeypatch.setattr(f"memory.stores.{engine}.similar_search.RARE", 3)
    for number in range(230):
        place = ("garden", "cellar", "attic")[number % 3]
        await store(memories, record(f"the {place} has shelf number{number} with tools"))
    await store(memories, record("a lighthouse stands on the hill"))
    await store(memories, record("my bicycle leans in the garden beside the tools"))
    await store(memories, record("the garden of somebody else with tools", "test:main:bob"))

    async def similar(text: str, **filters: Any) -> list[str]:
        return await texts(memories, text=text, own_only=True, similar=True, limit=6, **filters)

    assert await similar("the old lighthouse") == ["a lighthouse stands on the hill"]
    bicycle = await similar("my bicycle leans in the cellar beside the tools")
    assert bicycle[0] == "my bicycle leans in the garden beside the tools"
    both = await similar("tools in the garden")
    assert len(both) == 6
    assert all("garden" in one and "tools" in one for one in both)
    assert len(await similar("attic")) == 6
    assert await similar("zebra") == []
    assert await similar("the old lighthouse", tags=("nowhere",)) == []


async def test_a_search_for_similar_memories_does_bounded_work(
    memories: MemoryStore, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many memories have a word, as many are read."""
    read: list[int] = []
    for name in ("sqlite", "postgres"):
        module = importlib.import_module(f"memory.stores.{name}.similar_search")
        monkeypatch.setattr(module, "MAX_CLOSE", 5)
        monkeypatch.setattr(module, "OLDEST", 2, raising=False)
        monkeypatch.setattr(module, "closest", _counted(module.closest, read))
    for number in range(400):
        await store(memories, record(f"the garden has tree number{number}"))
    await texts(memories, text="a tree in the garden", own_only=True, similar=True)
    await texts(memories, text="number7 garden", own_only=True, similar=True)
    newest = 0 if engine.engine == "sqlite" else 200
    assert 5 <= read[0] <= newest + 5
    assert 1 <= read[1] <= newest + 6


def _counted(closest: Callable[..., Any], read: list[int]) -> Callable[..., Any]:
    def counted(candidates: Iterable[Any], *others: Any) -> Any:
        some = list(candidates)
        read.append(len(some))
        return closest(some, *others)

    return counted
