"""Pairs of memories that may contradict each other: the contract on both engines."""

from datetime import timedelta
from typing import Any

import pytest

from gateway.immutable import replace
from memory.model.record import Record, Scope, Tier
from memory.model.scope import AccessScope
from memory.ports.memories import Filter, MemoryStore
from memory.ports.people import PersonalDataStore
from memory.stores.conflicts import ConflictStore, Kept, Pair, contradicting
from memory.stores.personal_data import SqlMemoryPersonalData
from tests.memory.stores.records import ADA, AT, BOB, access, record, store
from tests.support.databases import Engine

EVE = "other:main:eve"
ROOM = "discord:main:guild:general"


@pytest.fixture
def personal(engine: Engine) -> PersonalDataStore:
    return SqlMemoryPersonalData(engine)


async def keep(memories: MemoryStore, content: str, person: str = ADA, **rest: Any) -> Record:
    kept = record(content, person, **rest)
    by = replace(access(person, project=kept.project), operates=True)
    assert (await store(memories, kept, by)).stored
    return kept


async def pair_of(
    memories: MemoryStore, conflicts: ConflictStore, older: str = "Basel", newer: str = "Bern"
) -> Pair:
    one, other = await keep(memories, f"lives in {older}"), await keep(memories, f"home is {newer}")
    await conflicts.add(access(), other.id, [one.id], AT)
    return Pair(one.id, other.id)


async def current(memories: MemoryStore, by: AccessScope | None = None) -> set[str]:
    return {match.record.id for match in await memories.find(by or access(), Filter(own_only=True))}


async def test_a_pair_is_open_for_its_person_alone(
    memories: MemoryStore, conflicts: ConflictStore
) -> None:
    pair = await pair_of(memories, conflicts)
    await conflicts.add(access(), pair.newer, [pair.older], AT)
    await conflicts.add(access(), pair.older, [pair.newer], AT)
    assert await conflicts.open(access(), AT) == [pair]
    assert contradicting([pair]) == {pair.older: (pair.newer,), pair.newer: (pair.older,)}
    assert await conflicts.open(access(BOB), AT) == []
    assert await conflicts.open(access(tenant="u"), AT) == []
    assert await conflicts.open(access(EVE, ADA), AT) == [pair]


@pytest.mark.parametrize(
    "other",
    [
        {"person": BOB},
        {"scope": Scope.PROJECT, "project": "p"},
        {"scope": Scope.GLOBAL},
        {"tier": Tier.EPISODIC},
        {"role": "user"},
    ],
)
async def test_no_pair_crosses_a_person_a_scope_or_a_tier(
    memories: MemoryStore, conflicts: ConflictStore, other: dict[str, Any]
) -> None:
    mine = await keep(memories, "lives in Basel")
    if other.get("role"):
        theirs = record("home is Bern", **other)
        await memories.keep_turns(access(), [theirs])
    else:
        theirs = await keep(memories, "home is Bern", **other)
    by = replace(access(project="p"), operates=True)
    await conflicts.add(by, theirs.id, [mine.id], AT)
    await conflicts.add(by, mine.id, [theirs.id], AT)
    await conflicts.add(access(BOB), theirs.id, [mine.id], AT)
    await conflicts.add(by, "mem-none", [mine.id], AT)
    await conflicts.add(by, mine.id, [mine.id], AT)
    assert await conflicts.open(replace(access(ADA, BOB, project="p"), operates=True), AT) == []


async def test_a_pair_is_not_shown_where_one_of_the_two_is_not(
    memories: MemoryStore, conflicts: ConflictStore
) -> None:
    here, away = await keep(memories, "home is Bern", room=ROOM), await keep(memories, "in Basel")
    kept = await keep(memories, "no, Biel", agent_private=True)
    hidden = await keep(memories, "or Thun", from_repository=True)
    for newer in (here, kept, hidden):
        await conflicts.add(access(), newer.id, [away.id], AT)
    in_room = access(room=ROOM, private=False)
    assert await conflicts.open(in_room, AT) == []
    assert not await conflicts.settle(in_room, Pair(away.id, here.id), "newer", AT)
    shown = await conflicts.open(access(agent="another"), AT)
    assert Pair(away.id, kept.id) not in shown
    assert len(shown) == 2
    assert len(await conflicts.open(access(), AT)) == 3


async def test_a_pair_with_an_expired_memory_is_not_open(
    memories: MemoryStore, conflicts: ConflictStore
) -> None:
    soon = AT + timedelta(hours=1)
    one, other = await keep(memories, "in Basel", expires_at=soon), await keep(memories, "in Bern")
    await conflicts.add(access(), other.id, [one.id], AT)
    assert len(await conflicts.open(access(), AT)) == 1
    assert await conflicts.open(access(), soon) == []
    assert await conflicts.next_question(access(), soon) is None
    assert not await conflicts.settle(access(), Pair(one.id, other.id), "both", soon)


@pytest.mark.parametrize("kept", ["older", "newer", "both"])
async def test_an_answer_supersedes_what_is_not_true_and_closes_the_pair(
    memories: MemoryStore, conflicts: ConflictStore, kept: Kept
) -> None:
    pair = await pair_of(memories, conflicts)
    assert not await conflicts.settle(access(BOB), pair, kept, AT)
    assert not await conflicts.settle(access(), Pair(pair.newer, pair.older), kept, AT)
    assert len(await conflicts.open(access(), AT)) == 1
    assert await conflicts.settle(access(), pair, kept, AT)
    both = {pair.older, pair.newer}
    assert await current(memories) == (both if kept == "both" else {getattr(pair, kept)})
    assert not await conflicts.settle(access(), pair, "older", AT)
    await conflicts.add(access(), pair.newer, [pair.older], AT)
    assert await conflicts.open(access(), AT) == []
    for name in both - await current(memories):
        left = await memories.get(access(), name)
        assert left is not None
        assert (left.superseded_by, left.superseded_at) == (getattr(pair, kept), AT)


