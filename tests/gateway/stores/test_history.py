"""Texts of a person in conversations are found by that person only, and deleted exactly as
shown."""

from collections.abc import Sequence

import pytest

from gateway.authorship import Material
from gateway.conversation import ConversationKey
from gateway.immutable import replace
from gateway.message import Place
from gateway.people import Audience
from gateway.ports.conversations import (
    ConversationSummary,
    ConversationTask,
    History,
    SpokenRef,
    StoredTurn,
    Whose,
)
from gateway.stores.conversations import ConversationNoteStore, Conversations
from gateway.stores.history import SqlHistory
from tests.support.databases import Engine
from tests.support.messages import AT

ADA, BOB = "test:main:ada", "test:main:bob"
ROOM = ConversationKey("t", "test", "main", "W1", "C1")
ALONE = ConversationKey("t", "test", "main", "W1", "C2")
ELSEWHERE = ConversationKey("other", "test", "main", "W1", "C3")
HERE = Place("test", "main", "C1", Audience.PUBLIC_ROOM, "W1")


@pytest.fixture
def history(engine: Engine) -> History:
    return SqlHistory(engine)


@pytest.fixture
def notes(engine: Engine) -> ConversationNoteStore:
    return ConversationNoteStore(engine)


def question_and_answer(
    id_: str, person: str, text: str, answer: str
) -> tuple[StoredTurn, StoredTurn]:
    shown = (Material("forwarded", f"shown with {id_}", "Eve"),) if id_ == "m1" else ()
    return (
        StoredTurn(id_, "user", text, AT, person, person, shown),
        StoredTurn(id_, "assistant", answer, AT),
    )


@pytest.fixture
async def kept(conversations: Conversations, notes: ConversationNoteStore) -> Conversations:
    await conversations.append(ROOM, question_and_answer("m1", ADA, "Luna is my dog", "Nice dog"))
    await conversations.append(ROOM, question_and_answer("m2", BOB, "I know Luna", "So do I"))
    await conversations.append(
        ALONE, question_and_answer("m3", ADA, "I live in Rome", "A fine city")
    )
    await conversations.append(
        ELSEWHERE, question_and_answer("m4", ADA, "Another tenant", "Indeed")
    )
    both = ConversationSummary("Both spoke of Luna", "m2", "assistant", AT, (ADA, BOB))
    await notes.set_summary(ROOM, both, AT)
    await notes.set_summary(
        ALONE, ConversationSummary("Ada lives", "m3", "assistant", AT, (ADA,)), AT
    )
    await notes.set_task(ROOM, ConversationTask("Bob's task", BOB, "Bob"), AT)
    await notes.set_task(ALONE, ConversationTask("Find a flat", ADA, "Ada"), AT)
    return conversations


async def spoken_texts(history: History, *persons: str, **more: str) -> set[tuple[str, str]]:
    spoken = await history.spoken(Whose("t", persons, **more), 100)
    return {(one.kind, one.text.partition("\n")[0]) for one in spoken}


async def texts(conversations: Conversations, key: ConversationKey) -> list[str]:
    return [turn.text for turn in await conversations.latest(key, 100)]


OF_ADA = {
    ("message", "Luna is my dog"),
    ("answer", "Nice dog"),
    ("message", "I live in Rome"),
    ("answer", "A fine city"),
    ("summary", "Both spoke of Luna"),
    ("summary", "Ada lives"),
    ("task", "Find a flat"),
}


@pytest.mark.usefixtures("kept")
async def test_only_answered_messages_of_a_person_are_found(history: History) -> None:
    assert await spoken_texts(history, ADA) == OF_ADA
    assert await spoken_texts(history, "test:main:eve") == set()
    assert await spoken_texts(history, "") == set()
    assert ("message", "I know Luna") in await spoken_texts(history, ADA, BOB)


@pytest.mark.usefixtures("kept")
async def test_a_search_in_a_room_finds_its_messages(history: History) -> None:
    here = await spoken_texts(history, ADA, conversation=str(ROOM))
    assert here == {one for one in OF_ADA if one[1] in ("Luna is my dog", "Nice dog")} | {
        ("summary", "Both spoke of Luna")
    }


@pytest.mark.usefixtures("kept")
async def test_external_text_belongs_to_its_message_and_the_latest_is_first(
    history: History,
) -> None:
    spoken = await history.spoken(Whose("t", (ADA,)), 1)
    assert [one.id for one in spoken if one.kind in ("message", "answer")] == ["m3"]
    every = await history.spoken(Whose("t", (ADA,)), 100)
    assert "shown with m1" in next(one.text for one in every if one.text.startswith("Luna"))


async def refs_of(history: History, *starts: str) -> list[SpokenRef]:
    every = await history.spoken(Whose("t", (ADA, BOB)), 100)
    return [one.ref for one in every if one.text.startswith(starts)]


async def test_a_summary_with_the_words_is_deleted_alone(
    kept: Conversations, history: History
) -> None:
    refs = await refs_of(history, "Luna is")
    assert await history.forget(Whose("t", (ADA,)), refs) == refs
    assert await texts(kept, ROOM) == ["Nice dog", "I know Luna", "So do I"]
    assert (await kept.opened(ROOM, 10))[1].summary is None
    assert (await kept.opened(ROOM, 10))[1].task == ConversationTask("Bob's task", BOB, "Bob")
    assert (await kept.opened(ALONE, 10))[1].summary is not None
    assert await history.forget(Whose("t", (ADA,)), refs) == []


async def test_an_answer_is_deleted_with_its_message_in_one_step(
    kept: Conversations, history: History
) -> None:
    refs = await refs_of(history, "Luna is", "Nice dog")
    assert len(await history.forget(Whose("t", (ADA,)), refs)) == 2
    assert await texts(kept, ROOM) == ["I know Luna", "So do I"]


async def test_a_task_and_a_summary_can_be_deleted_alone(
    kept: Conversations, history: History
) -> None:
    refs = await refs_of(history, "Find a flat", "Ada lives")
    assert len(await history.forget(Whose("t", (ADA,)), refs)) == 2
    assert await texts(kept, ALONE) == ["I live in Rome", "A fine city"]
    notes = (await kept.opened(ALONE, 10))[1]
    assert (notes.task, notes.summary) == (None, None)


@pytest.mark.parametrize("whose", [("t", BOB), ("other", ADA), ("t", "test:main:eve"), ("t", "")])
async def test_messages_of_other_people_are_not_deleted(
    kept: Conversations, history: History, whose: tuple[str, str]
) -> None:
    refs = await refs_of(history, "Luna is", "Nice dog", "I live", "Find a flat", "Ada lives")
    assert await history.forget(Whose(whose[0], (whose[1],)), refs) == []
    assert len(await texts(kept, ROOM)) == 4
    assert len(await texts(kept, ALONE)) == 2


async def test_a_message_edited_since_stays(kept: Conversations, history: History) -> None:
    refs = await refs_of(history, "Luna is")
    await kept.edit("t", HERE, "m1", "Rex is my dog")
    assert await history.forget(Whose("t", (ADA,)), refs) == []
    assert "Rex is my dog" in await texts(kept, ROOM)


def forged(refs: Sequence[SpokenRef]) -> list[SpokenRef]:
    return [replace(ref, channel="test:main:C2") for ref in refs]


async def test_a_message_of_the_same_id_in_another_channel_stays(
    kept: Conversations, history: History
) -> None:
    refs = forged(await refs_of(history, "Luna is"))
    assert await history.forget(Whose("t", (ADA,)), refs) == []
    assert len(await texts(kept, ROOM)) == 4
