"""The review queue: the contract on both engines."""

import asyncio
from datetime import timedelta

import pytest

from db.statements import Statement
from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.text import text, verbatim
from memory.model.record import Record, Scope
from memory.ports.people import PersonalDataStore
from memory.service.deletion_topics import items_about
from memory.stores.personal_data import SqlMemoryPersonalData
from memory.stores.reviews import ReviewItem, ReviewStore, settled
from tests.memory.stores.records import ADA, AT, BOB, access, operator, record
from tests.support.databases import Engine

ROOM = "test:main:W1:C1"


@pytest.fixture
def personal(engine: Engine) -> PersonalDataStore:
    return SqlMemoryPersonalData(engine)


HEDGED = text("It says how things may be, not how they are.")


def pending(number: int = 0, kept: Record | None = None, target: str = "") -> ReviewItem:
    kept = kept or record(f"maybe “{number}” 🙂", id=f"mem-{number}")
    return ReviewItem(
        f"r{number}", kept, HEDGED, AT, ("bounds",), ("grounding", "é"), target=target
    )


async def test_the_owner_sees_pending_memories_oldest_first(reviews: ReviewStore) -> None:
    for number in range(3):
        assert await reviews.add(access(), pending(number))
    assert await reviews.add(access(), pending(1))
    assert await reviews.waiting(access(), 2) == [pending(0), pending(1)]
    assert await reviews.get(access(BOB, ADA), "r2") == pending(2)


async def test_any_text_can_be_pending(reviews: ReviewStore) -> None:
    strange = pending(kept=record("nul \0 and half \ud800 of a pair"))
    await reviews.add(access(), replace(strange, reason=verbatim("\0 \ud800")))
    result = (await reviews.waiting(access(), 1))[0]
    assert result.record.content == "nul \ufffd and half \ufffd of a pair"


async def test_other_people_neither_see_nor_decide(reviews: ReviewStore) -> None:
    await reviews.add(access(), pending())
    for other in (access(BOB), access(tenant="u"), operator(), access(private=False, room=ROOM)):
        assert await reviews.waiting(other, 10) == []
        assert await reviews.get(other, "r0") is None
        assert await reviews.take(other, "r0", "approved", "", AT) is None
    assert await reviews.waiting(access(private=False, room=ROOM), 10) == []


async def test_a_pending_memory_can_be_decided_in_its_own_room(reviews: ReviewStore) -> None:
    await reviews.add(access(), pending(kept=record(room=ROOM)))
    assert len(await reviews.waiting(access(private=False, room=ROOM), 10)) == 1


async def test_global_proposals_are_decided_by_operators(reviews: ReviewStore) -> None:
    project = record(scope=Scope.PROJECT, project="p")
    await reviews.add(access(), pending(1, project))
    await reviews.add(access(), pending(2, record(project="p"), "bible"))
    await reviews.add(access(), pending(3, record(scope=Scope.GLOBAL)))
    assert await reviews.waiting(access(project="p"), 10) == []
    ids = [one.id for one in await reviews.waiting(operator(project="p"), 10)]
    assert ids == ["r1", "r2", "r3"]
    assert [one.id for one in await reviews.waiting(operator(project="q"), 10)] == ["r3"]


async def test_memories_cannot_be_submitted_for_other_people(reviews: ReviewStore) -> None:
    for kept in (record(person=BOB), record(tenant="u")):
        with pytest.raises(BadInput, match="own statements"):
            await reviews.add(access(), pending(kept=kept))


async def test_one_of_several_concurrent_decisions_takes_effect(reviews: ReviewStore) -> None:
    await reviews.add(access(), pending())
    taken = await asyncio.gather(
        *(reviews.take(access(), "r0", "approved", "ok", AT) for _ in range(8))
    )
    decided = replace(
        pending(), state="approved", note="ok", decided_at=AT, decided_by=access().person
    )
    assert [one for one in taken if one is not None] == [decided]
    assert await reviews.waiting(access(), 10) == []
    assert await reviews.history(access(), 10) == [replace(decided, record=settled(decided.record))]


async def test_the_text_of_a_decided_memory_is_deleted(
    reviews: ReviewStore, personal: PersonalDataStore
) -> None:
    kept = record("a word of it", tags=("telling",))
    await reviews.add(access(), pending(1, kept))
    taken = await reviews.take(access(), "r1", "rejected", "no", AT)
    assert taken is not None
    assert taken.record == kept
    (entry,) = await reviews.history(access(), 1)
    assert (entry.id, entry.record.id, entry.reason, entry.note) == ("r1", kept.id, HEDGED, "no")
    answer = str(entry) + str(await personal.export("t", [ADA]))
    assert "a word of it" not in answer
    assert "telling" not in answer


async def test_who_decided_stays_in_the_export_of_the_person_when_the_operator_is_erased(
    reviews: ReviewStore, personal: PersonalDataStore
) -> None:
    await reviews.add(access(), pending(1, record(scope=Scope.PROJECT, project="p")))
    assert await reviews.take(operator(project="p"), "r1", "rejected", "no", AT) is not None
    await personal.erase("t", [operator().person])
    (row,) = await personal.export("t", [ADA])
    assert (row["state"], row["decided_by"]) == ("rejected", operator().person)


