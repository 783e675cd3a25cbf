"""Called into a running thread, the model reads that thread for the question, and nothing of it is
kept; where it cannot be read, the model is told so."""

import json
import sqlite3
from base64 import b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
from psycopg import sql
from redis.asyncio import Redis
from structlog.testing import capture_logs

from simulators.anthropic import Answer, AnthropicSimulator, UseTool
from simulators.base import Fault, SimFile, SimRoom
from simulators.discord import DiscordSimulator
from simulators.slack import SlackSimulator
from simulators.telegram import TelegramSimulator
from tests.attacks.model import system_text, whole_text
from tests.e2e.conftest import VARIANTS, only, open_lab_with_model
from tests.e2e.harness import FAST, Lab, running_as_processes
from tests.gateway.turn.test_attachments import PNG
from tests.support.databases import migrated_database
from tests.support.patience import PATIENCE
from tests.support.servers import PostgresServer, RedisServer

THREADS: Final = only("discord", "slack-socket")
READ: Final = {"slack": "conversations.replies", "discord": "GET /channels/{id}/messages"}
CANARY: Final = "canary-7f3a"
PICTURE: Final = SimFile("menu.png", "image/png", PNG)
KEYS: Final = SimFile("keys.txt", "text/plain", b"open at noon, AKIAIOSFODNN7EXAMPL3")


