"""Lists of memories on both engines: learned memories, chat messages, and their numbers."""

from datetime import timedelta

import pytest

from memory.model.record import Kind, Scope, Tier
from memory.model.scope import AccessScope
from memory.ports.memories import Filter, MemoryStore
from tests.memory.stores.records import AT, BOB, access, operator, record, store, texts
from tests.support.clock import FakeClock

ROOM = "test:main:W1:C1"
LEARNED = Filter(turns=False)


async def some(memories: MemoryStore) -> None:
    """Of Ada: two facts and a preference, one of them replaced, one learned in a room; and a turn
    in private and in the room. Of Bob: a fact, and a turn in the room."""
    old = record("prefers spaces", kind=Kind.PREFERENCE)
    new = record("prefers tabs", kind=Kind.PREFERENCE, supersedes=old.id)
    for one in (old, new, record("has a dog"), record("plays chess", room=ROOM)):
        assert (await store(memories, one)).stored
    assert (await store(memories, record("rides a bike", BOB))).stored
    await memories.keep_turns(
        access(),
        [
            record("hello there", role="user", tier=Tier.EPISODIC, kind=Kind.CONTEXT),
            record("in the room", role="user", tier=Tier.EPISODIC, kind=Kind.CONTEXT, room=ROOM),
        ],
    )
    bobs = record("me too", BOB, role="user", tier=Tier.EPISODIC, kind=Kind.CONTEXT, room=ROOM)
    await memories.keep_turns(access(BOB), [bobs])


async def test_memories_and_chat_messages_are_separate_lists(memories: MemoryStore) -> None:
    await some(memories)
    learned = await texts(memories, own_only=True, turns=False)
    assert sorted(learned) == ["has a dog", "plays chess", "prefers tabs"]
    reply = await texts(memories, own_only=True, turns=True)
    assert sorted(reply) == ["hello there", "in the room"]
    assert len(await texts(memories, own_only=True)) == 5
    assert await texts(memories, own_only=True, turns=True, text="room") == ["in the room"]
    assert await texts(memories, own_only=True, turns=False, text="room") == []


@pytest.mark.parametrize(
    "by",
    [
        access(),
        access(BOB),
        access(room=ROOM, private=False),
        access(BOB, room=ROOM, private=False),
        access(room="test:main:W1:C2", private=False),
        access(room=ROOM),
        access(tenant="u"),
        access("test:main:ada", BOB),
    ],
)
@pytest.mark.parametrize("said", [True, False, None])
async def test_the_count_equals_the_number_of_results(
    memories: MemoryStore, by: AccessScope, said: bool | None
) -> None:
    await some(memories)
    filters = Filter(own_only=True, turns=said)
    matches = await memories.find(by, filters)
    kinds = [match.record.kind for match in matches]
    assert await memories.tally(by, filters) == {kind: kinds.count(kind) for kind in set(kinds)}


async def test_only_existing_own_memories_are_counted(
    memories: MemoryStore, clock: FakeClock
) -> None:
    soon = clock.now() + timedelta(minutes=1)
    await store(memories, record("soon gone", expires_at=soon, tier=Tier.EPISODIC))
    shared = record("of all", scope=Scope.GLOBAL)
    await store(memories, shared, operator())
    assert await memories.tally(operator(), LEARNED) == {}
    assert await memories.tally(access(), LEARNED) == {Kind.FACT: 1}
    await clock.advance(61)
    assert await memories.tally(access(), LEARNED) == {}
    await store(memories, record("likes figs", kind=Kind.PREFERENCE, at=AT))
    assert await memories.tally(access(), Filter(turns=False, kinds=(Kind.FACT,))) == {}
