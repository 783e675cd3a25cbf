"""With memory off nothing is recalled, and nothing outlives the answer but the rows of inbox,
outbox and usage: through the real client libraries, on both databases and with Redis."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql
from redis.asyncio import Redis

from simulators.anthropic import Answer, AnthropicSimulator, UseTool
from simulators.base import SimPerson
from tests.e2e.conftest import ROOMS, only, open_lab_with_model
from tests.e2e.harness import Lab
from tests.e2e.test_memory import Talk, direct
from tests.e2e.test_notes import room_of, say
from tests.support.databases import WORD_INDEXES, migrated_database
from tests.support.servers import PostgresServer, RedisServer
from tests.support.waiting import eventually

BEFORE, WORD = "wombat", "quokka"
"""The messages with memory on, and with memory off."""
MAY_GROW = frozenset({"inbox", "outbox", "usage", "answered_turns"})
READ_MARKS = 2
"""Rows that Discord's adapter keeps of one conversation: its last message, and the last of all."""


@pytest.fixture(autouse=True)
def _loaded() -> None:
    import_module("anthropic")  # seconds on a busy machine, which are no part of any answer


def learns(body: Mapping[str, Any]) -> Answer | str:
    """A model that stores and notes everything, and then repeats it."""
    last = body["messages"][-1]["content"]
    if any(block.get("type") == "tool_result" for block in last):
        return f"Understood, {WORD}."
    offered = {tool["name"] for tool in body.get("tools", ())}
    text = f"I keep a {WORD}"
    expected = {
        "memory_store": {"type": "fact", "content": text, "quote": text},
        "set_task": {"task": text},
        "update_customer_brain": {"target": "soul", "content": text},
    }
    calls = tuple(UseTool(name, given) for name, given in expected.items() if name in offered)
    return Answer(tools=calls) if calls else f"Understood, {WORD}."


@dataclass(frozen=True)
class Stored:
    """Everything that is stored: how many rows by table, and all of it as text."""

    rows: Mapping[str, int]
    text: Mapping[str, str]

    def holding(self, word: str) -> set[str]:
        return {name for name, text in self.text.items() if word in text}

    def grown_since(self, before: "Stored") -> set[str]:
        return {name for name, count in self.rows.items() if count > before.rows.get(name, 0)}


def of_tables(tables: Mapping[str, Sequence[tuple[object, ...]]]) -> Stored:
    return Stored(
        {name: len(rows) for name, rows in tables.items()},
        {name: " ".join(map(str, chain(*rows))) for name, rows in tables.items()},
    )


async def in_sqlite(lab: Lab) -> Stored:
    def read(db: sqlite3.Connection) -> Stored:
        listed = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%fts%'"
        names = [name for (name,) in db.execute(listed) if not name.startswith(WORD_INDEXES)]
        return of_tables({name: db.execute(f'SELECT * FROM "{name}"').fetchall() for name in names})

    return await lab.app.storage.long_lived.run_job(read)


def in_postgres(url: str) -> Stored:
    with psycopg.connect(url) as connection:
        listed = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
        tables = {}
        for (name,) in connection.execute(listed).fetchall():
            query = sql.SQL("SELECT * FROM {}").format(sql.Identifier(name))
            tables[name] = connection.execute(query).fetchall()
    return of_tables(tables)


async def in_redis(url: str) -> str:
    client = Redis.from_url(url)
    dumped = [str(await client.dump(key)) async for key in client.scan_iter("*")]
    await client.aclose()
    return " ".join(dumped)


async def settled(lab: Lab) -> None:
    """Everything is sent, what waits for memory is taken up, and Discord has stored how far it has
    read: a task in the background does that, up to some seconds after the message."""
    await lab.idle()
    if lab.platform.platform == "discord":

        async def marks_stored() -> bool:
            return (await in_sqlite(lab)).rows["adapter_state"] >= READ_MARKS

        await eventually(marks_stored)
    consolidation = lab.app.memory.consolidation
    if consolidation is not None:
        await consolidation.everything()


