"""The import of a chain of memories: the replaced one first, then its replacement."""

from gateway.immutable import replace
from memory.ports.memories import Filter, MemoryStore
from tests.memory.stores.records import AT, access, record, store, texts


async def test_a_chain_of_replacements_is_imported_unchanged(memories: MemoryStore) -> None:
    newer = record("Works at Initrode now")
    older = record("Works at Initech", superseded_by=newer.id, superseded_at=AT)
    newer = replace(newer, supersedes=older.id)
    assert (await store(memories, older)).stored
    assert (await store(memories, newer)).stored
    assert await texts(memories) == ["Works at Initrode now"]
    result = await memories.get(access(), older.id)
    assert result is not None
    assert result.superseded_by == newer.id
    assert await memories.count(access()) == 1


async def test_imported_replaced_memories_use_no_plan_and_are_no_duplicates(
    memories: MemoryStore,
) -> None:
    newer = record("Works at Initech")
    assert (await store(memories, newer, quota=1)).stored
    older = record("Works at Initech", superseded_by=newer.id, superseded_at=AT)
    assert (await store(memories, older, quota=1)).stored
    assert (await store(memories, record("Has a dog"), quota=1)).quota == (1, 1)


async def test_superseding_a_replaced_memory_frees_no_place_in_the_plan(
    memories: MemoryStore,
) -> None:
    newer = record("Works at Initrode now")
    older = record("Works at Initech", superseded_by=newer.id, superseded_at=AT)
    await store(memories, older)
    await store(memories, record("Has a dog"), quota=1)
    refused = await store(memories, replace(newer, supersedes=older.id), quota=1)
    assert (refused.stored, refused.quota) == (False, (1, 1))


async def test_a_memory_replaced_by_another_cannot_be_replaced_again(memories: MemoryStore) -> None:
    older = record("Works at Initech", superseded_by=record().id, superseded_at=AT)
    await store(memories, older)
    refused = await store(memories, record("Works nowhere", supersedes=older.id))
    assert (refused.stored, refused.missing) == (False, older.id)
    assert len(await memories.find(access(), Filter(superseded=True))) == 1
