"""A new memory in both memory stores: stored, a duplicate, a replacement or refused."""

import asyncio
from datetime import timedelta

import pytest

from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.people import Audience
from memory.model.record import (
    Embedding,
    Evidence,
    Kind,
    Provenance,
    Scope,
    SourceType,
    Trust,
)
from memory.ports.memories import Filter, MemoryStore, TextVector
from memory.text.similarity import in_order
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


async def test_every_field_is_stored(memories: MemoryStore) -> None:
    provenance = Provenance(
        *(SourceType.TOOL_OUTPUT, Trust.MEDIUM, ADA, AT + timedelta(microseconds=1)),
        session="s1",
        message_id="m1",
        tool="weather",
        conversation='["t","test"]',
        room="test:main:W1:C1",
        channel="test:main:C1",
        audience=Audience.PUBLIC_ROOM,
        external=True,
    )
    full = replace(
        record("Ünï “quoted” %s {} \\ 'x'; -- 🙂", tags=("a b", 'q"', "ž"), kind=Kind.CORRECTION),
        provenance=provenance,
        evidence=Evidence("claim", AT, 0.75, "ADR-003", AT + DAY),
        project="p",
        role="tool",
        true_from=AT - DAY,
        true_until=AT + DAY,
        expires_at=AT + 2 * DAY,
        confirmed=True,
        derived_from=("m1", "m2"),
        embedding=Embedding("m", (0.5, -1.25, 3.0)),
    )
    assert (await store(memories, full)).stored
    assert await memories.get(access(), full.id) == full
    assert await memories.get(access(BOB), full.id) is None
    matches = (await memories.find(access(), Filter()))[0].record
    assert matches == replace(full, embedding=None)


async def test_the_same_id_again_replaces_nothing(memories: MemoryStore) -> None:
    first = record("likes tea")
    await store(memories, first)
    assert (await store(memories, replace(first, content="likes rum"))).stored
    assert await texts(memories) == ["likes tea"]


async def test_the_same_words_are_stored_once_and_the_existing_memory_is_named(
    memories: MemoryStore,
) -> None:
    first = record("I always drink green tea in the morning")
    await store(memories, first)
    again = await store(memories, record("I ALWAYS drink green tea, in the morning."))
    assert not again.stored
    assert again.duplicate is not None
    assert (again.duplicate.id, again.duplicate.similarity) == (first.id, 1.0)


@pytest.mark.parametrize(
    "other",
    [
        record("I like tea", person=BOB),
        record("I like tea", tenant="u"),
        record("I like tea", project="p"),
        record("I like tea", role="user"),
        record("I like tea and coffee and a long walk"),
        record("I do not like tea"),
    ],
)
async def test_memories_of_others_or_with_other_attributes_are_not_duplicates(
    memories: MemoryStore, other: object
) -> None:
    await store(memories, record("I like tea"))
    assert isinstance(other, type(record()))
    by = access(other.provenance.person, tenant=other.tenant)
    assert (await store(memories, other, by)).stored


