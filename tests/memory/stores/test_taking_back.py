"""Undoing stored memories: the contract on both engines."""

from memory.model.record import Record
from memory.ports.memories import Filter, MemoryStore
from tests.memory.stores.records import ADA, BOB, access, record, store


async def keep(memories: MemoryStore, content: str, supersedes: str = "") -> Record:
    kept = record(content, supersedes=supersedes)
    assert (await store(memories, kept)).stored
    return kept


async def current(memories: MemoryStore, person: str = ADA) -> list[str]:
    matches = await memories.find(access(person), Filter(own_only=True))
    return sorted(match.record.content for match in matches)


async def test_undo_makes_the_superseded_memory_current(memories: MemoryStore) -> None:
    old = await keep(memories, "I prefer tabs over spaces")
    new = await keep(memories, "spaces from now on", old.id)
    await keep(memories, "something else entirely")
    assert await memories.take_back(access(ADA), [new.id]) == [new.id]
    assert await current(memories) == ["I prefer tabs over spaces", "something else entirely"]
    restored = await memories.get(access(ADA), old.id)
    assert restored is not None
    assert (restored.superseded_by, restored.superseded_at) == ("", None)
    assert await memories.take_back(access(ADA), [new.id]) == []


async def test_undo_in_the_middle_of_a_chain_joins_its_ends(memories: MemoryStore) -> None:
    first = await keep(memories, "the first of them")
    second = await keep(memories, "number two", first.id)
    third = await keep(memories, "a third follows", second.id)
    assert await memories.take_back(access(ADA), [second.id]) == [second.id]
    assert await current(memories) == ["a third follows"]
    assert await memories.take_back(access(ADA), [third.id]) == [third.id]
    assert await current(memories) == ["the first of them"]


async def test_several_memories_are_undone_in_any_order(memories: MemoryStore) -> None:
    first = await keep(memories, "the first of them")
    second = await keep(memories, "number two", first.id)
    third = await keep(memories, "a third follows", second.id)
    gone = await memories.take_back(access(ADA), [second.id, third.id])
    assert gone == [second.id, third.id]
    assert await current(memories) == ["the first of them"]


async def test_memories_of_other_people_cannot_be_undone(memories: MemoryStore) -> None:
    old = await keep(memories, "I prefer tabs over spaces")
    new = await keep(memories, "spaces from now on", old.id)
    assert await memories.take_back(access(BOB), [new.id, old.id]) == []
    assert await current(memories) == ["spaces from now on"]
