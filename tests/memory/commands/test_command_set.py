"""Memory commands and their exact answers."""

import json
from typing import Any

import pytest

from db.errors import StoreUnavailable
from gateway.authorship import Material
from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.message import button_in
from gateway.people import Role
from gateway.ports.memory import GivenFile
from gateway.text import ENGLISH
from memory.commands import memories, texts
from memory.commands.command_set import SPECS
from memory.model.record import Draft, Kind
from memory.ports.audit import AuditAction
from memory.ports.memories import Filter
from memory.stores.audit import Audit
from memory.stores.personal_data import TABLES
from memory.turns.footer import keep_buttons
from tests.memory.rig import DIRECT, ROOM, EnglishReply, Rig, memory_rig


async def say(rig: Rig, line: str, name: str = "ada", **where: object) -> EnglishReply:
    command, _, arguments = line.removeprefix("/").partition(" ")
    return await rig.commands.run(command, arguments, rig.caller(name, **where))  # type: ignore[arg-type]


async def press(rig: Rig, reply: EnglishReply, label: str, name: str = "ada") -> EnglishReply:
    value = next(button.value for button in reply.buttons if button.label.startswith(label))
    assert len(value.encode()) <= 64
    assert rig.commands.owns(value)
    return await rig.commands.press(value, rig.caller(name))


async def test_remember_stores_a_memory_that_memories_lists() -> None:
    async with memory_rig() as rig:
        assert (await say(rig, "/remember I prefer tabs")).markdown == "I will remember that."
        shown = (await say(rig, "/memories")).markdown
        assert "I prefer tabs" in shown
        assert "Preferences" in shown
        assert (await say(rig, "/remember I prefer tabs")).markdown == "I know that already."
        assert "nothing" in (await say(rig, "/memories", "bob")).markdown


async def test_remember_stores_the_sentence_without_the_command() -> None:
    async with memory_rig() as rig:
        await say(rig, "/remember that I like tea")
        await say(rig, "/remember that book about boats")
        shown = (await say(rig, "/memories")).markdown
        assert "- I like tea" in shown
        assert "- that book about boats" in shown


async def test_remember_requires_a_text() -> None:
    async with memory_rig() as rig:
        with pytest.raises(BadInput, match="/remember"):
            await say(rig, "/remember")


@pytest.mark.parametrize("said", ["", "that", "it", "?", "🎉", "das", "ça", "eso", "это", "それ"])
async def test_remember_as_a_reply_means_that_message(said: str) -> None:
    async with memory_rig() as rig:
        own = replace(rig.caller("ada"), replied="My dog is called Luna.")
        assert (await rig.commands.run("remember", said, own)).markdown == "I will remember that."
        assert "My dog is called Luna." in (await say(rig, "/memories")).markdown
        theirs = Material("quoted", "The shop opens at ten.", "Bob")
        shown = replace(rig.caller("ada"), material=(theirs,))
        asked = await rig.commands.run("remember", said, shown)
        assert "The shop opens at ten." in asked.markdown
        assert "opens" not in (await say(rig, "/memories")).markdown
        await press(rig, asked, "Keep")
        assert "The shop opens at ten." in (await say(rig, "/memories")).markdown


@pytest.mark.parametrize("said", ["", "that", "it", "?", "🎉", "das", "ça", "eso", "это", "それ"])
async def test_remember_without_a_statement_and_a_reply_is_a_question(said: str) -> None:
    async with memory_rig() as rig:
        with pytest.raises(BadInput, match="What should I remember"):
            await rig.commands.run("remember", said, rig.caller("ada"))
        file = replace(rig.caller("ada"), material=(Material("file", "Some text."),))
        with pytest.raises(BadInput, match="What should I remember"):
            await rig.commands.run("remember", said, file)
        assert "nothing" in (await say(rig, "/memories")).markdown


async def test_forget_asks_and_only_the_caller_can_answer() -> None:
    async with memory_rig() as rig:
        await say(rig, "/remember my dog is called Luna")
        await say(rig, "/remember I prefer tabs")
        question = await say(rig, "/forget Luna")
        assert "Luna" in question.markdown
        refused = await press(rig, question, "Forget", "bob")
        assert refused.markdown == texts.NOT_ASKED.english
        assert refused.leaves_buttons
        assert (await press(rig, question, "Forget")).markdown == "I deleted 1 item."
        assert "no longer open" in (await press(rig, question, "Forget")).markdown
        assert "Luna" not in (await say(rig, "/memories")).markdown


