"""Notes of the assistant: shown under the answer, undone by their person alone, delivered later
where others would read them; none with memory off."""

import json
from collections.abc import Mapping
from contextlib import suppress

import pytest

from gateway.errors import BadInput, NotFound
from gateway.immutable import replace
from gateway.message import Place
from gateway.people import Role
from gateway.ports.memory import ShownFooter
from gateway.text import ENGLISH
from memory.model.outcome import Outcome
from memory.model.record import Draft, Kind
from memory.ports.memories import Filter
from memory.service.people import MAX_WAITING_NOTICES
from memory.turns.footer import UNDO
from tests.memory.rig import CLOSED, DIRECT, ROOM, Rig, memory_rig
from tests.support.prompts import prompt_of

DAY, WEEK = 86_400, 7 * 86_400
TABS = "I prefer tabs over spaces"
HEDGED = "The server may time out under load"


async def after(
    rig: Rig,
    *says: str,
    name: str = "ada",
    at: Place = DIRECT,
    alone: bool = True,
    soul: str = "",
    role: Role = Role.MEMBER,
) -> ShownFooter:
    """Return the footer of the answer to a message of which the model stores every sentence."""
    caller = rig.caller(name, at=at, says=". ".join(says), role=role)
    turn = await rig.remembrance.turn(replace(caller, alone=alone))
    for text in says:
        stored = {"type": "fact", "content": text, "quote": text}
        await turn.tools.call("memory_store", stored)
    if soul:
        await turn.tools.call("update_customer_brain", {"target": "soul", "content": soul})
    return (await turn.finish("ok", [])).shown(ENGLISH)


async def undo(rig: Rig, value: str = "", name: str = "ada", at: Place = DIRECT) -> str:
    return str((await rig.commands.run("undo", value, rig.caller(name, at=at))).markdown)


async def current(rig: Rig, name: str = "ada") -> list[str]:
    handle = await rig.handle(name)
    result = await handle.read.search(Filter(own_only=True))
    return sorted(match.record.content for match in result if not match.record.role)


async def soul(rig: Rig) -> str:
    version = await (await rig.handle()).documents.read("soul")
    return version.content if version is not None else ""


async def test_one_line_names_all_stored_memories_and_one_button_undoes_them() -> None:
    async with memory_rig() as rig:
        await after(rig, "I keep bees")
        reply = await after(rig, TABS, "I live in Bern", "I play chess", "I own a boat")
        assert reply.note.startswith(
            f"_Noted: “{TABS}” · “I live in Bern” · “I play chess” · 1 more"
        )
        assert "\n" not in reply.note
        (button,) = reply.buttons
        assert button.label == "Undo"
        pressed = await rig.commands.press(button.value, rig.caller())
        assert all(text in pressed.markdown for text in (TABS, "I own a boat"))
        assert await current(rig) == ["I keep bees"]


async def test_the_line_is_short_and_contains_no_formatting() -> None:
    async with memory_rig() as rig:
        reply = await after(
            rig, f"I like [this](https://evil.example) `and` {'that ' * 60}very much"
        )
        assert len(reply.note) < 200
        assert "\\[this\\](https://evil.example) \\`and\\`" in reply.note


async def test_the_typed_command_names_the_same_memories() -> None:
    async with memory_rig() as rig:
        first = await after(rig, TABS)
        await after(rig, "I live in Bern")
        name = first.typed.partition("`/undo ")[2].partition("`")[0]
        assert TABS in await undo(rig, name)
        assert await current(rig) == ["I live in Bern"]


@pytest.mark.parametrize("name", ["", "mem-", "mem-unknown", "soul-7", "bible-1", "%", "mem-%"])
async def test_another_person_cannot_undo(name: str) -> None:
    async with memory_rig() as rig:
        await after(rig, TABS, soul="Call me Ada.")
        with suppress(BadInput):
            await undo(rig, name, "bob")
        value = f"{UNDO}{(await rig.handle()).access.person}"
        with pytest.raises(NotFound):
            await rig.commands.press(value, rig.caller("bob"))
        assert (await current(rig), await soul(rig)) == ([TABS], "Call me Ada.")


