"""Conversations of people with the assistant, through the real client libraries."""

from pathlib import Path

from simulators.base import PlatformSimulator, SimFile
from tests.e2e.conftest import (
    DELETIONS,
    EDITS,
    EVERY_CONNECTION,
    ROOMS_OF_EVERY_CONNECTION,
    open_lab,
)
from tests.e2e.harness import Lab, by_bot

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360"
    "f8ffff3f0005fe02fea7356981d20000000049454e44ae426082"
)


@EVERY_CONNECTION
async def test_a_direct_message_is_answered(lab: Lab) -> None:
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    message_id = await lab.platform.say(ada, room, "Hello there")
    answer = await lab.answer(room)
    assert "No language model is configured" in answer.text
    await lab.idle()
    assert (await lab.reasons(message_id))[0] == "direct_message"


@EVERY_CONNECTION
async def test_earlier_messages_of_the_conversation_reach_the_model(lab: Lab) -> None:
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    await lab.platform.say(ada, room, "My favourite colour is turquoise")
    await lab.answer(room)
    await lab.idle()
    await lab.platform.say(ada, room, "What did I say?")
    assert "turquoise" in (await lab.answer(room, after=1)).text


@EVERY_CONNECTION
async def test_two_people_have_two_conversations(lab: Lab) -> None:
    ada, ben = lab.platform.person("Ada"), lab.platform.person("Ben")
    await lab.platform.say(ada, lab.platform.direct(ada), "The password is swordfish")
    await lab.answer(lab.platform.direct(ada))
    await lab.platform.say(ben, lab.platform.direct(ben), "What did I say?")
    answer = await lab.answer(lab.platform.direct(ben))
    assert "swordfish" not in answer.text


@ROOMS_OF_EVERY_CONNECTION
async def test_a_mention_in_a_channel_is_answered_and_other_messages_are_not(lab: Lab) -> None:
    ada, room = lab.platform.person("Ada"), lab.platform.room("general")
    ignored = await lab.platform.say(ada, room, "nobody asked you")
    message_id = await lab.platform.say(ada, room, "are you there?", mention=True)
    assert (await lab.reasons(message_id))[0] == "mention"
    stored = await lab.app.services.stores.traces.find(ignored)
    assert stored == []


@ROOMS_OF_EVERY_CONNECTION
async def test_the_mention_is_removed_from_the_text_for_the_model(lab: Lab) -> None:
    ada, room = lab.platform.person("Ada"), lab.platform.room("general")
    message_id = await lab.platform.say(ada, room, "remember the number 4711", mention=True)
    await lab.reasons(message_id)
    assert await lab.stored() == ["remember the number 4711"]


@ROOMS_OF_EVERY_CONNECTION
async def test_a_thread_is_a_separate_conversation(lab: Lab) -> None:
    ada, room = lab.platform.person("Ada"), lab.platform.room("general")
    thread = await lab.platform.open_thread(ada, room, "the plan")
    await lab.platform.say(ada, thread, "in here it is about whales", mention=True)
    answer = await lab.answer(thread)
    assert answer.thread_id == thread.thread_id
    await lab.idle()
    other = await lab.platform.open_thread(ada, room, "something else")
    await lab.platform.say(ada, other, "What did I say?", mention=True)
    assert "whales" not in (await lab.answer(other)).text
    await lab.idle()
    await lab.platform.say(ada, thread, "What did I say?", mention=True)
    assert "whales" in (await lab.answer(thread, after=1)).text


@EVERY_CONNECTION
async def test_commands_are_answered(lab: Lab) -> None:
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    await lab.platform.command(ada, room, "ask", "what is the weather?")
    await lab.answer(room)
    await lab.idle()
    await lab.platform.command(ada, room, "context")
    assert "2" in (await lab.answer(room, after=1)).text


