"""A forgotten text reaches the model neither by the history nor by recall nor by the brief, and no
other text is deleted."""

import json
import sqlite3
from pathlib import Path

import pytest

from simulators.anthropic import AnthropicSimulator
from simulators.base import ShownButton
from tests.e2e.conftest import ROOMS, open_lab_with_model
from tests.e2e.harness import Lab
from tests.e2e.test_memory import Talk, direct
from tests.support.databases import migrated_database
from tests.support.servers import PostgresServer, RedisServer

pytestmark = pytest.mark.xdist_group("databases")


async def prompt_after(talk: Talk, model: AnthropicSimulator, question: str) -> str:
    """Everything that the model reads with a question."""
    before = len(model.bodies)
    await talk.say(question)
    assert len(model.bodies) > before
    return json.dumps(model.bodies[before:])


async def forget(talk: Talk, topic: str) -> str:
    """Ask for it, look at every page, agree; the answer."""
    reply = await talk.command("forget", topic)
    yes = next(one.label for one in reply.buttons if one.label.startswith("Forget "))
    return (await talk.press(reply, yes)).text


async def test_the_model_neither_sees_nor_recalls_forgotten_text(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        await seen_no_more(direct(lab), model)


async def seen_no_more(ada: Talk, model: AnthropicSimulator) -> None:
    await ada.say("My dog is called Luna")
    await ada.say("I live in Rome")
    await ada.command("remember", "Luna prefers chicken")
    assert "Luna" in await prompt_after(ada, model, "Which pets do I have?")
    assert (await forget(ada, "luna")).startswith("I deleted ")
    after = await prompt_after(ada, model, "Which pets do I have, chicken or dog?")
    assert "Luna" not in after
    assert "Rome" in after
    assert "Luna" not in (await ada.command("memories")).text
    assert "Luna" not in (await ada.command("memories", "chicken")).text


async def test_forgetting_works_on_redis_and_postgresql(
    tmp_path: Path, redis: RedisServer, postgres: PostgresServer
) -> None:
    stores = {"storage": {"url": redis.url}, "database": {"url": migrated_database(postgres)}}
    async with open_lab_with_model("telegram-polling", tmp_path, stores) as (lab, model):
        await seen_no_more(direct(lab), model)


async def test_a_summary_with_forgotten_text_is_deleted(tmp_path: Path) -> None:
    short = {"context": {"max_messages": 4}}
    async with open_lab_with_model("telegram-polling", tmp_path, short) as (lab, model):
        ada = direct(lab)
        await ada.say("We decided to call the dog Luna")
        for number in range(4):
            await ada.say(f"This is message {number}")
        assert "Luna" in await summary(lab)
        await forget(ada, "Luna")
        assert await summary(lab) == ""
        assert "Luna" not in await prompt_after(ada, model, "What did we decide?")


async def summary(lab: Lab) -> str:
    def read(db: sqlite3.Connection) -> str:
        return "".join(row[0] for row in db.execute("SELECT summary FROM conversation_notes"))

    return await lab.app.storage.long_lived.run_job(read)


@ROOMS
async def test_another_person_cannot_press_the_button_in_the_channel(
    lab: Lab,
) -> None:
    room = lab.platform.room("general")
    ada, eve = (Talk(lab, lab.platform.person(name), room) for name in ("Ada", "Eve"))
    if lab.platform.platform == "slack":
        thread = await lab.platform.open_thread(ada.person, room, "dogs")
        ada, eve = Talk(lab, ada.person, thread), Talk(lab, eve.person, thread)
    await ada.say("My dog is called Luna")
    reply = (
        await ada.command("forget", "Luna")
        if lab.platform.platform != "slack"
        else (await ada.say("/forget Luna"))
    )
    yes = reply.buttons[0].label
    if not reply.only_for:  # where the question is seen by everybody, somebody else may press
        assert "Only the person who was asked" in (await eve.press(reply, yes)).text
        assert [one.label for one in reply.buttons] == [
            one.label for one in await shown_buttons(lab, ada, reply.id)
        ]
    assert (await ada.press(reply, yes)).text.startswith("I deleted ")


async def shown_buttons(lab: Lab, talk: Talk, message_id: str) -> tuple[ShownButton, ...]:
    await lab.idle()
    return next(one.buttons for one in lab.platform.shown(talk.room) if one.id == message_id)