async def test_with_memory_off_nothing_is_recalled_or_stored(variant: str, tmp_path: Path) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        ada = direct(lab)
        await ada.command("remember", f"I have a {BEFORE}")
        await ada.say(f"my {BEFORE} is well")
        assert "Memory is off for you" in (await ada.command("privacy", "memory off")).text
        await settled(lab)
        before = await in_sqlite(lab)
        model.reply = learns
        answer = await ada.say(f"I keep a {WORD}")
        assert answer.text == f"Understood, {WORD}."
        assert (await ada.say(f"again: I keep a {WORD}")).text == f"Understood, {WORD}."
        await settled(lab)
        after = await in_sqlite(lab)
        assert after.holding(WORD) <= {"outbox"}
        assert after.grown_since(before) <= MAY_GROW
        first, second = (json.dumps(body) for body in model.bodies[-2:])
        assert BEFORE not in first + second
        assert "memory_store" not in first
        assert "Understood" not in second, "what was answered before is not shown again"
        assert "I see only the message that I answer" in (await ada.command("context")).text
        refused = await ada.command("remember", f"I keep a {WORD}")
        assert "Memory is off for you" in refused.text
        await ada.command("privacy", "memory on")
        model.reply = lambda body: "ok"
        await ada.say("hello")
        assert BEFORE in json.dumps(model.bodies[-1]), "what was kept is used again"
        assert WORD not in json.dumps(model.bodies[-1])


async def test_memory_can_be_off_in_one_conversation(variant: str, tmp_path: Path) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        ada, ben = direct(lab), direct(lab, "Ben")
        assert "in this conversation" in (await ada.command("privacy", "memory off here")).text
        model.reply = learns
        for talk in (ada, ben):
            await talk.say(f"I keep a {WORD}")
        await settled(lab)
        stored = await in_sqlite(lab)
        assert stored.text["memories"].count(ben.person.id) > 0
        assert stored.text["memories"].count(f":{ada.person.id} ") == 0
        assert stored.text["turns"].count(f":{ada.person.id} ") == 0
        await ada.command("privacy", "memory on here")
        await ada.say(f"I keep a {WORD}")
        await settled(lab)
        assert f":{ada.person.id} " in (await in_sqlite(lab)).text["turns"]


@ROOMS
async def test_in_a_room_memory_is_off_for_the_person_who_chose_it(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        ada, ben = direct(lab), direct(lab, "Ben")
        room = await room_of(lab, ben.person)
        await ada.command("privacy", "memory off")
        await say(lab, ben.person, room, f"I have a {BEFORE}")
        await say(lab, ada.person, room, f"I keep a {WORD}")
        assert BEFORE not in json.dumps(model.bodies[-1]), "no history is shown"
        await say(lab, ben.person, room, "and now?")
        assert WORD not in json.dumps(model.bodies[-1])
        await settled(lab)
        assert (await in_sqlite(lab)).holding(WORD) <= {"outbox"}


@only("slack-socket")
async def test_memory_off_in_a_channel_applies_to_its_threads(variant: str, tmp_path: Path) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, _model):
        ada = lab.platform.person("Ada")
        channel = lab.platform.room("general")
        await Talk(lab, ada, channel).command("privacy", "memory off here")
        await say(lab, ada, await lab.platform.open_thread(ada, channel, "plans"), f"a {WORD}")
        await settled(lab)
        assert (await in_sqlite(lab)).holding(WORD) <= {"outbox"}


@pytest.mark.xdist_group("databases")
@only("telegram-polling")
async def test_with_memory_off_nothing_stays_in_postgres_and_redis(
    variant: str, tmp_path: Path, postgres: PostgresServer, redis: RedisServer
) -> None:
    database = migrated_database(postgres)
    stores = {"storage": {"url": redis.url}, "database": {"url": database}}
    async with open_lab_with_model(variant, tmp_path, stores) as (lab, model):
        model.reply = learns
        ada = lab.platform.person("Ada")
        talk = lab.platform.direct(ada)
        await _said(lab, model, ada, f"I have a {BEFORE}")
        await lab.platform.command(ada, talk, "privacy", "memory off")
        await lab.answer(talk, after=1)
        await settled(lab)
        before = in_postgres(database)
        assert before.rows["turns"] > 0
        for number in (1, 2):
            await _said(lab, model, ada, f"I keep a {WORD}, {number}")
        await settled(lab)
        after = in_postgres(database)
        assert after.holding(f"{WORD}, ") == set()
        assert after.grown_since(before) <= MAY_GROW
        assert f"{WORD}, " not in await in_redis(redis.url)


async def _said(lab: Lab, model: AnthropicSimulator, person: SimPerson, text: str) -> None:
    room = lab.platform.direct(person)
    before = len([one for one in lab.platform.shown(room) if one.by_bot])
    await lab.platform.say(person, room, text)
    await lab.answer(room, after=before)
    await lab.idle()
    assert model.bodies