@EVERY_CONNECTION
async def test_a_button_has_its_effect(lab: Lab) -> None:
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    await lab.platform.say(ada, room, "My favourite colour is turquoise")
    await lab.answer(room)
    await lab.idle()
    await lab.platform.command(ada, room, "clear")
    question = await lab.answer(room, after=1)
    assert [button.label for button in question.buttons] == [
        "Delete history",
        "Also what I learned",
        "Keep",
    ]
    await lab.platform.press(ada, room, question.id, "Delete history")
    await lab.until_stored([])
    await lab.idle()
    assert any("deleted" in message.text for message in by_bot(lab.platform.shown(room)))


@EVERY_CONNECTION
async def test_attachments_reach_the_model(lab: Lab) -> None:
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    files = (SimFile("notes.txt", "text/plain", b"the meeting is on Thursday"),)
    message_id = await lab.platform.say(ada, room, "please read this", files=files)
    await lab.answer(room)
    await lab.idle()
    trace = (await lab.app.services.stores.traces.find(message_id))[0]
    read = next(d for d in trace.decisions if d.stage == "attachments")
    assert (read.reason, read.detail) == ("read", "1 of 1")


@EVERY_CONNECTION
async def test_a_picture_reaches_the_model(lab: Lab) -> None:
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    message_id = await lab.platform.say(
        ada, room, "what is this?", files=(SimFile("dot.png", "image/png", PNG),)
    )
    await lab.answer(room)
    await lab.idle()
    trace = (await lab.app.services.stores.traces.find(message_id))[0]
    assert any(d.stage == "attachments" and d.detail == "1 of 1" for d in trace.decisions)


@EDITS
async def test_an_edit_changes_the_stored_message(lab: Lab) -> None:
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    message_id = await lab.platform.say(ada, room, "the code word is apple")
    await lab.answer(room)
    await lab.idle()
    await lab.platform.edit(ada, room, message_id, "the code word is pear")
    await lab.until_stored(["the code word is pear"])


@DELETIONS
async def test_a_deletion_removes_the_stored_message(lab: Lab) -> None:
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    message_id = await lab.platform.say(ada, room, "the code word is apple")
    await lab.answer(room)
    await lab.idle()
    await lab.platform.delete(ada, room, message_id)
    await lab.until_stored([])


@EVERY_CONNECTION
async def test_an_event_that_arrives_twice_is_answered_once(lab: Lab) -> None:
    ada = lab.platform.person("Ada")
    room = lab.platform.direct(ada)
    lab.platform.duplicate_next()
    await lab.platform.say(ada, room, "only once, please")
    await lab.answer(room)
    await lab.platform.say(ada, room, "and this as well")
    await lab.answer(room, after=1)
    assert len(await lab.quiet(room)) == 2


@EVERY_CONNECTION
async def test_the_rate_limit_is_announced_once(variant: str, tmp_path: Path) -> None:
    overrides = {"limits": {"user_per_minute": 2}, "conversation": {"overlap": "queue"}}
    async with open_lab(variant, tmp_path, overrides) as lab:
        ada = lab.platform.person("Ada")
        room = lab.platform.direct(ada)
        for number in range(5):
            await lab.platform.say(ada, room, f"question {number}")
        await lab.answers(room, 3)
        texts = [message.text for message in await lab.quiet(room)]
        assert (
            sum("That was too much in a short time. Please ask again in" in text for text in texts)
            == 1
        )
        assert len(texts) == 3


@EVERY_CONNECTION
async def test_a_blocked_person_gets_no_answer(variant: str, tmp_path: Path) -> None:
    def block(platform: PlatformSimulator) -> dict[str, object]:
        return {"access": {"blocked_users": [platform.person("Mallory").id]}}

    async with open_lab(variant, tmp_path, block) as lab:
        mallory = lab.platform.person("Mallory")
        room = lab.platform.direct(mallory)
        message_id = await lab.platform.say(mallory, room, "let me in")
        assert "user_blocked" in await lab.reasons(message_id)
        assert await lab.quiet(room) == []