def pictures_of(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The pictures in the question of a request."""
    content = body["messages"][-1]["content"]
    return [block for block in content if block["type"] == "image"]


class Talk:
    """A thread in a room, and what the model reads of it."""

    def __init__(self, lab: Lab, model: AnthropicSimulator, room: SimRoom, thread: SimRoom) -> None:
        self.lab, self.model, self.room, self.thread = lab, model, room, thread

    @classmethod
    async def begun(cls, lab: Lab, model: AnthropicSimulator, title: str = "Deploy 137") -> "Talk":
        sim = lab.platform
        assert isinstance(sim, SlackSimulator | DiscordSimulator)
        room = sim.room("general")
        thread = await sim.open_thread(sim.person("Ada"), room, title)
        return cls(lab, model, room, thread)

    async def say(self, name: str, text: str) -> str:
        return await self.lab.platform.say(self.lab.platform.person(name), self.thread, text)

    async def ask(self, text: str, name: str = "Ada") -> Mapping[str, object]:
        """The request to the model for a question in the thread."""
        before, shown = len(self.model.bodies), await self.lab.quiet(self.thread)
        person = self.lab.platform.person(name)
        await self.lab.platform.say(person, self.thread, text, mention=True)
        await self.lab.answer(self.thread, after=len(shown))
        await self.lab.idle()
        return self.model.bodies[before]

    def reads(self) -> int:
        method = READ[self.lab.platform.platform]
        return sum(call.method == method for call in self.lab.platform.calls)


async def cells(lab: Lab) -> str:
    """Every cell of the database."""

    def read(db: sqlite3.Connection) -> str:
        tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        found: list[str] = []
        for (table,) in tables:
            try:
                rows = db.execute(f'SELECT * FROM "{table}"').fetchall()
            except sqlite3.OperationalError:
                continue  # a table of an extension's own
            found += [str(cell) for row in rows for cell in row]
        return "\n".join(found)

    return await lab.app.storage.long_lived.run_job(read)


@THREADS
async def test_the_thread_is_read_for_each_question_and_nothing_of_it_is_stored(
    variant: str, tmp_path: Path
) -> None:
    with capture_logs() as lines:
        await _ask_twice(variant, tmp_path)
    assert CANARY not in str(lines)


async def _ask_twice(variant: str, folder: Path) -> None:
    async with open_lab_with_model(variant, folder) as (lab, model):
        talk = await Talk.begun(lab, model)
        await talk.say("Bob", f"I think memory ran out {CANARY}")
        await talk.say("Bob", f"the key is AKIAIOSFODNN7EXAMPL3 {CANARY}")
        model.script("It was memory.")
        first = whole_text(await talk.ask("summarise this thread"))
        assert "Deploy 137" in first
        assert "memory ran out" in first
        assert "AKIAIOSFODNN7EXAMPL3" not in first
        await talk.say("Cyd", f"I restarted it {CANARY}")
        model.script("It runs.")
        second = whole_text(await talk.ask("and now?"))
        assert second.count("memory ran out") == 1
        assert second.count("I restarted it") == 1
        assert second.count("summarise this thread") == 1
        assert second.count("It was memory.") == 1
        assert CANARY in second
        stored = await cells(lab)
        assert "summarise this thread" in stored
        assert CANARY not in stored


@THREADS
async def test_a_question_in_the_room_itself_reads_nothing(variant: str, tmp_path: Path) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        talk = await Talk.begun(lab, model)
        await talk.say("Bob", CANARY)
        await lab.platform.say(lab.platform.person("Bob"), talk.room, f"beside it {CANARY}")
        model.script("Hello.")
        await lab.platform.say(lab.platform.person("Ada"), talk.room, "hi", mention=True)
        await lab.answer(talk.room)
        assert talk.reads() == 0
        assert CANARY not in whole_text(model.bodies[0])
        assert "this thread" not in whole_text(model.bodies[0])


@THREADS
async def test_nothing_is_read_for_a_person_who_is_refused(variant: str, tmp_path: Path) -> None:
    def blocking(sim: object) -> Mapping[str, object]:
        assert isinstance(sim, SlackSimulator | DiscordSimulator)
        return {"access": {"blocked_users": [f"{sim.platform}:{sim.person('Mallory').id}"]}}

    async with open_lab_with_model(variant, tmp_path, blocking) as (lab, model):
        talk = await Talk.begun(lab, model)
        await lab.platform.say(
            lab.platform.person("Mallory"), talk.thread, f"obey {CANARY}", mention=True
        )
        await lab.idle()
        assert talk.reads() == 0
        model.script("Hello.")
        assert CANARY not in whole_text(await talk.ask("what does it say?"))
        assert talk.reads() == 1


@THREADS
async def test_without_the_setting_the_model_is_told_that_it_does_not_know_the_thread(
    variant: str, tmp_path: Path
) -> None:
    overrides = {"context": {"thread_history": "off"}}
    async with open_lab_with_model(variant, tmp_path, overrides) as (lab, model):
        talk = await Talk.begun(lab, model)
        await talk.say("Bob", CANARY)
        model.script("I do not see it.")
        body = await talk.ask("summarise")
        assert talk.reads() == 0
        assert CANARY not in whole_text(body)
        assert "You do not know the earlier messages of this thread" in system_text(body)


@THREADS
@pytest.mark.parametrize("kind", ["rate_limit", "server_error", "drop_within", "slow"])
async def test_a_thread_that_cannot_be_read_is_answered_without_it(
    variant: str, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.turn.thread.READ_SECONDS", 1.0)
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        talk = await Talk.begun(lab, model)
        await talk.say("Bob", CANARY)
        fault = Fault(READ[lab.platform.platform], kind, times=1, retry_after=60.0, delay=3.0)  # type: ignore[arg-type]  # one of FaultKind
        lab.platform.faults.add(fault)
        model.script("I cannot see it.", "Nor now.")
        body = await talk.ask("summarise")
        assert "could not be read" in system_text(body)
        assert CANARY not in whole_text(body)
        again = await talk.ask("and now?")
        assert (CANARY in whole_text(again)) == (kind != "rate_limit")


@only("slack-socket")
async def test_a_missing_scope_is_named_to_the_operator_once(variant: str, tmp_path: Path) -> None:
    with capture_logs() as lines:
        await _ask_without_scope(variant, tmp_path)
    (line,) = [one for one in lines if one["event"] == "thread_not_read"]
    assert "channels:history" in line["error"]


async def _ask_without_scope(variant: str, folder: Path) -> None:
    async with open_lab_with_model(variant, folder) as (lab, model):
        assert isinstance(lab.platform, SlackSimulator)
        talk = await Talk.begun(lab, model)
        await talk.say("Bob", CANARY)
        lab.platform.scopes.discard("channels:history")
        model.script("I cannot see it.", "Nor now.")
        body = await talk.ask("summarise")
        await talk.ask("and now?")
        assert "could not be read" in system_text(body)
        (trace, *_) = [t for t in await lab.app.decisions(500) if t.kind == "message"]
        (why,) = [one for one in trace.decisions if one.stage == "thread"]
        assert why.reason == "not_read"
        assert "channels:history" in why.detail
        assert "reinstall the app" in why.detail


@only("telegram-polling")
async def test_on_telegram_the_model_is_told_that_it_does_not_see_topics_and_chains(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        sim = lab.platform
        assert isinstance(sim, TelegramSimulator)
        ada, bob, room = sim.person("Ada"), sim.person("Bob"), sim.room("general")
        earlier = await sim.say(bob, room, "it failed with code 137")
        model.script("I see this one.", "No.", "Plain.", "Plain.")
        await sim.say(ada, room, "why?", mention=True, reply_to=earlier)
        await lab.answer(room)
        assert "you cannot see the earlier messages of this thread of replies" in system_text(
            model.bodies[0]
        )
        topic = await sim.open_thread(ada, room, "Deploy")
        await sim.say(ada, topic, "summarise this topic", mention=True)
        await lab.answer(topic)
        assert "You do not know the earlier messages of this thread" in system_text(model.bodies[1])
        await sim.say(ada, room, "hello", mention=True)
        await lab.answer(room, after=1)
        await sim.say(ada, sim.direct(ada), "hello")
        await lab.answer(sim.direct(ada))
        assert "this thread" not in system_text(model.bodies[2]) + system_text(model.bodies[3])


@THREADS
async def test_a_text_of_the_thread_proves_no_memory_and_leaves_none(
    variant: str, tmp_path: Path
) -> None:
    words = f"I am allergic to penicillin {CANARY}"
    call = {"type": "fact", "content": words, "quote": words}
    soul = {"target": "soul", "content": words}
    obeys = Answer(tools=(UseTool("memory_store", call), UseTool("update_customer_brain", soul)))
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        talk = await Talk.begun(lab, model)
        await talk.say("Bob", words)
        await talk.say("Ada", f"{words}, I too")  # her own, but not addressed to the assistant
        model.script(obeys, "Noted.")
        await talk.ask("remember what Bob said")

        assert CANARY not in await cells(lab)
        refused = json.dumps(model.bodies[-1]["messages"][-1])
        assert "of which nothing is kept" in refused


@only("slack-socket")
async def test_in_a_direct_message_only_the_first_question_of_a_thread_reads_it(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        sim, ada = lab.platform, lab.platform.person("Ada")
        room = sim.direct(ada)
        model.script("The code is 137.", "It means no memory.", "Yes.")
        await sim.say(ada, room, "what failed?")
        answer = await lab.answer(room)
        thread = SimRoom(room.id, "direct", room.title, answer.id)
        await sim.say(ada, thread, "what does it mean?")
        await lab.answer(thread, after=1)
        assert "[yours, " in whole_text(model.bodies[1])
        assert "The code is 137." in whole_text(model.bodies[1])
        await sim.say(ada, thread, "sure?")
        await lab.answer(thread, after=2)
        assert "[yours, " not in whole_text(model.bodies[2])
        assert sum(call.method == READ["slack"] for call in sim.calls) == 1


@THREADS
async def test_for_a_person_with_memory_off_the_thread_is_not_read(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        talk = await Talk.begun(lab, model)
        await talk.say("Bob", CANARY)
        sim, ada = lab.platform, lab.platform.person("Ada")
        await sim.command(ada, sim.direct(ada), "privacy", "memory off")
        await lab.answer(sim.direct(ada))
        model.script("I do not see it.", "I do.")
        body = await talk.ask("summarise")
        assert "You do not know the earlier messages of this thread" in system_text(body)
        assert (talk.reads(), CANARY in whole_text(body)) == (0, False)
        assert CANARY in whole_text(await talk.ask("summarise", "Cyd"))


@only("discord")
async def test_a_slash_command_in_a_thread_reads_it(variant: str, tmp_path: Path) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        talk = await Talk.begun(lab, model)
        await talk.say("Bob", CANARY)
        model.script("It failed.")
        ada = lab.platform.person("Ada")
        await lab.platform.command(ada, talk.thread, "ask", "what happened?")
        await lab.answer(talk.thread)
        assert CANARY in whole_text(model.bodies[0])


@THREADS
async def test_the_files_of_a_thread_reach_the_model(variant: str, tmp_path: Path) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        sim, ada, room = lab.platform, lab.platform.person("Ada"), lab.platform.room("general")
        assert isinstance(sim, SlackSimulator | DiscordSimulator)
        if isinstance(sim, SlackSimulator):  # the picture itself begins the thread
            first = await sim.say(sim.person("Bob"), room, "", files=(PICTURE,))
            thread = SimRoom(room.id, room.kind, room.title, first)
        else:
            thread = await sim.open_thread(ada, room, "Menu")
            await sim.say(sim.person("Bob"), thread, "", files=(PICTURE,))
        talk = Talk(lab, model, room, thread)
        model.script("a soup", "at noon", "still a soup")
        (question,) = pictures_of(await talk.ask("what is on it?"))
        assert question["source"]["data"] == b64encode(PNG).decode()
        await sim.say(sim.person("Bob"), thread, "and this", files=(KEYS,))
        told = await talk.ask("when?")
        assert "open at noon" in whole_text(told)
        assert "AKIAIOSFODNN7EXAMPL3" not in whole_text(told)
        again = await talk.ask("sure?")
        assert "open at noon" not in whole_text(again), "a later file reaches the model once"
        assert len(pictures_of(told)) == len(pictures_of(again)) == 1, "the thread replies to it"
        assert "open at noon" not in await cells(lab)


@only("slack-socket")
async def test_no_file_of_a_thread_is_fetched_with_reading_switched_off(
    variant: str, tmp_path: Path
) -> None:
    overrides = {"context": {"thread_history": "off"}}
    async with open_lab_with_model(variant, tmp_path, overrides) as (lab, model):
        sim, room = lab.platform, lab.platform.room("general")
        first = await sim.say(sim.person("Bob"), room, "", files=(PICTURE,))
        talk = Talk(lab, model, room, SimRoom(room.id, room.kind, room.title, first))
        model.script("I do not see it.")
        assert pictures_of(await talk.ask("what is on it?")) == []


@THREADS
async def test_what_was_said_before_many_questions_is_still_read(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        talk = await Talk.begun(lab, model)
        await talk.say("Bob", f"before {CANARY}")
        model.script(*["Yes."] * 4)
        for number in range(3):
            await talk.ask(f"question {number}")
        read = whole_text(await talk.ask("and now?"))
        assert read.count(CANARY) == 1
        assert read.count("question 1") == 1


@THREADS
async def test_what_was_cleared_does_not_come_back_from_the_thread(
    variant: str, tmp_path: Path
) -> None:
    async with open_lab_with_model(variant, tmp_path) as (lab, model):
        talk = await Talk.begun(lab, model)
        await talk.say("Bob", "the deploy failed")
        model.script(f"Noted {CANARY}.", "Yes.")
        await talk.ask(f"the code is {CANARY}")

        def clear(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM turns")

        await lab.app.storage.long_lived.run_job(clear)
        read = whole_text(await talk.ask("and now?"))
        assert "the deploy failed" in read
        assert CANARY not in read


@only("discord")
async def test_discord_reads_only_what_the_person_may_read(variant: str, tmp_path: Path) -> None:
    async with open_lab_with_model(variant, tmp_path, {"delivery": FAST}) as (lab, model):
        sim = lab.platform
        assert isinstance(sim, DiscordSimulator)
        talk = await Talk.begun(lab, model)
        await talk.say("Bob", CANARY)
        sim.deny_history(talk.room, sim.person("Ada"))
        model.script("You may not.", "Yes.")
        body = await talk.ask("summarise")
        assert CANARY not in whole_text(body)
        assert "may not read the earlier messages of this thread" in system_text(body)
        assert talk.reads() == 0
        assert CANARY in whole_text(await talk.ask("summarise", "Cyd"))


@pytest.mark.xdist_group("databases")
@THREADS
async def test_a_worker_reads_the_thread_through_the_process_with_the_connection(
    variant: str, tmp_path: Path, redis: RedisServer, postgres: PostgresServer
) -> None:
    sim, database = VARIANTS[variant](), migrated_database(postgres)
    assert isinstance(sim, SlackSimulator | DiscordSimulator)
    model = AnthropicSimulator(reply=lambda _: Answer("It was memory."))
    await model.start()
    stores = {
        "storage": {"url": redis.url},
        "database": {"url": database},
        "model": {
            "provider": "anthropic",
            "api_key": model.api_key,
            "base_url": model.base_url,
        },
        "server": {"port": 0, "token_key": "5" * 64},
    }
    async with running_as_processes(("adapter", "worker"), sim, tmp_path, stores):
        ada, room = sim.person("Ada"), sim.room("general")
        thread = await sim.open_thread(ada, room, "Deploy 137")
        await sim.say(sim.person("Bob"), thread, f"I think memory ran out {CANARY}")
        await sim.say(ada, thread, "summarise this", mention=True)
        await sim.wait_for(thread, lambda shown: any(m.by_bot for m in shown), PATIENCE)
    await model.stop()
    assert "memory ran out" in whole_text(model.bodies[0])
    stored = await _redis_cells(redis.url) + _postgres_cells(database)
    assert "summarise this" in stored
    assert CANARY not in stored


async def _redis_cells(url: str) -> str:
    """Everything in Redis."""
    async with Redis.from_url(url) as client:
        readers: dict[Any, Callable[[Any], Any]] = {
            b"string": client.get,
            b"list": lambda key: client.lrange(key, 0, -1),
            b"hash": client.hgetall,
            b"set": client.smembers,
            b"zset": lambda key: client.zrange(key, 0, -1),
            b"stream": client.xrange,
        }
        kinds = [(key, await client.type(key)) for key in await client.keys()]
        cells = [str(await readers[kind](key)) for key, kind in kinds if kind in readers]
        assert {kind for _, kind in kinds} <= {*readers, b"none"}, "it expired, or is unknown"
    return "\n".join(cells)


def _postgres_cells(url: str) -> str:
    """Every cell of the database."""
    with psycopg.connect(url) as connection:
        tables = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables"
            " WHERE table_schema NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        rows = [
            connection.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(*name))).fetchall()
            for name in tables
        ]
    return str(rows)
