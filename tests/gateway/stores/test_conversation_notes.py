"""The task and the summary of a conversation, in both databases."""

from datetime import timedelta

import pytest

from gateway.authorship import Material
from gateway.conversation import ConversationKey
from gateway.immutable import replace
from gateway.ports.conversations import NO_NOTES, ConversationSummary, ConversationTask, StoredTurn
from gateway.stores.conversations import ConversationNoteStore, Conversations
from gateway.stores.personal_data import SqlPersonalData
from gateway.turn.context.summary import FROM_REPOSITORY, SHOWN
from tests.support.clock import FakeClock
from tests.support.databases import Engine
from tests.support.messages import AT, place

ADA, BOB = "test:main:ada", "test:main:bob"
HERE = place()
KEY = ConversationKey("t", HERE.platform, HERE.account, HERE.workspace_id, HERE.channel_id)
TASK = ConversationTask("Bake bread", ADA, "Ada", "m2")
SUMMARY = ConversationSummary("They chose rye.", "m1", "assistant", AT, (ADA, BOB))


@pytest.fixture
def notes(engine: Engine) -> ConversationNoteStore:
    return ConversationNoteStore(engine)


@pytest.fixture
def personal(engine: Engine, clock: FakeClock) -> SqlPersonalData:
    return SqlPersonalData(engine, clock)


@pytest.fixture
async def kept(conversations: Conversations, notes: ConversationNoteStore) -> Conversations:
    """A conversation of two questions with a task and a summary."""
    for n, who in ((1, ADA), (2, BOB)):
        turn = StoredTurn(f"m{n}", "user", f"question {n}", AT, who, "somebody")
        await conversations.append(KEY, [turn, StoredTurn(f"m{n}", "assistant", f"answer {n}", AT)])
    await notes.set_task(KEY, TASK, AT)
    await notes.set_summary(KEY, SUMMARY, AT)
    return conversations


async def test_notes_are_loaded_with_the_turns(kept: Conversations) -> None:
    turns, notes = await kept.opened(KEY, 3)

    assert [turn.text for turn in turns] == ["answer 1", "question 2", "answer 2"]
    assert notes.task == TASK
    assert notes.summary == SUMMARY
    assert turns == await kept.latest(KEY, 3)


async def test_a_conversation_without_notes_is_empty(
    conversations: Conversations, notes: ConversationNoteStore
) -> None:
    assert await conversations.opened(KEY, 10) == ([], NO_NOTES)

    await notes.set_task(KEY, TASK, AT)
    turns, result = await conversations.opened(KEY, 10)
    assert not turns
    assert result.task == TASK
    assert result.summary is None


async def test_a_task_is_replaced_and_removed(
    kept: Conversations, notes: ConversationNoteStore
) -> None:
    await notes.set_task(KEY, ConversationTask("Eat it", BOB, "Bob"), AT)
    assert (await kept.opened(KEY, 1))[1].task == ConversationTask("Eat it", BOB, "Bob")

    await notes.set_task(KEY, None, AT)
    _, left = await kept.opened(KEY, 1)
    assert left.task is None
    assert left.summary == SUMMARY


async def test_clearing_a_conversation_clears_its_notes(kept: Conversations) -> None:
    await kept.clear(KEY)

    assert await kept.opened(KEY, 10) == ([], NO_NOTES)


async def test_a_deleted_message_deletes_the_notes_derived_from_it(kept: Conversations) -> None:
    await kept.delete("t", HERE, ["m1"])
    _, notes = await kept.opened(KEY, 10)
    assert notes.summary is None
    assert notes.task == TASK

    await kept.delete("t", HERE, ["m2"])
    assert (await kept.opened(KEY, 10))[1].task is None


async def test_an_edit_deletes_the_notes_derived_from_the_message(kept: Conversations) -> None:
    await kept.edit("t", HERE, "m2", "something else")

    assert (await kept.opened(KEY, 10))[1] == NO_NOTES


async def test_notes_expire_with_the_turns(kept: Conversations) -> None:
    await kept.prune(AT + timedelta(seconds=1))

    assert await kept.opened(KEY, 10) == ([], NO_NOTES)


async def test_erasing_a_person_removes_their_words_from_tasks_and_summaries(
    kept: Conversations,
    personal: SqlPersonalData,
) -> None:
    await personal.erase("t", [BOB])
    _, notes = await kept.opened(KEY, 10)
    assert notes.summary is None
    assert notes.task == TASK

    await personal.erase("t", [ADA])
    assert (await kept.opened(KEY, 10))[1].task is None


async def test_erasing_in_one_tenant_does_not_affect_another(
    kept: Conversations,
    personal: SqlPersonalData,
) -> None:
    await personal.erase("other", [ADA, BOB])

    assert (await kept.opened(KEY, 10))[1].summary == SUMMARY


async def test_an_export_contains_no_words_of_other_people(
    kept: Conversations,
    personal: SqlPersonalData,
) -> None:
    async def given_out(*persons: str) -> list[tuple[object, object]]:
        rows = await personal.export("t", persons)
        return [
            (row["task"], row["summary"]) for row in rows if row["table"] == "conversation_notes"
        ]

    assert await given_out(ADA) == [("Bake bread", "")]
    assert await given_out(BOB) == []
    assert await given_out(ADA, BOB) == [("Bake bread", "They chose rye.")]


async def test_marks_of_a_summary_are_no_other_people(
    kept: Conversations, notes: ConversationNoteStore, personal: SqlPersonalData
) -> None:
    marked = replace(SUMMARY, persons=(SHOWN, FROM_REPOSITORY, ADA))
    await notes.set_summary(KEY, marked, AT)
    assert (await kept.opened(KEY, 1))[1].summary == marked
    rows = await personal.export("t", [ADA])
    assert SUMMARY.text in [row.get("summary") for row in rows]


async def test_an_answer_keeps_what_it_was_made_from(conversations: Conversations) -> None:
    answer = StoredTurn("m1", "assistant", "so", AT, material=(Material("repository", ""),))
    await conversations.append(KEY, [StoredTurn("m1", "user", "why?", AT, ADA, "Ada"), answer])
    assert await conversations.latest(KEY, 1) == [answer]


async def test_a_summary_of_deleted_or_edited_messages_is_not_stored(
    kept: Conversations, notes: ConversationNoteStore
) -> None:
    turns = await kept.latest(KEY, 4)
    newer = replace(SUMMARY, text="newer")
    assert await notes.set_summary(KEY, newer, AT, turns, SUMMARY)
    assert (await kept.opened(KEY, 1))[1].summary == newer
    assert not await notes.set_summary(KEY, SUMMARY, AT, turns, SUMMARY), "it was replaced"
    await kept.edit("t", HERE, "m1", "other words")
    assert not await notes.set_summary(KEY, SUMMARY, AT, turns)
    assert (await kept.opened(KEY, 1))[1].summary is None


async def test_a_summary_does_not_bring_back_a_cleared_conversation(
    kept: Conversations, notes: ConversationNoteStore
) -> None:
    turns = await kept.latest(KEY, 4)
    await kept.clear(KEY)
    assert not await notes.set_summary(KEY, SUMMARY, AT, turns, SUMMARY)
    assert not await notes.set_summary(KEY, SUMMARY, AT, turns)
    assert await kept.opened(KEY, 4) == ([], NO_NOTES)