async def test_a_different_number_is_never_a_duplicate(
    memories: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        await store(memories, record(f"customer order number {number} was delivered to Hamburg"))
    compared: list[str] = []

    def seen(text: str) -> tuple[str, ...]:
        compared.append(text)
        return in_order(text)

    monkeypatch.setattr("memory.stores.insert.in_order", seen)
    again = record("Customer order number 7 was delivered to Hamburg!")
    assert not (await store(memories, again)).stored
    assert len(compared) == 2


@pytest.mark.parametrize(
    ("old", "new", "stored"),
    [
        ("I prefer tabs over spaces", "I prefer spaces over tabs", True),
        ("Ada owes Bob 50 francs", "Bob owes Ada 50 francs", True),
        ("Ada told Bob that Bob owes Ada", "Ada told Bob that Ada owes Bob", True),
        ("太郎は花子に勝った", "花子は太郎に勝った", True),
        ("I prefer tabs over spaces", "I prefer  tabs, over spaces!", False),
        ("I like green tea", "I like green green tea", False),
    ],
)
async def test_the_same_words_in_another_order_are_another_memory(
    memories: MemoryStore, old: str, new: str, stored: bool
) -> None:
    await store(memories, record(old))
    assert (await store(memories, record(new))).stored is stored


async def test_a_linked_person_s_memory_is_a_duplicate(memories: MemoryStore) -> None:
    await store(memories, record("I like tea", person=BOB))
    assert not (await store(memories, record("I like tea"), access(ADA, BOB))).stored
    assert (await store(memories, record("I like tea"))).stored


async def test_deleted_and_replaced_memories_are_not_duplicates(
    memories: MemoryStore, clock: FakeClock
) -> None:
    first = record("I like tea", expires_at=AT + DAY)
    await store(memories, first)
    await clock.advance(DAY.total_seconds())
    second = record("I like tea")
    assert (await store(memories, second)).stored
    third = record("I like rum", supersedes=second.id)
    assert (await store(memories, third)).stored
    assert (await store(memories, record("I like tea"))).stored


async def test_duplicates_can_be_checked_before_storing(memories: MemoryStore) -> None:
    kept = record("I like tea")
    await store(memories, kept)
    matches = await memories.like(access(), record("I like TEA"), threshold=0.92)
    assert matches is not None
    assert (matches.id, matches.similarity) == (kept.id, 1.0)
    rewording = record("I like TEA", supersedes=kept.id)
    assert await memories.like(access(), rewording, threshold=0.92) is None
    other = record("I like tea", person=BOB)
    assert await memories.like(access(BOB), other, threshold=0.92) is None


async def test_turns_are_stored_unchecked_and_replaced_by_the_same_turn(
    memories: MemoryStore,
) -> None:
    vector = Embedding("m", (1.0,))
    turns = [record("hi", role="user", embedding=vector), record("hello", role="assistant")]
    theirs = record("theirs", person=BOB, role="user")
    await memories.keep_turns(access(BOB), [theirs])
    for _ in range(3):
        await memories.keep_turns(access(), turns)
    await memories.keep_turns(access(), [replace(turns[0], content="hi there")])
    await memories.keep_turns(access(), [replace(theirs, provenance=turns[0].provenance)])
    assert sorted(await texts(memories)) == ["hello", "hi there"]
    assert await texts(memories, text="hi") == ["hi there"]
    assert await texts(memories, access(BOB)) == ["theirs"]
    assert await memories.count(access()) == 0
    for wrong in (record("no role"), record("hi", role="user", person=BOB)):
        with pytest.raises(BadInput):
            await memories.keep_turns(access(), [wrong])


async def test_a_rewording_of_the_superseded_memory_is_stored(memories: MemoryStore) -> None:
    old = record("the meeting is on Monday at noon")
    await store(memories, old)
    new = record("The meeting is on Monday, at noon!", supersedes=old.id)
    assert (await store(memories, new)).stored
    assert await texts(memories) == [new.content]
    assert sorted(await texts(memories, superseded=True)) == sorted([new.content, old.content])
    replaced = await memories.get(access(), old.id)
    assert replaced is not None
    assert (replaced.superseded_by, replaced.superseded_at) == (new.id, AT)


async def test_only_existing_changeable_current_memories_can_be_superseded(
    memories: MemoryStore,
) -> None:
    theirs, project = record("b", person=BOB), record("p", scope=Scope.PROJECT, project="p")
    old = record("old")
    await store(memories, theirs)
    await store(memories, project, operator(project="p"))
    await store(memories, old)
    await store(memories, record("new", supersedes=old.id))
    for target in (theirs.id, project.id, old.id, "mem-none"):
        result = await store(memories, record("x y", supersedes=target), access(project="p"))
        assert (result.stored, result.missing) == (False, target)


async def test_a_plan_limits_current_memories_and_a_replacement_always_fits(
    memories: MemoryStore, clock: FakeClock
) -> None:
    first = record("one")
    for kept in (first, record("two"), record("three", expires_at=AT + DAY)):
        assert (await store(memories, kept, quota=3)).stored
    assert (await store(memories, record("four"), quota=3)).quota == (3, 3)
    assert (await store(memories, record("said", role="user"), quota=3)).stored
    assert (await store(memories, record("five", supersedes=first.id), quota=3)).stored
    assert await memories.count(access()) == 3
    assert (await store(memories, record("six", person=BOB), quota=3)).stored
    assert await memories.count(access(ADA, BOB)) == 4
    await clock.advance(DAY.total_seconds())
    assert await memories.count(access()) == 2


@pytest.mark.parametrize(
    ("kept", "by"),
    [
        (record(person=BOB), access()),
        (record(tenant="u"), access()),
        (record(scope=Scope.GLOBAL), access()),
        (record(scope=Scope.PROJECT, project="p"), access(project="p")),
        (record(scope=Scope.PROJECT, project="p"), operator(project="q")),
    ],
)
async def test_memories_of_other_people_cannot_be_written(
    memories: MemoryStore, kept: object, by: object
) -> None:
    with pytest.raises(BadInput, match="cannot be written from here"):
        await memories.insert(by, kept, threshold=0.92, quota=None)  # type: ignore[arg-type]


async def unembedded(memories: MemoryStore, model: str) -> list[tuple[str, str]]:
    return [(one.id, one.text) for one in await memories.unembedded(model, 10)]


async def test_vectors_are_stored_for_existing_memories_only(memories: MemoryStore) -> None:
    one, two = record("one"), record("two")
    await store(memories, one)
    await store(memories, two)
    assert await unembedded(memories, "m") == [(two.id, "two"), (one.id, "one")]
    newest = (await memories.unembedded("m", 1))[0]
    older = await memories.unembedded("m", 10, before=newest.number)
    assert [one.text for one in older] == ["one"]
    newer = await memories.unembedded("m", 10, after=older[0].number)
    assert [one.text for one in newer] == ["two"]
    vector = Embedding("m", (1.0, 2.0))
    assert (
        await memories.embed(
            [TextVector(one.id, "one", vector), TextVector("mem-none", "none", vector)]
        )
        == 1
    )
    assert await memories.embedded("m") == (1, 2)
    assert await unembedded(memories, "m") == [(two.id, "two")]
    assert len(await unembedded(memories, "other")) == 2
    kept = await memories.get(access(), one.id)
    assert kept is not None
    assert kept.embedding == vector
    assert (
        await memories.embed([TextVector(one.id, "one", Embedding("other", (1.0, 2.0, 3.0)))]) == 1
    )
    assert await unembedded(memories, "other") == [(two.id, "two")]
    assert await memories.dimensions("other") == {3: 1}
    assert await memories.dimensions("m") == {}
    assert len(await memories.unembedded("other", 10, dimension=3)) == 1
    assert len(await memories.unembedded("other", 10, dimension=4)) == 2


async def test_the_vector_of_a_text_edited_meanwhile_is_not_stored(
    memories: MemoryStore,
) -> None:
    memory = replace(record("I play chess", derived_from=("m1",)), role="user")
    await memories.keep_turns(access(), [memory])
    (before,) = await memories.unembedded("m", 1)
    await memories.revise_message("t", CHANNEL, "m1", "I play nothing")
    vector = Embedding("m", (1.0, 2.0))
    assert await memories.embed([TextVector(before.id, before.text, vector)]) == 0
    assert await unembedded(memories, "m") == [(memory.id, "I play nothing")]


async def test_of_concurrent_writers_one_stores_and_the_quota_holds(memories: MemoryStore) -> None:
    for number in range(20):
        tries = [record(f"word{number} tea") for _ in range(8)]
        results = await asyncio.gather(*(store(memories, one) for one in tries))
        assert sum(result.stored for result in results) == 1
    by = access(BOB)
    others = [record(f"number {n}", person=BOB) for n in range(12)]
    results = await asyncio.gather(*(store(memories, one, by, quota=5) for one in others))
    assert sum(result.stored for result in results) == 5


async def test_concurrent_linked_accounts_store_a_memory_once(memories: MemoryStore) -> None:
    for number in range(20):
        tries = [
            store(memories, record(f"word{number} tea", person=one), access(one, *(ADA, BOB)))
            for one in (ADA, BOB) * 4
        ]
        assert sum(result.stored for result in await asyncio.gather(*tries)) == 1


async def test_of_concurrent_writers_one_supersedes_and_the_others_are_told(
    memories: MemoryStore,
) -> None:
    head = record("version 0")
    await store(memories, head)
    for version in range(1, 6):
        tries = [record(f"version {version} of {n}", supersedes=head.id) for n in range(8)]
        results = await asyncio.gather(*(store(memories, each) for each in tries))
        won = [each for each, result in zip(tries, results, strict=True) if result.stored]
        assert len(won) == 1
        assert {result.missing for result in results} == {"", head.id}
        head = won[0]
    assert await texts(memories) == [head.content]