async def test_a_linked_account_can_undo() -> None:
    async with memory_rig() as rig:
        ada, elsewhere = (
            rig.caller("ada"),
            rig.caller("ada-2", at=replace(DIRECT, account="second")),
        )
        await rig.link(ada, elsewhere)
        await after(rig, TABS)
        assert TABS in (await rig.commands.run("undo", "", elsewhere)).markdown


async def test_after_a_day_undo_is_refused() -> None:
    async with memory_rig() as rig:
        reply = await after(rig, TABS)
        await rig.clock.advance(DAY + 1)
        with pytest.raises(NotFound):
            await undo(rig)
        with pytest.raises(NotFound):
            await rig.commands.press(reply.buttons[0].value, rig.caller())
        assert await current(rig) == [TABS]


async def test_undo_restores_exactly_the_replaced_memories() -> None:
    async with memory_rig() as rig:
        await after(rig, TABS)
        reply = await after(rig, "I prefer spaces now, not tabs")
        assert reply.note.count("It replaces") == 1
        assert "Noted:" not in reply.note
        assert f"- {TABS}" in await undo(rig)
        assert await current(rig) == [TABS]


async def test_a_waiting_note_names_what_was_replaced_while_that_is_stored() -> None:
    new = "I prefer spaces now, not tabs"
    here = replace(DIRECT, platform=ROOM.platform, account=ROOM.account)
    for deleted in (False, True):
        async with memory_rig() as rig:
            old = await (await rig.handle(at=ROOM)).write.remember(Draft(TABS, Kind.PREFERENCE))
            assert (await after(rig, new, at=ROOM, alone=False)).note == ""
            handle = await rig.handle(at=here)
            if deleted:
                assert await handle.erasure.delete([old.memory_id])
            note = (await after(rig, at=here)).note
            assert (f"It replaces “{TABS}”" in note) == (not deleted)
            assert ("Noted in a group" in note) == deleted
            assert new in note
            assert "/undo" in note


async def test_a_confirmed_memory_is_not_undone() -> None:
    async with memory_rig() as rig:
        await after(rig, HEDGED)
        question = await (await rig.handle()).review.waiting()
        await rig.commands.press(f"memory:keep:{question[0].id}", rig.caller())
        with pytest.raises(NotFound):
            await undo(rig)
        assert await current(rig) == [HEDGED]


async def test_undo_restores_the_earlier_soul() -> None:
    async with memory_rig() as rig:
        first = await after(rig, soul="Call me Ada.")
        assert "I rewrote your preferences" in first.note
        second = await after(rig, soul="Call me Countess.")
        assert [button.label for button in second.buttons] == ["Undo preferences"]
        pressed = await rig.commands.press(first.buttons[0].value, rig.caller())
        assert "changed since" in pressed.markdown
        await rig.commands.press(second.buttons[0].value, rig.caller())
        assert await soul(rig) == "Call me Ada."
        versions = await (await rig.handle()).documents.versions("soul")
        assert [version.content for version in versions] == ["Call me Ada."]
        assert "I undid my change of your preferences" in await undo(rig, "soul-1")
        assert await soul(rig) == ""


async def test_in_a_group_a_note_waits_for_a_direct_message() -> None:
    async with memory_rig() as rig:
        for at, text in ((ROOM, TABS), (CLOSED, "I keep bees")):
            reply = await after(rig, text, at=at, alone=False)
            assert (reply.note, reply.buttons, reply.typed) == ("", (), "")
        await after(rig, HEDGED, at=ROOM, alone=False)
        later = await after(rig, name="ada")
        assert "Noted in a group" not in later.note, "a person is who they are on one platform"
        here = replace(DIRECT, platform=ROOM.platform, account=ROOM.account)
        later = await after(rig, at=here)
        assert later.note.count("Noted in a group") == 2
        assert "From a group, not stored yet: “The server may time out" in later.note
        assert (await after(rig, at=here)).note == ""