@pytest.mark.parametrize(
    ("topic", "about"),
    [
        ("the boat", ["r1"]),
        ("Boats", ["r1"]),
        ("sailing", ["r2"]),
        ("mem-1", ["r1"]),
        ("mem-1 boat", []),
        ("train", []),
        ("👍", []),
    ],
)
async def test_a_topic_finds_the_owners_pending_memories_only(
    reviews: ReviewStore, topic: str, about: list[str]
) -> None:
    await reviews.add(access(), pending(1, record("maybe a boat 🙂", id="mem-1")))
    await reviews.add(access(), pending(2, record("on the lake", id="mem-2", tags=("sailing",))))
    proposed = record("a boat", id="mem-13", project="p")
    await reviews.add(access(), pending(3, proposed, "bible"))
    shared = record("a boat for all", id="mem-14", scope=Scope.GLOBAL)
    await reviews.add(access(), pending(4, shared))
    assert [one.id for one in items_about(await reviews.waiting(access(), 10), topic)] == about
    for_operators = await reviews.waiting(operator(project="p"), 10)
    assert len(for_operators) == 2
    assert items_about(for_operators, topic) == []


async def test_a_memory_that_could_not_be_stored_is_pending_again(reviews: ReviewStore) -> None:
    await reviews.add(access(), pending())
    await reviews.take(access(), "r0", "approved", "", AT)
    await reviews.put_back(access(BOB), pending())
    assert await reviews.waiting(access(), 10) == []
    await reviews.put_back(access(), pending())
    assert await reviews.waiting(access(), 10) == [pending()]
    await reviews.take(access(), "r0", "rejected", "", AT)
    await reviews.put_back(access(), pending())
    assert await reviews.waiting(access(), 10) == []


async def test_the_queue_of_a_person_holds_a_hundred_also_under_concurrency(
    reviews: ReviewStore,
) -> None:
    added = await asyncio.gather(*(reviews.add(access(), pending(n)) for n in range(110)))
    assert sum(added) == 100
    assert len(await reviews.waiting(access(), 1_000)) == 100
    assert await reviews.add(access(BOB), pending(200, record(person=BOB)))
    assert not await reviews.add(access(BOB, ADA), pending(201, record(person=BOB)))


async def test_the_whole_queue_and_its_history_are_limited(
    reviews: ReviewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.stores.reviews.MAX_WAITING_IN_ALL", 2)
    monkeypatch.setattr("memory.stores.reviews.MAX_HISTORY", 2)
    results = [
        await reviews.add(access(f"p{n}"), pending(n, record(person=f"p{n}"))) for n in range(3)
    ]
    assert results == [True, True, False]
    for number in range(4):
        await reviews.add(access(f"p{number}"), pending(number, record(person=f"p{number}")))
        at = AT + timedelta(seconds=number)
        await reviews.take(access(f"p{number}"), f"r{number}", "rejected", "", at)
    kept = [len(await reviews.history(access(f"p{number}"), 10)) for number in range(4)]
    assert kept == [0, 0, 1, 1]


async def test_operators_learn_which_projects_have_proposals(reviews: ReviewStore) -> None:
    for number, kept in enumerate(
        (
            record(scope=Scope.PROJECT, project="p"),
            record(scope=Scope.PROJECT, project="p"),
            record(scope=Scope.PROJECT, project="q"),
            record(scope=Scope.PROJECT, project="r"),
            record(scope=Scope.GLOBAL),
            record("of her own"),
        )
    ):
        await reviews.add(access(), pending(number, kept))
    await reviews.take(operator(project="p"), "r0", "approved", "", AT)
    assert await reviews.proposed(operator(), ["p", "q"]) == {"p": 1, "q": 1, "": 1}
    assert await reviews.proposed(operator(), []) == {"": 1}
    assert await reviews.proposed(access(project="p"), ["p", "q"]) == {}
    assert await reviews.proposed(operator(tenant="u"), ["p", "q"]) == {}


async def test_a_reason_is_stored_to_be_read_in_any_language(reviews: ReviewStore) -> None:
    named = text("It may replace “{text}”.", text=verbatim('I like "tea"'))
    await reviews.add(access(), replace(pending(), reason=named))
    (waiting,) = await reviews.waiting(access(), 1)
    assert waiting.reason == named


@pytest.mark.parametrize("stored", ["It may contain a key.", "", '{"type":"sentence", "msgid"'])
async def test_the_reason_of_an_earlier_version_stays_as_it_is(
    engine: Engine, reviews: ReviewStore, personal: PersonalDataStore, stored: str
) -> None:
    await reviews.add(access(), pending())
    change = Statement("UPDATE memory_reviews SET reason = :reason")
    await engine.change(change, {"reason": stored})
    (waiting,) = await reviews.waiting(access(), 1)
    assert waiting.reason == verbatim(stored)
    assert stored in str(await personal.export("t", [ADA]))