async def test_forget_deletes_pending_memories_too() -> None:
    async with memory_rig() as rig:
        ada, bob = await rig.handle("ada"), await rig.handle("bob")
        await say(rig, "/remember my dog is called Luna")
        await ada.write.infer(Draft("Luna is afraid of thunder", Kind.FACT))
        await ada.write.infer(Draft("Lives in Rome", Kind.FACT))
        await bob.write.infer(Draft("Luna is the moon", Kind.FACT))
        question = await say(rig, "/forget Luna")
        assert "thunder" in question.markdown
        assert "Rome" not in question.markdown
        assert (await press(rig, question, "Forget")).markdown == "I deleted 2 items."
        assert [one.record.content for one in await ada.review.waiting()] == ["Lives in Rome"]
        assert len(await bob.review.waiting()) == 1
        question = await say(rig, "/forget Rome")
        assert (await press(rig, question, "Forget")).markdown == "I deleted 1 item."
        assert await ada.review.waiting() == []
        again = (await say(rig, "/forget Rome")).markdown
        assert texts.NOTHING_TO_FORGET.english in again
        assert "`/privacy erase`" in again


async def test_forget_can_be_cancelled_and_accepts_an_id() -> None:
    async with memory_rig() as rig:
        await say(rig, "/remember my dog is called Luna")
        question = await say(rig, "/forget dog")
        assert (await press(rig, question, "Cancel")).markdown == "Nothing was changed."
        (result,) = await (await rig.handle("ada")).read.search(Filter())
        question = await say(rig, f"/forget {result.record.id[:12]}")
        assert (await press(rig, question, "Forget")).markdown == "I deleted 1 item."


async def test_privacy_shows_exports_and_erases_data() -> None:
    async with memory_rig() as rig:
        await say(rig, "/remember I prefer tabs")
        assert (
            "- memories, including stored chat messages: 1" in (await say(rig, "/privacy")).markdown
        )
        exported = await say(rig, "/privacy export")
        rows = [json.loads(line) for line in exported.files[0].data.splitlines()]
        assert any(row.get("content") == "I prefer tabs" for row in rows)
        surely = await press(rig, await say(rig, "/privacy erase"), "Erase")
        assert "erased" in (await press(rig, surely, "Yes")).markdown
        assert "nothing" in (await say(rig, "/memories")).markdown


@pytest.mark.parametrize(
    "topic", ["everything", "All of it!", "everything you know about me", "alles über mich", "全部"]
)
async def test_to_forget_everything_is_the_erasure(topic: str) -> None:
    async with memory_rig() as rig:
        await say(rig, "/remember I prefer tabs")
        asked = await say(rig, f"/forget {topic}")
        assert "everything" in asked.markdown
        assert "`/forget my old address`" in asked.markdown
        surely = await press(rig, asked, "Erase")
        assert "I prefer tabs" in (await say(rig, "/memories")).markdown, "two presses erase"
        assert "erased" in (await press(rig, surely, "Yes")).markdown
        assert "nothing" in (await say(rig, "/memories")).markdown


@pytest.mark.parametrize("topic", ["all hands meeting", "everything at work", "me", "I know"])
async def test_a_subject_is_not_everything(topic: str) -> None:
    async with memory_rig() as rig:
        await say(rig, "/remember everything at work is about the all hands meeting")
        assert not (await say(rig, f"/forget {topic}")).markdown.startswith("Erase")


async def bring(rig: Rig, data: bytes | None, name: str = "ada", problem: str = "") -> EnglishReply:
    """Send a file with `/privacy import`."""
    caller = replace(rig.caller(name), files=(GivenFile("my-data.jsonl", data, problem),))
    return await rig.commands.run("privacy", "import", caller)


async def test_an_export_is_imported_once() -> None:
    async with memory_rig() as rig:
        await say(rig, "/remember I prefer tabs")
        (file,) = (await say(rig, "/privacy export")).files
        surely = await press(rig, await say(rig, "/privacy erase"), "Erase")
        await press(rig, surely, "Yes")
        answer = await bring(rig, file.data)
        assert "- 1 imported" in answer.markdown
        assert "memory_sessions" in answer.files[0].data.decode()
        assert "I prefer tabs" in (await say(rig, "/memories")).markdown
        assert "- 1 stored already" in (await bring(rig, file.data)).markdown
        for_bob = await bring(rig, file.data, "bob")
        assert "- 1 waiting for your decision" in for_bob.markdown
        assert "I prefer tabs" not in (await say(rig, "/memories", "bob")).markdown