async def test_one_question_a_day_and_the_same_one_after_a_week(
    memories: MemoryStore, conflicts: ConflictStore
) -> None:
    first = await pair_of(memories, conflicts)
    one, other = await keep(memories, "drinks tea"), await keep(memories, "prefers coffee")
    await conflicts.add(access(), other.id, [one.id], AT + timedelta(seconds=1))
    second, day = Pair(one.id, other.id), timedelta(days=1)
    asked = []
    for hours in range(0, 24 * 9, 12):
        now = AT + timedelta(hours=hours)
        pair = await conflicts.next_question(access(), now)
        if pair is not None:
            await conflicts.asked(access(), pair, now)
            asked.append((pair, now - AT))
    week = timedelta(days=7)
    assert asked == [(first, 0 * day), (second, day), (first, week), (second, week + day)]
    assert await conflicts.next_question(access(BOB), AT) is None


async def test_a_question_that_others_cannot_mark_as_asked(
    memories: MemoryStore, conflicts: ConflictStore
) -> None:
    pair = await pair_of(memories, conflicts)
    await conflicts.asked(access(BOB), pair, AT)
    assert await conflicts.next_question(access(), AT) == pair


async def test_a_pair_leaves_with_either_memory(
    engine: Engine, memories: MemoryStore, conflicts: ConflictStore, personal: PersonalDataStore
) -> None:
    for which in ("older", "newer"):
        pair = await pair_of(memories, conflicts, f"Basel {which}", f"Bern {which}")
        await memories.delete(access(), [getattr(pair, which)])
        rows = await personal.export("t", (ADA,))
        assert not [row for row in rows if row["table"] == "memory_conflicts"]
    await pair_of(memories, conflicts)
    pair = await pair_of(memories, conflicts, "Thun", "Biel")
    assert await conflicts.settle(access(), pair, "newer", AT)
    assert dict(await personal.count("t", (ADA,)))["memory_conflicts"] == 2
    assert await memories.prune(AT, AT + timedelta(seconds=1)) == [pair.older]
    assert dict(await personal.count("t", (ADA,)))["memory_conflicts"] == 1
    await personal.erase("t", (ADA,))
    assert await personal.export("t", (ADA,)) == []


async def test_an_erased_account_leaves_no_pair_with_a_linked_one(
    memories: MemoryStore, conflicts: ConflictStore, personal: PersonalDataStore
) -> None:
    one, other = await keep(memories, "in Basel"), await keep(memories, "in Bern", EVE)
    await conflicts.add(access(ADA, EVE), other.id, [one.id], AT)
    assert len(await conflicts.open(access(ADA, EVE), AT)) == 1
    assert await conflicts.open(access(ADA), AT) == []
    await personal.erase("t", (EVE,))
    assert "memory_conflicts" not in dict(await personal.count("t", (ADA,)))


async def test_a_restored_memory_stands_beside_the_latest_successor(
    memories: MemoryStore, conflicts: ConflictStore
) -> None:
    first = await keep(memories, "the first of them")
    second = await keep(memories, "number two", supersedes=first.id)
    third = await keep(memories, "a third follows", supersedes=second.id)
    assert await memories.restore(access(BOB), first.id) is None
    assert await memories.restore(access(), third.id) is None
    assert await memories.restore(access(), "mem-none") is None
    assert await memories.restore(access(), first.id) == third.id
    assert await current(memories) == {first.id, third.id}
    restored, middle = (
        await memories.get(access(), first.id),
        await memories.get(access(), second.id),
    )
    assert restored is not None
    assert (restored.superseded_by, restored.superseded_at) == ("", None)
    assert middle is not None
    assert middle.supersedes == ""
    assert await memories.restore(access(), first.id) is None
    assert await memories.take_back(access(), [third.id]) == [third.id]
    assert await current(memories) == {first.id, second.id}


async def test_a_memory_is_restored_after_its_successor_was_erased(memories: MemoryStore) -> None:
    old = await keep(memories, "lives in Basel")
    new = await keep(memories, "home is Bern", supersedes=old.id)
    await memories.delete(access(), [new.id])
    assert await current(memories) == set()
    assert await memories.restore(access(), old.id) == ""
    assert await current(memories) == {old.id}


async def test_an_expired_memory_is_not_restored(memories: MemoryStore) -> None:
    old = await keep(memories, "lives in Basel", expires_at=AT - timedelta(hours=1))
    await keep(memories, "home is Bern")
    assert await memories.restore(access(), old.id) is None


@pytest.mark.parametrize("kept", ["older", "newer", "both"])
async def test_a_restored_pair_is_open_again(
    memories: MemoryStore, conflicts: ConflictStore, kept: Kept
) -> None:
    pair = await pair_of(memories, conflicts)
    await conflicts.settle(access(), pair, kept, AT)
    for name in (pair.older, pair.newer):
        await memories.restore(access(), name)
    await conflicts.reopen(access(BOB), pair, AT)
    assert await conflicts.open(access(), AT) == []
    await conflicts.reopen(access(), Pair(pair.newer, pair.older), AT)
    assert await conflicts.open(access(), AT) == [pair]


async def test_a_restored_pair_that_was_never_noted_is_open(
    memories: MemoryStore, conflicts: ConflictStore
) -> None:
    one, other = await keep(memories, "lives in Basel"), await keep(memories, "home is Bern")
    await conflicts.reopen(access(), Pair(one.id, other.id), AT)
    assert await conflicts.open(access(), AT) == [Pair(one.id, other.id)]
