"""Deletions in both memory stores, with their dependent rows."""

from datetime import timedelta

from gateway.immutable import replace
from memory.model.record import (
    Embedding,
    Scope,
    Tier,
)
from memory.ports.memories import MemoryStore
from tests.memory.stores.records import (
    ADA,
    AT,
    BOB,
    CHANNEL,
    access,
    operator,
    record,
    store,
    texts,
)
from tests.support.clock import FakeClock

DAY = timedelta(days=1)


async def test_only_changeable_memories_are_deleted(memories: MemoryStore) -> None:
    mine, theirs = record("mine"), record("theirs", person=BOB)
    shared = record("shared", scope=Scope.PROJECT, project="p")
    await store(memories, mine)
    await store(memories, theirs)
    await store(memories, shared, operator(project="p"))
    ids = [mine.id, theirs.id, shared.id, "mem-none"]
    assert await memories.delete(access(project="p"), ids) == [mine.id]
    assert await memories.delete(operator(project="q"), ids) == []
    assert await memories.delete(operator(project="p"), ids) == [shared.id]
    assert await texts(memories, access(BOB)) == ["theirs"]


async def test_clear_deletes_the_given_tiers_of_one_person(memories: MemoryStore) -> None:
    await store(memories, record("one"))
    await store(memories, record("two", tier=Tier.EPISODIC))
    await store(memories, record("three", person=BOB, tier=Tier.EPISODIC))
    assert await memories.clear(access(), (Tier.EPISODIC, Tier.WORKING)) == 1
    assert await texts(memories) == ["one"]
    assert await texts(memories, access(BOB)) == ["three"]


async def test_a_deleted_message_deletes_unconfirmed_memories_derived_from_it(
    memories: MemoryStore,
) -> None:
    await store(memories, record("said", role="user", message_id="m1"))
    await store(memories, record("answered", role="assistant", derived_from=("m1",)))
    await store(memories, record("learned", derived_from=("m0", "m1")))
    await store(memories, record("confirmed", derived_from=("m1",), confirmed=True))
    await store(memories, record("other", message_id="m2"))
    for wrong in (("u", CHANNEL, "m1"), ("t", ("test", "main", "C2"), "m1"), ("t", CHANNEL, "m9")):
        assert not await memories.knows_message(wrong[0], wrong[1], [wrong[2]])
        assert await memories.forget_message(wrong[0], wrong[1], [wrong[2]]) == []
    assert await memories.knows_message("t", CHANNEL, ["m9", "m1"])
    gone = await memories.forget_message("t", CHANNEL, ["m1"])
    assert [(one.person, one.id[:4]) for one in gone] == [(ADA, "mem-")] * 3
    assert set(await texts(memories)) == {"confirmed", "other"}


async def test_an_edited_message_is_found_by_its_new_words(memories: MemoryStore) -> None:
    turn = record("I like tea", role="user", message_id="m1", tags=("drinks",))
    turn = replace(turn, embedding=Embedding("m", (1.0,)))
    await store(memories, turn)
    await store(memories, record("likes tea", derived_from=("m1",)))
    await store(memories, record("answered", role="assistant", derived_from=("m1",)))
    touched = await memories.revise_message("t", CHANNEL, "m1", "I like rum")
    assert [one.person for one in touched] == [ADA] * 3
    assert turn.id in {one.id for one in touched}
    assert await texts(memories) == ["I like rum"]
    assert await texts(memories, text="tea") == []
    assert await texts(memories, text="rum drinks") == ["I like rum"]
    kept = await memories.get(access(), turn.id)
    assert kept is not None
    assert kept.embedding is None


async def test_pruning_deletes_expired_and_long_replaced_memories(
    memories: MemoryStore, clock: FakeClock
) -> None:
    old, gone = record("old"), record("gone", expires_at=AT + DAY)
    await store(memories, old)
    await store(memories, gone)
    await store(memories, record("new", supersedes=old.id))
    assert await memories.prune(AT, AT - DAY) == []
    assert await memories.prune(AT + DAY, AT - DAY) == [gone.id]
    assert await memories.prune(AT + DAY, AT) == [old.id]
    assert await memories.prune(AT + DAY, AT) == []
    assert await texts(memories, superseded=True) == ["new"]
