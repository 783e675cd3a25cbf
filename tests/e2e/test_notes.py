"""Notes of the assistant are visible to their person alone, who can undo them, through the real
client libraries."""

import sqlite3
from collections.abc import Sequence

from gateway.immutable import replace
from simulators.base import Shown, SimPerson, SimRoom
from tests.e2e.conftest import ROOMS, only
from tests.e2e.harness import Lab
from tests.e2e.test_memory import HEDGED, Talk, direct, kept

TABS = "remember that I prefer tabs over spaces"
SPACES = "remember that I prefer spaces now, not tabs"


async def room_of(lab: Lab, person: SimPerson, title: str = "general") -> SimRoom:
    """A public room; on Slack a thread of it, where the talk goes on."""
    room = lab.platform.room(title)
    if lab.platform.platform == "slack":
        return await lab.platform.open_thread(person, room, "editors")
    return room


async def say(lab: Lab, person: SimPerson, room: SimRoom, text: str) -> list[Shown]:
    """Write in a room, and wait until everything that follows is sent; what is new there."""
    before = len(await lab.quiet(room))
    await lab.platform.say(person, room, text, mention=True)
    await lab.answer(room, after=before)
    return (await lab.quiet(room))[before:]


async def alone(lab: Lab, person: SimPerson, new: Sequence[Shown]) -> list[Shown]:
    """Return the messages of the assistant that only this person can read: in the room, or in
    private."""
    whispered = [shown for shown in new if shown.only_for == person.id]
    return [*whispered, *await lab.quiet(lab.platform.direct(person))]


async def current(lab: Lab) -> list[str]:
    """Return the stored memories that are valid."""

    def read(db: sqlite3.Connection) -> list[str]:
        rows = db.execute("SELECT content FROM memories WHERE role = '' AND superseded_by = ''")
        return [str(content) for (content,) in rows]

    return await lab.app.storage.long_lived.run_job(read)


async def test_a_note_is_below_the_answer_and_a_button_undoes_it(lab: Lab) -> None:
    ada = direct(lab)
    answer = await ada.say(TABS)
    assert "Noted: “I prefer tabs over spaces”" in answer.text
    assert [button.label for button in answer.buttons] == ["Undo"]
    done = await ada.press(answer, "Undo")
    assert "I deleted what I had noted." in done.text
    assert "I prefer tabs over spaces" in done.text
    assert await kept(lab) == []
    assert "stored nothing on my own" in (await ada.command("undo")).text


async def test_undo_applies_to_the_latest_note_and_restores_the_replaced_memory(lab: Lab) -> None:
    ada = direct(lab)
    await ada.say(TABS)
    replaced = await ada.say(SPACES)
    assert "It replaces “I prefer tabs over spaces”" in replaced.text
    assert await current(lab) == ["I prefer spaces now, not tabs"]
    undone = await ada.command("undo")
    assert "I remember this again:" in undone.text
    assert await current(lab) == ["I prefer tabs over spaces"]
    await ada.command("undo")
    assert await kept(lab) == []
    assert "stored nothing on my own" in (await ada.command("undo")).text


async def test_a_requested_memory_is_not_undone(lab: Lab) -> None:
    ada = direct(lab)
    await ada.command("remember", "I prefer tabs")
    assert "stored nothing on my own" in (await ada.command("undo")).text
    assert await kept(lab) == ["I prefer tabs"]


async def test_another_person_cannot_undo_a_note(lab: Lab) -> None:
    ada, ben = direct(lab), direct(lab, "Ben")
    await ada.say(TABS)
    assert "stored nothing on my own" in (await ben.command("undo")).text
    assert await kept(lab) == ["I prefer tabs over spaces"]


async def test_notes_can_be_turned_off_and_on(lab: Lab) -> None:
    ada = direct(lab)
    assert "no longer tell" in (await ada.command("privacy", "notes off")).text
    answer = await ada.say(TABS)
    assert (answer.text, answer.buttons) == ("I will remember that.", ())
    reply = await ada.say(HEDGED)
    assert "Keep this?" in reply.text, "a question is no note"
    await ada.command("privacy", "notes on")
    assert "Noted: “I drink tea”" in (await ada.say("remember that I drink tea")).text


@ROOMS
async def test_in_a_room_a_note_is_private(lab: Lab) -> None:
    ada = lab.platform.person("Ada")
    room = await room_of(lab, ada)
    new = await say(lab, ada, room, TABS)
    read_by_all = [shown for shown in new if not shown.only_for]
    assert [shown.text for shown in read_by_all] == ["I will remember that."]
    assert [shown.buttons for shown in read_by_all] == [()]
    notes = [shown for shown in await alone(lab, ada, new) if "Noted" in shown.text]
    if lab.platform.platform == "telegram":
        assert notes == []
    else:
        (note,) = notes
        assert "Noted: “I prefer tabs over spaces”" in note.text
        assert [button.label for button in note.buttons] == ["Undo"]
    assert await lab.quiet(lab.platform.direct(lab.platform.person("Ben"))) == []


@ROOMS
async def test_in_a_room_a_question_about_a_memory_is_private(lab: Lab) -> None:
    ada = lab.platform.person("Ada")
    room = await room_of(lab, ada)
    new = await say(lab, ada, room, HEDGED)
    assert not any("Keep this?" in shown.text for shown in new if not shown.only_for)
    questions = [shown for shown in await alone(lab, ada, new) if "Keep this?" in shown.text]
    assert len(questions) == (lab.platform.platform != "telegram")
    if questions:
        place = room if questions[0].only_for else lab.platform.direct(ada)
        assert (
            await Talk(lab, ada, place).press(questions[0], "Keep")
        ).text == "I will remember that."
        assert await kept(lab) == ["the server may time out under load"]