async def test_waiting_notes_are_limited_expire_and_are_removed_with_their_memories() -> None:
    async with memory_rig() as rig:
        here = replace(DIRECT, platform=ROOM.platform, account=ROOM.account)
        for number in range(MAX_WAITING_NOTICES + 3):
            await after(rig, f"I own boat number {number}{number}", at=ROOM, alone=False)
        gone = (await rig.commands.run("undo", "", rig.caller(at=ROOM))).markdown
        assert "deleted" in gone
        text = (await after(rig, at=here)).note
        assert text.count("Noted in a group") == MAX_WAITING_NOTICES - 1
        assert "number 00" not in text
        await after(rig, "I live in Bern", at=ROOM, alone=False)
        await rig.clock.advance(WEEK + 1)
        assert (await after(rig, at=here)).note == ""


async def test_waiting_notes_are_stored_without_text() -> None:
    async with memory_rig() as rig:
        await after(rig, TABS, at=ROOM, alone=False)
        caller = rig.caller(at=ROOM)
        person = str(caller.principal.person)
        arrival = await rig.stores.people.start_turn("default", person, "c", rig.clock.now())
        (entry,) = arrival.who.waiting_notices
        assert "tabs" not in entry


async def test_with_memory_off_the_model_has_no_tools_and_no_memories() -> None:
    async with memory_rig() as rig:
        await after(rig, TABS, soul="Call me Ada.")
        for place, answer in ((DIRECT, "memory off here"), (DIRECT, "memory off")):
            await rig.commands.run("privacy", answer, rig.caller(at=place))
            turn = await rig.remembrance.turn(rig.caller(says="hello"))
            assert (turn.keeps, turn.recalls, await turn.tools.tools()) == (False, False, ())
            prompt = await prompt_of(turn, "which editor do I like?")
            assert "tabs" not in prompt
            assert "Call me" not in prompt
            assert (await turn.finish("ok", [])).turn is None
            assert await rig.remembrance.suggested(rig.caller(), "tabs") == ()


async def test_with_memory_off_nothing_is_stored_and_everything_can_be_deleted() -> None:
    async with memory_rig() as rig:
        await after(rig, TABS)
        waiting = await rig.handle()
        await after(rig, HEDGED)
        (pending,) = await waiting.review.waiting()
        await rig.commands.run("privacy", "memory off", rig.caller())
        refused = (await rig.commands.run("remember", "I keep bees", rig.caller())).markdown
        assert "Memory is off for you" in refused
        handle = await rig.handle()
        assert (await handle.review.approve(pending.id)).outcome is Outcome.REFUSED
        assert await current(rig) == [TABS]
        assert TABS in await undo(rig)
        assert await current(rig) == []


@pytest.mark.parametrize(
    "written", ["memory", "memory maybe", "notes off here", "rooms on here", "off", "memory off x"]
)
async def test_an_invalid_choice_is_answered_with_the_valid_ones(written: str) -> None:
    async with memory_rig() as rig:
        with pytest.raises(Exception, match="/privacy memory off"):
            await rig.commands.run("privacy", written, rig.caller())


async def test_privacy_lists_the_choices() -> None:
    async with memory_rig() as rig:

        async def shown() -> str:
            return str((await rig.commands.run("privacy", "", rig.caller())).markdown)

        assert "Memory is on for you" in await shown()
        assert "I tell you what I noted" in await shown()
        await rig.commands.run("privacy", "memory off here", rig.caller())
        await rig.commands.run("privacy", "notes off", rig.caller())
        assert "Memory is off for you in this conversation" in await shown()
        assert "I do not tell you what I noted" in await shown()
        both = (await rig.commands.run("privacy", "memory off", rig.caller())).markdown
        assert "Memory is off for you." in both
        still = (await rig.commands.run("privacy", "memory on here", rig.caller())).markdown
        assert "still off" in still


async def test_choices_and_waiting_notes_are_erased_with_the_person() -> None:
    async with memory_rig() as rig:
        await after(rig, TABS, at=ROOM, alone=False)
        await rig.commands.run("privacy", "notes off", rig.caller(at=ROOM))
        handle = await rig.handle(at=ROOM)
        rows: list[Mapping[str, object]] = [
            row for row in await handle.privacy.export_all() if row["table"] == "people_choices"
        ]
        assert len(rows) == 1
        assert "waiting_notices" in json.dumps(rows[0])
        await handle.erasure.erase_all()
        again = await rig.handle(at=ROOM)
        assert (again.choices.notes, again.choices.waiting_notices) == (None, ())