@pytest.mark.parametrize(
    ("data", "problem", "told"),
    [
        (None, "it could not be fetched", "did not import this file: it could not be fetched"),
        (b"", "", "not an export of Parley"),
        (b"\xff\xfe\x00", "", "not an export of Parley"),
        (b'{"format":"parley-memory","version":9}', "", "version 9"),
        (b'{"format":"parley-memory","version":1}\n' + b"{}\n" * 501, "", "more than 500 entries"),
        (b"parley-sealed\n", "", "its key is needed"),
        (b"PAR1" + b"x" * 100 + b"PAR1", "", "only at the terminal"),
    ],
)
async def test_an_invalid_import_file_is_named(data: bytes | None, problem: str, told: str) -> None:
    async with memory_rig() as rig:
        with pytest.raises(BadInput, match=told):
            await bring(rig, data, problem=problem)
        with pytest.raises(BadInput, match="Send the file"):
            await say(rig, "/privacy import")
        assert "nothing" in (await say(rig, "/memories")).markdown


PRIVATE = ["/privacy export", "/privacy import", "/privacy erase", "/link", "/link AAAA"]


@pytest.mark.parametrize("line", PRIVATE)
async def test_private_commands_are_refused_in_rooms(line: str) -> None:
    async with memory_rig() as rig:
        with pytest.raises(BadInput, match="direct message"):
            await say(rig, line, at=ROOM)


async def test_private_memory_is_used_in_rooms_only_if_allowed() -> None:
    async with memory_rig() as rig:
        assert "do not" in (await say(rig, "/privacy")).markdown
        await say(rig, "/privacy rooms on")
        assert "I use what you told me elsewhere" in (await say(rig, "/privacy")).markdown


async def test_a_project_is_chosen_among_those_of_the_person() -> None:
    async with memory_rig() as rig:
        room = ROOM
        operator = await rig.handle("ada", at=room, role=Role.OPERATOR)
        assert operator.access.project == "discord:main:guild"
        direct = ROOM.__class__("discord", "main", "dm", DIRECT.audience)
        assert "discord:main:guild" in (await say(rig, "/project", at=direct)).markdown.replace(
            "\\", ""
        )
        await say(rig, "/project 1", at=direct)
        assert (await rig.handle("ada", at=direct)).access.project == "discord:main:guild"
        with pytest.raises(BadInput):
            await say(rig, "/project discord:main:guild", "stranger", at=direct)
        await say(rig, "/project none", at=direct)
        assert (await rig.handle("ada", at=direct)).access.project == ""


def test_commands_with_optional_arguments_do_not_ask_for_one() -> None:
    optional = {spec.name for spec in SPECS if spec.argument_optional}
    own = {"memories", "privacy", "undo", "project", "soul", "bible", "link", "handoff", "agents"}
    assert optional == own


async def test_every_button_fits_the_narrowest_platform() -> None:
    async with memory_rig() as rig:
        await say(rig, "/remember my dog is called Luna")
        waiting = await (await rig.handle("ada")).write.infer(Draft("Lives in Rome", Kind.FACT))
        erase = await say(rig, "/privacy erase")
        replies = (await say(rig, "/forget dog"), erase, await press(rig, erase, "Erase"))
        shown = [button for reply in replies for button in reply.buttons]
        shown += [button_in(ENGLISH, one) for one in keep_buttons(waiting.review_id)]
        assert len(shown) == 8
        assert all(len(button.label) <= 20 for button in shown)
        assert all(len(button.value.encode()) <= 64 for button in shown)


def test_every_kind_of_personal_data_has_a_readable_name() -> None:
    assert {table.name for table in TABLES} <= set(texts.KINDS)
    assert texts.stored_rows([("people_links", 2)]).english == "- links with your other accounts: 2"
    assert texts.stored_rows([]).english == "Nothing."


async def test_a_search_without_results_does_not_claim_an_empty_memory() -> None:
    async with memory_rig() as rig:
        await rig.commands.run("remember", "I prefer tabs", rig.caller("ada"))
        reply = await rig.commands.run("memories", "giraffe", rig.caller("ada"))
        assert reply.markdown == texts.NOT_FOUND.english


async def test_an_undo_repeated_after_a_failure_undoes_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    append, failures = Audit.append, [StoreUnavailable("away")]

    async def failing(self: Audit, action: AuditAction, *args: Any, **details: Any) -> None:
        if action == "memory_delete" and failures:
            raise failures.pop()
        await append(self, action, *args, **details)

    async with memory_rig() as rig:
        for words in ("I live in Rome", "I prefer tabs"):
            ada = await rig.handle("ada", says=words)
            await ada.write.infer(Draft(words, Kind.FACT, quote=words))
            await rig.clock.advance(5)
        monkeypatch.setattr(Audit, "append", failing)
        caller = rig.caller("ada")
        with pytest.raises(StoreUnavailable):
            await rig.commands.run("undo", "", caller)
        assert memories.TAKEN_BACK.english in (await rig.commands.run("undo", "", caller)).markdown
        shown = (await say(rig, "/memories")).markdown
        assert "Rome" in shown
        assert "tabs" not in shown
        assert "Rome" in (await say(rig, "/undo")).markdown