@only("slack-socket")
async def test_on_slack_undo_works_on_the_private_note(lab: Lab) -> None:
    ada = lab.platform.person("Ada")
    room = await room_of(lab, ada)
    note = (await say(lab, ada, room, TABS))[-1]
    assert note.only_for == ada.id
    done = await Talk(lab, ada, room).press(note, "Undo")
    assert (done.only_for, "I deleted" in done.text) == (ada.id, True)
    assert await kept(lab) == []


@only("slack-socket")
async def test_on_slack_the_note_is_in_the_thread_of_the_answer(lab: Lab) -> None:
    ada, channel = lab.platform.person("Ada"), lab.platform.room("general")
    message = await lab.platform.say(ada, channel, TABS, mention=True)
    await lab.answered("chat.postEphemeral", 200)
    await lab.idle()
    (whispered,) = [one for one in lab.platform.calls if one.method == "chat.postEphemeral"]
    assert whispered.body["thread_ts"] == message
    in_thread = lab.platform.shown(replace(channel, thread_id=message))
    answer, note = [shown for shown in in_thread if shown.by_bot]
    assert (answer.text, answer.only_for) == ("I will remember that.", "")
    assert ("Noted" in note.text, note.only_for) == (True, ada.id)


@only("discord")
async def test_on_discord_undo_works_in_the_direct_message(lab: Lab) -> None:
    ada = direct(lab)
    room = lab.platform.room("general")
    await say(lab, ada.person, room, TABS)
    note = (await lab.quiet(ada.room))[-1]
    assert "I deleted" in (await ada.press(note, "Undo")).text
    assert await kept(lab) == []


@only("discord")
async def test_on_discord_a_note_after_a_command_is_private(lab: Lab) -> None:
    ada, room = lab.platform.person("Ada"), lab.platform.room("general")
    await lab.platform.command(ada, room, "ask", TABS)
    await lab.answer(room)
    answer, note = await lab.quiet(room)
    assert (answer.text, answer.only_for) == ("I will remember that.", "")
    assert ("Noted: “I prefer tabs" in note.text, note.only_for) == (True, ada.id)


@only("telegram-polling")
async def test_on_telegram_a_note_is_sent_with_the_next_direct_message_once(lab: Lab) -> None:
    ada, ben = direct(lab), direct(lab, "Ben")
    room = lab.platform.room("general")
    await say(lab, ada.person, room, TABS)
    await say(lab, ada.person, room, HEDGED)
    await say(lab, ben.person, room, "remember that I drink tea")
    text = (await ada.say("hello")).text
    assert "Noted in a group: “I prefer tabs over spaces”" in text
    assert "From a group, not stored yet: “the server may time out under load”" in text
    assert "tea" not in text
    assert "in a group" not in (await ada.say("hello again")).text
    name = text.partition("/undo ")[2].split()[0]
    assert "I deleted" in (await ada.command("undo", name)).text
    assert await kept(lab) == ["I drink tea"]
    assert "Noted in a group: “I drink tea”" in (await ben.command("memories")).text


@ROOMS
async def test_in_a_room_only_the_author_is_told_about_an_unstored_secret(lab: Lab) -> None:
    ada, ben = direct(lab), direct(lab, "Ben")
    room = await room_of(lab, ada.person)
    new = await say(lab, ada.person, room, "remember that my password is Xy12zz89x")
    assert not any("password" in shown.text for shown in new if shown.by_bot and not shown.only_for)
    texts = [
        one.text for one in await alone(lab, ada.person, new) if "did not store it" in one.text
    ]
    if lab.platform.platform == "telegram":
        assert texts == []
        assert "did not store it" not in (await ben.say("hello")).text
        texts = [(await ada.say("hello")).text]
        assert "In a group you wrote what looks like a password or a key." in texts[0]
        assert "did not store it" not in (await ada.say("hello again")).text
    assert len(texts) == 1
    assert "I removed what looks like a secret" not in texts[0], "it is said once"


@only("telegram-polling")
async def test_a_note_about_a_deleted_memory_is_not_sent(lab: Lab) -> None:
    ada = direct(lab)
    room = lab.platform.room("general")
    await say(lab, ada.person, room, TABS)
    quietly = (await Talk(lab, ada.person, room).command("undo")).text
    assert quietly == "I deleted what I had noted."
    assert "tabs" not in (await ada.say("hello")).text


@only("telegram-polling")
async def test_in_a_group_the_answer_to_a_command_quotes_no_older_memory(lab: Lab) -> None:
    ada = direct(lab)
    here = Talk(lab, ada.person, lab.platform.room("general"))
    await here.command("remember", "I prefer tabs over spaces")
    assert (await here.command("remember", SPACES[14:])).text == "I will remember that."
    assert "I prefer spaces now, not tabs" in (await ada.say("hello")).text


async def test_the_person_says_which_of_two_memories_is_true_and_restores_the_other(
    lab: Lab,
) -> None:
    old, new = "My name is Jon", "My name is John"
    ada = direct(lab)
    for text in (old, new):
        await ada.command("remember", text)
    asked = await ada.say("what can you do?")
    assert f"Is this still true? “{old}” You also said: “{new}”" in asked.text
    labels = ["Only the new one", "Only the old one", "Both are true"]
    assert [button.label for button in asked.buttons] == labels
    settled = await ada.press(asked, labels[0])
    assert f"It replaces “{old}”" in settled.text
    assert await current(lab) == [new]
    await ada.press(settled, "Restore")
    assert sorted(await current(lab)) == [new, old]
    again = await ada.say("what else can you do?")
    assert "still true" not in again.text
