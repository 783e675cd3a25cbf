"""The matches of both searches of recall, and their omissions, in both stores."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from gateway.immutable import replace
from memory.model.record import Embedding, Kind, Record, Scope, Tier
from memory.model.scope import AccessScope
from memory.ports.memories import Filter, MemoryStore, TextVector
from memory.stores.search import RecallStore
from tests.memory.stores.records import ADA, AT, BOB, access, operator, record, store
from tests.support.clock import FakeClock

DAY = timedelta(days=1)
ANY = Filter()
ROOM, OTHER_ROOM = "test:main:W1:C1", "test:main:W1:C2"


def vector(*values: float, model: str = "m") -> Embedding:
    return Embedding(model, values)


async def by_words(
    recall: RecallStore, query: str, by: AccessScope | None = None, wanted: Filter = ANY
) -> list[str]:
    return [hit.id for hit in await recall.lexical(by or access(), query, wanted, 50)]


async def by_meaning(
    recall: RecallStore, query: Embedding, by: AccessScope | None = None, wanted: Filter = ANY
) -> list[str]:
    return [hit.id for hit in await recall.nearest(by or access(), query, wanted, 50)]


async def kept(memories: MemoryStore, *some: Record, by: AccessScope | None = None) -> None:
    for one in some:
        assert (await store(memories, one, by)).stored


# --- by words -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("the server runs version v1.2.3 of the proxy", "v1.2.3"),
        (
            "fixed in 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        ),
        ("the error was ERR_CONN-42 again", "err_conn-42"),
        ("order ABC-1234/7 was shipped", "ABC-1234/7"),
        ("she writes C++ all day", "C++"),
        ("mail ada@example.com about it", "ada@example.com"),
        ("см. документацию о запусках", "запуск"),
        ("私は東京に住んでいます", "東京"),
        ("私は東京に住んでいます", "京"),
        ("他喜欢吃火锅", "火锅"),
        ("서울에서 만나요", "서울"),
        ("ฉันชอบกาแฟเย็น", "กาแฟ"),
        ("मुझे चाय पसंद है", "चाय"),
        ("أحب الْقَهْوَة", "القهوة"),
        ("the ﬁrst ＡＢＣ", "first abc"),
    ],
)
async def test_a_memory_is_found_by_its_exact_words(
    memories: MemoryStore, recall: RecallStore, text: str, query: str
) -> None:
    there = record(text)
    await kept(memories, there, record("likes v2.3.1 tea 大阪 부산 and кофе กา चा C ERR"))
    assert (await by_words(recall, query))[0] == there.id


async def test_rare_frequent_words_in_a_short_text_score_highest(
    memories: MemoryStore, recall: RecallStore
) -> None:
    often = record("kayak kayak trip")
    once = record("kayak trip along the long river with all of the others and much luggage")
    common = record("trip to town")
    await kept(memories, common, once, often, record("trip by train"), record("quiet evening"))
    result = await recall.lexical(access(), "what about the kayak trip?", ANY, 50)
    assert [hit.id for hit in result][:2] == [often.id, once.id]
    assert len(result) == 4
    assert all(one.score >= other.score > 0 for one, other in pairwise(result))
    assert [hit.id for hit in await recall.lexical(access(), "kayak trip", ANY, 1)] == [often.id]


async def test_memories_of_other_people_do_not_change_scores(
    memories: MemoryStore, recall: RecallStore
) -> None:
    await kept(memories, record("the kayak is blue"), record("the boat is red"))
    before = await recall.lexical(access(), "blue kayak or red boat", ANY, 50)
    theirs = [record(f"blue kayak number {number}", person=BOB) for number in range(30)]
    await kept(memories, *theirs, record("blue", person=BOB, room=ROOM, role="user"))
    assert await recall.lexical(access(), "blue kayak or red boat", ANY, 50) == before


async def test_a_question_of_common_words_only_finds_them(
    memories: MemoryStore, recall: RecallStore
) -> None:
    there = record("to be or not to be")
    await kept(memories, there, record("tea"))
    assert await by_words(recall, "To be, or not to be?") == [there.id]
    assert await by_words(recall, "?!") == []
    assert await by_words(recall, "") == []


@pytest.mark.parametrize(
    ("typed", "found"),
    [("kub", True), ("kubernet", True), ("kubernetes clu", True), ("clusters kube", True),
     ("runnin", True), ("v1.3", True), ("kubernetes x", False), ("kube dog", False)],
)  # fmt: skip
async def test_an_unfinished_word_finds_its_completions(
    memories: MemoryStore, recall: RecallStore, typed: str, found: bool
) -> None:
    there = record("running kubernetes v1.31 on three clusters")
    await kept(memories, there, record("a dog in the park"))
    hits = await recall.lexical(access(), typed, Filter(unfinished=True), 10)
    assert [hit.id for hit in hits] == ([there.id] if found else [])


@pytest.mark.parametrize(
    "typed",
    ["ERR-4", "err-42.", "ledger_77", "ERR_LEDGER_7", "read-ah", "v1.3", "v1.", "wiki.ex",
     "C+", "the ERR-", "build-c"],
)  # fmt: skip
async def test_an_unfinished_identifier_is_found_from_any_of_its_parts(
    memories: MemoryStore, recall: RecallStore, typed: str
) -> None:
    there = record(
        "the ERR-42 of ERR_LEDGER_7731 in C++, LEDGER_READ_AHEAD in v1.31, see wiki.example.org"
        " and build-cache"
    )
    await kept(memories, there, record("a dog in the park, number 7, v2.31"))
    hits = await recall.lexical(access(), typed, Filter(unfinished=True), 10)
    assert [hit.id for hit in hits] == [there.id]


# --- by meaning -----------------------------------------------------------------------------------


async def test_the_nearest_vectors_come_first_with_their_cosine(
    memories: MemoryStore, recall: RecallStore
) -> None:
    near = record("near", embedding=vector(2.0, 0.2))
    far, other = record("far", embedding=vector(0.0, 1.0)), record("none of this model")
    await kept(memories, far, near, other, record("no", embedding=vector(1.0, 0.0, model="n")))
    result = await recall.nearest(access(), vector(3.0, 0.0), ANY, 10)
    assert [hit.id for hit in result] == [near.id, far.id]
    assert result[0].score == pytest.approx(0.995, abs=1e-3)
    assert result[1].score == pytest.approx(0, abs=1e-6)
    assert [hit.id for hit in await recall.nearest(access(), vector(0.0, 1.0), ANY, 1)] == [far.id]


async def test_vectors_of_another_model_or_length_are_not_compared(
    memories: MemoryStore, recall: RecallStore
) -> None:
    one = record("one", embedding=vector(1.0, 0.0))
    await kept(memories, one, record("two", embedding=vector(1.0, 0.0, 0.0)))
    assert await by_meaning(recall, vector(1.0, 0.0)) == [one.id]
    assert await by_meaning(recall, vector(1.0, 0.0, model="n")) == []
    assert await memories.embed([TextVector(one.id, one.content, vector(0.0, 1.0, model="n"))]) == 1
    assert await by_meaning(recall, vector(1.0, 0.0)) == []
    assert await by_meaning(recall, vector(1.0, 0.0, model="n")) == [one.id]


async def test_a_new_or_changed_vector_counts_immediately(
    memories: MemoryStore, recall: RecallStore
) -> None:
    one, two = record("one", embedding=vector(1.0, 0.0)), record("two")
    await kept(memories, one, two)
    assert await by_meaning(recall, vector(1.0, 0.0)) == [one.id]
    await memories.embed(
        [
            TextVector(two.id, two.content, vector(1.0, 0.1)),
            TextVector(one.id, one.content, vector(0.0, 1.0)),
        ]
    )
    assert await by_meaning(recall, vector(1.0, 0.0)) == [two.id, one.id]


async def test_many_memories_are_found_and_each_once(
    memories: MemoryStore, recall: RecallStore
) -> None:
    some = [
        record(f"number {number}", room=ROOM, embedding=vector(1.0, number / 700))
        for number in range(700)
    ]
    await kept(memories, *some, record("other", person=BOB, embedding=vector(1.0, 0.0)))
    here = access(room=ROOM)
    result = await recall.nearest(here, vector(1.0, 0.0), ANY, 650)
    assert [hit.id for hit in result] == [one.id for one in some[:650]]
    late = Filter(kinds=(Kind.DECISION,))
    assert await recall.nearest(here, vector(1.0, 0.0), late, 5) == []


# --- both -----------------------------------------------------------------------------------------


def seen(query: str = "tea") -> list[tuple[str, Embedding]]:
    return [(query, vector(1.0, 0.0))]


async def both(
    recall: RecallStore, by: AccessScope | None = None, wanted: Filter = ANY
) -> set[str]:
    """Return the matches of the searches, which must agree."""
    words = set(await by_words(recall, "tea", by, wanted))
    assert words == set(await by_meaning(recall, vector(1.0, 0.0), by, wanted))
    return words


def tea(text: str = "tea", **rest: Any) -> Record:
    return record(f"tea {text}", embedding=vector(1.0, 0.0), **rest)


async def test_every_filter_is_in_the_query(memories: MemoryStore, recall: RecallStore) -> None:
    tagged = tea("one", tags=("a", "b"), kind=Kind.PREFERENCE)
    episodic = tea("two", tags=("b",), tier=Tier.EPISODIC, at=AT - DAY)
    everybody = tea("three", scope=Scope.GLOBAL)
    later = tea("four", true_from=AT + DAY)
    await kept(memories, tagged, episodic, later)
    await kept(memories, everybody, by=operator())
    every = {one.id for one in (tagged, episodic, everybody, later)}
    assert await both(recall) == every
    assert await both(recall, wanted=Filter(tags=("b", "a"))) == {tagged.id}
    assert await both(recall, wanted=Filter(kinds=(Kind.PREFERENCE,))) == {tagged.id}
    assert await both(recall, wanted=Filter(tiers=(Tier.EPISODIC,))) == {episodic.id}
    assert await both(recall, wanted=Filter(own_only=True)) == every - {everybody.id}
    assert await both(recall, wanted=Filter(scopes=(Scope.GLOBAL,))) == {everybody.id}
    assert await both(recall, wanted=Filter(at=AT)) == every - {later.id}
    assert await both(recall, wanted=Filter(since=AT)) == every - {episodic.id}
    assert await both(recall, wanted=Filter(until=AT)) == {episodic.id}
    only = Filter(tags=("a",))
    for _ in range(60):
        await kept(memories, tea(f"other {_} {'x' * _}"))
    assert [hit.id for hit in await recall.lexical(access(), "tea", only, 1)] == [tagged.id]
    assert [hit.id for hit in await recall.nearest(access(), vector(1.0, 0.0), only, 1)] == [
        tagged.id
    ]


async def test_only_visible_memories_are_found(memories: MemoryStore, recall: RecallStore) -> None:
    private, heard = tea("private"), tea("heard", room=ROOM)
    turn = tea("turn", person=BOB, room=ROOM, role="user")
    theirs = tea("theirs", person=BOB, room=ROOM)
    elsewhere = tea("elsewhere", person=BOB, room=OTHER_ROOM, role="user")
    project = tea("project", scope=Scope.PROJECT, project="p")
    await kept(memories, private, heard, turn, theirs, elsewhere)
    await kept(memories, project, by=operator(project="p"))
    assert await both(recall) == {private.id, heard.id}
    assert await both(recall, access(project="p")) == {private.id, heard.id, project.id}
    in_room = access(room=ROOM, private=False)
    assert await both(recall, in_room) == {heard.id, turn.id}
    assert await both(recall, replace(in_room, private=True)) == {private.id, heard.id, turn.id}
    assert await both(recall, access(ADA, BOB)) == {
        one.id for one in (private, heard, turn, theirs, elsewhere)
    }
    assert await both(recall, access(tenant="u")) == set()


@pytest.mark.parametrize("elsewhere", [False, True])
async def test_a_deleted_memory_is_not_found_by_the_next_query(
    memories: MemoryStore,
    stores_elsewhere: tuple[MemoryStore, RecallStore],
    recall: RecallStore,
    clock: FakeClock,
    elsewhere: bool,
) -> None:
    """`elsewhere`: another connection does it, like another process."""
    writer = stores_elsewhere[0] if elsewhere else memories
    deleted, expired = tea("deleted"), tea("expired", expires_at=AT + DAY)
    old, message = tea("old"), tea("said", role="user", message_id="m1")
    cleared = tea("cleared", tier=Tier.EPISODIC)
    every = {one.id for one in (deleted, expired, old, message, cleared)}
    await kept(memories, deleted, expired, old, message, cleared)
    assert await both(recall) == every
    await writer.delete(access(), [deleted.id])
    assert await both(recall) == every - {deleted.id}
    new = tea("new", supersedes=old.id)
    await kept(writer, new)
    assert await both(recall) == {expired.id, message.id, cleared.id, new.id}
    assert await both(recall, wanted=Filter(superseded=True)) == every - {deleted.id} | {new.id}
    await writer.revise_message("t", ("test", "main", "C1"), "m1", "coffee")
    assert await both(recall) == {expired.id, cleared.id, new.id}
    await writer.clear(access(), [Tier.EPISODIC])
    assert await both(recall) == {expired.id, new.id}
    await clock.advance(DAY.total_seconds())
    assert await both(recall) == {new.id}
    assert await both(stores_elsewhere[1]) == {new.id}


async def test_concurrent_queries_find_the_same(memories: MemoryStore, recall: RecallStore) -> None:
    await kept(memories, *(tea(f"number {number} {'y' * number}") for number in range(20)))
    results = await asyncio.gather(*(both(recall) for _ in range(10)))
    assert all(one == results[0] for one in results)
    assert len(results[0]) == 20


# --- around ---------------------------------------------------------------------------------------


def spoken_record(number: int, text: str = "", **rest: Any) -> Record:
    at = AT + timedelta(minutes=number)
    values: dict[str, Any] = {"role": "user", "conversation": "g", "at": at}
    return record(text or f"said {number}", **(values | rest))


def contents(found: Sequence[Record]) -> list[str]:
    return [one.content for one in found]


async def test_the_turns_before_and_after_a_turn_are_its_neighbours(
    memories: MemoryStore, recall: RecallStore
) -> None:
    turns = [spoken_record(number) for number in range(8)]
    note = record("a note", conversation="g", at=AT + timedelta(minutes=3))
    await kept(memories, *reversed(turns), note, spoken_record(3, "elsewhere", conversation="h"))
    around = await recall.neighbours(access(), [turns[3].id], 2)
    assert contents(around) == [f"said {number}" for number in range(1, 6)]
    assert contents(await recall.neighbours(access(), [turns[0].id, turns[1].id], 1)) == [
        "said 0", "said 1", "said 2"
    ]  # fmt: skip
    assert contents(await recall.neighbours(access(), [note.id, turns[7].id], 0)) == [
        "a note", "said 7"
    ]  # fmt: skip
    assert contents(await recall.neighbours(access(), [note.id], 3)) == ["a note"]
    assert await recall.neighbours(access(), [], 3) == []
    alone = [turns[5].id, note.id]
    assert contents(await recall.neighbours(access(), [turns[1].id], 1, alone)) == [
        "said 0", "said 1", "said 2", "a note", "said 5"
    ]  # fmt: skip


async def test_neighbours_are_visible_turns_only(
    memories: MemoryStore, recall: RecallStore, clock: FakeClock
) -> None:
    in_room = access(room=ROOM, private=False)
    turns = [
        spoken_record(0, "bob's", person=BOB, room=ROOM),
        spoken_record(1, "mine", room=ROOM),
        spoken_record(2, "bob's in private", person=BOB),
        spoken_record(3, "gone soon", room=ROOM, expires_at=AT + DAY),
        spoken_record(4, "last", room=ROOM),
    ]
    await kept(memories, *turns)
    around = await recall.neighbours(in_room, [turns[1].id], 9)
    assert contents(around) == ["bob's", "mine", "gone soon", "last"]
    await clock.advance(DAY.total_seconds())
    assert contents(await recall.neighbours(in_room, [turns[1].id], 2)) == ["bob's", "mine", "last"]
    assert await recall.neighbours(in_room, [turns[2].id], 2) == []
    assert contents(await recall.neighbours(access(), [turns[1].id], 9)) == ["mine", "last"]
