"""`/clear` deletes exactly the data that its question names."""

import json
from pathlib import Path

from gateway.commands.conversation_commands import HISTORY, KEEP, LEARNED
from tests.e2e.conftest import ROOMS, only, open_lab_with_model
from tests.e2e.harness import Lab
from tests.e2e.test_memory import Talk, direct


async def knows(talk: Talk, word: str) -> bool:
    return word in (await talk.command("memories", word)).text


async def test_clear_deletes_the_history_and_keeps_memories(lab: Lab) -> None:
    ada = direct(lab)
    await ada.command("remember", "I prefer tabs")
    await ada.say("My dog is called Luna")
    reply = await ada.command("clear")
    assert "My memories of you stay" in reply.text
    assert [one.label for one in reply.buttons] == [HISTORY.english, LEARNED.english, KEEP.english]
    done = (await ada.press(reply, HISTORY.english)).text
    assert "deleted 2 messages of this conversation's history" in done
    assert "My memories of you stay" in done
    assert await lab.stored() == []
    assert await knows(ada, "tabs")


async def test_a_second_button_also_deletes_memories_of_this_conversation_only(
    lab: Lab,
) -> None:
    ada, eve = direct(lab), direct(lab, "Eve")
    await eve.command("remember", "I prefer spaces")
    await ada.command("remember", "I prefer tabs")
    await ada.say("My dog is called Luna")
    reply = await ada.command("clear")
    assert LEARNED.english in reply.text
    await ada.command("remember", "I live in Rome")
    done = (await ada.press(reply, LEARNED.english)).text
    assert "deleted 3 memories from this conversation" in done
    assert not await knows(ada, "tabs")
    assert not await knows(ada, "Luna")
    assert await knows(ada, "Rome"), "learned after the question"
    assert await knows(eve, "spaces")
    if lab.platform.platform == "whatsapp":  # where buttons stay, a second press does nothing
        assert "answered already" in (await ada.press(reply, LEARNED.english)).text


@only("telegram-polling", "discord")
async def test_after_clear_the_model_receives_no_history(variant: str, tmp_path: Path) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        ada = direct(lab)
        await ada.say("My dog is called Luna")
        await ada.command("remember", "Luna prefers chicken")
        reply = await ada.command("clear")
        await ada.press(reply, LEARNED.english)
        before = len(model.bodies)
        await ada.say("What does my dog like, chicken?")
        assert "Luna" not in json.dumps(model.bodies[before:])


@ROOMS
async def test_an_operator_can_confirm_for_the_history_and_not_for_memories(
    lab: Lab,
) -> None:
    room = lab.platform.room("general")
    ada, eve = (Talk(lab, lab.platform.person(name), room) for name in ("Ada", "Eve"))
    if lab.platform.platform == "slack":
        thread = await lab.platform.open_thread(ada.person, room, "dogs")
        ada, eve = Talk(lab, ada.person, thread), Talk(lab, eve.person, thread)
    await ada.say("My dog is called Luna")
    in_thread = lab.platform.platform == "slack"
    reply = await ada.say("/clear") if in_thread else await ada.command("clear")
    if not reply.only_for:
        assert "Only the person who asked" in (await eve.press(reply, LEARNED.english)).text
    done = (await ada.press(reply, LEARNED.english)).text
    assert "from this conversation" in done
