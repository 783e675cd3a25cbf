"""What may contradict is marked for the model and the person, who is asked which is true."""

import json

import pytest

from gateway.immutable import replace
from gateway.message import Place
from gateway.text import ENGLISH
from memory.model.record import Draft, Kind, short_id
from memory.ports.memories import Filter
from tests.memory.rig import DIRECT, ROOM, Rig, memory_rig
from tests.support.prompts import prompt_of

OLD, NEW = "My name is Jon", "My name is John"
QUESTION = f"Is this still true? “{OLD}” You also said: “{NEW}”"
LABELS = ["Only the new one", "Only the old one", "Both are true"]


async def two(rig: Rig, old: str = OLD, new: str = NEW) -> list[str]:
    """Return the ids of two memories of Ada."""
    ada = await rig.handle("ada")
    results = [await ada.write.remember(Draft(text, Kind.FACT)) for text in (old, new)]
    return [result.memory_id for result in results]


async def note(rig: Rig, *, at: Place = DIRECT, name: str = "ada") -> tuple[str, dict[str, str]]:
    """Return the footer of an answer to something else, and its buttons."""
    turn = await rig.remembrance.turn(rig.caller(name, at=at, says="what is new?"))
    after = (await turn.finish("Nothing.", [])).shown(ENGLISH)
    return after.note, {button.label: button.value for button in after.buttons}


async def current(rig: Rig) -> list[str]:
    found = await (await rig.handle("ada")).read.search(Filter(turns=False))
    return sorted(match.record.content for match in found)


@pytest.mark.parametrize(
    ("answer", "kept", "said"),
    [
        (LABELS[0], [NEW], f"I now remember “{NEW}”. It replaces “{OLD}”."),
        (LABELS[1], [OLD], f"I now remember “{OLD}”. It replaces “{NEW}”."),
        (LABELS[2], [NEW, OLD], "I keep both."),
    ],
)
async def test_the_person_is_asked_below_an_answer_and_decides(
    answer: str, kept: list[str], said: str
) -> None:
    async with memory_rig() as rig:
        ids = await two(rig)
        text, buttons = await note(rig)
        assert text == f"_{QUESTION}_"
        assert list(buttons) == LABELS
        assert all(len(value.encode()) <= 64 for value in buttons.values())
        assert all(len(label) <= 20 for label in buttons)
        refused = await _pressed_by(rig, "bob", buttons[answer])
        assert "decided already" in refused
        reply = await rig.commands.press(buttons[answer], rig.caller("ada"))
        assert reply.markdown == said
        assert await current(rig) == kept
        assert "decided already" in await _pressed_by(rig, "ada", buttons[answer])
        restores = {button.label: button.value for button in reply.buttons}
        assert list(restores) == ([] if len(kept) == 2 else ["Restore"])
        if restores:
            assert all(len(value.encode()) <= 64 for value in restores.values())
            again = await rig.commands.press(restores["Restore"], rig.caller("ada"))
            assert "I remember this again" in again.markdown
            assert await current(rig) == [NEW, OLD]
            assert len(await (await rig.handle("ada")).contradictions.marks()) == len(ids)


async def _pressed_by(rig: Rig, name: str, value: str) -> str:
    try:
        return (await rig.commands.press(value, rig.caller(name))).markdown
    except Exception as error:  # noqa: BLE001 - the words for the person are compared
        return str(error)


async def test_one_question_a_day_and_none_in_a_room_or_to_others() -> None:
    async with memory_rig() as rig:
        await two(rig)
        await rig.clock.advance(1)
        await two(rig, "My birthday is 3 May", "My birthday is 4 May")
        assert await note(rig, at=ROOM) == ("", {})
        assert await note(rig, name="bob") == ("", {})
        assert OLD in (await note(rig))[0]
        assert await note(rig) == ("", {})
        await rig.clock.advance(24 * 3_600 + 1)
        assert "birthday" in (await note(rig))[0]
        await rig.clock.advance(24 * 3_600 + 1)
        assert await note(rig) == ("", {})


async def test_nothing_is_asked_below_another_question_or_note() -> None:
    async with memory_rig() as rig:
        await two(rig)
        says = "I own a sailing boat"
        turn = await rig.remembrance.turn(rig.caller("ada", says=says))
        await turn.tools.call("memory_store", {"type": "fact", "content": "x", "quote": says})
        after = (await turn.finish("Fine.", ["memory_store"])).shown(ENGLISH)
        assert "Still true" not in after.note
        assert [button.label for button in after.buttons] == ["Undo"]
        assert list((await note(rig))[1]) == LABELS


async def test_nothing_is_asked_while_memory_is_off() -> None:
    async with memory_rig() as rig:
        await two(rig)
        await (await rig.handle("ada")).privacy.choose(memory=False)
        assert await note(rig) == ("", {})


async def test_the_model_reads_the_mark_in_the_brief_knowledge_and_search() -> None:
    async with memory_rig() as rig:
        old, new = await two(rig)
        turn = await rig.remembrance.turn(rig.caller("ada", says="what is my name?"))
        brief = (await turn.prompt_parts()).brief
        for one, other in ((old, new), (new, old)):
            assert f"{short_id(one)} [may contradict {short_id(other)}]" in brief
        items = await turn.knowledge("what is my name?")
        assert {item.label for item in items} == {
            f"may contradict {short_id(old)}",
            f"may contradict {short_id(new)}",
        }
        found = json.loads(await turn.tools.call("memory_search", {"query": "name"}))["results"]
        assert {one["id"]: one["may_contradict"] for one in found} == {old: [new], new: [old]}
        await (await rig.handle("ada")).contradictions.settle(old, new, "both")
        turn = await rig.remembrance.turn(rig.caller("ada", says="what is my name?"))
        assert "may contradict" not in await prompt_of(turn)
        assert "may_contradict" not in await turn.tools.call("memory_search", {"query": "name"})


async def test_a_mark_appears_in_a_chat_that_already_reads_the_older_memory() -> None:
    async with memory_rig() as rig:
        await (await rig.handle("ada")).write.remember(Draft(OLD, Kind.FACT))
        turn = await rig.remembrance.turn(rig.caller("ada", says="hello"))
        before = (await turn.prompt_parts()).brief
        assert OLD in before
        turn = await rig.remembrance.turn(rig.caller("ada", says="hello again"))
        assert (await turn.prompt_parts()).brief == before
        await rig.clock.advance(60)
        await (await rig.handle("ada")).write.remember(Draft(NEW, Kind.FACT))
        turn = await rig.remembrance.turn(rig.caller("ada", says="what is my name?"))
        after = (await turn.prompt_parts()).brief
        assert after.count("may contradict") == 2


async def test_in_a_room_no_mark_names_a_memory_from_elsewhere() -> None:
    async with memory_rig() as rig:
        same = replace(DIRECT, platform=ROOM.platform, account=ROOM.account)
        there, here = await rig.handle("ada", at=ROOM), await rig.handle("ada", at=same)
        await there.write.remember(Draft(OLD, Kind.FACT))
        kept = await here.write.remember(Draft(NEW, Kind.FACT))
        assert len(await here.contradictions.marks()) == 2
        turn = await rig.remembrance.turn(rig.caller("ada", at=ROOM, says="what is my name?"))
        prompt = await prompt_of(turn)
        assert OLD in prompt
        assert "may contradict" not in prompt
        assert short_id(kept.memory_id) not in prompt
        listed = (await rig.commands.run("memories", "", rig.caller("ada", at=ROOM))).markdown
        assert "may contradict" not in listed


async def test_the_list_and_the_review_show_what_may_contradict() -> None:
    async with memory_rig() as rig:
        old, new = await two(rig)
        for words in ("", "name"):
            listed = (await rig.commands.run("memories", words, rig.caller("ada"))).markdown
            assert f"_may contradict `{short_id(old)}`_" in listed
            assert f"_may contradict `{short_id(new)}`_" in listed
        for _ in range(2):
            reply = await rig.commands.run("memories", "review", rig.caller("ada"))
            assert reply.markdown == QUESTION
            assert [button.label for button in reply.buttons] == LABELS
        await rig.commands.press(reply.buttons[2].value, rig.caller("ada"))
        reply = await rig.commands.run("memories", "review", rig.caller("ada"))
        assert reply.buttons == ()


async def test_a_replacement_is_restored_with_one_press_from_each_place() -> None:
    old, new = "My phone number is 12", "My phone number is 34 now"
    async with memory_rig() as rig:
        await (await rig.handle("ada")).write.remember(Draft(old, Kind.FACT))
        reply = await rig.commands.run("remember", new, rig.caller("ada"))
        assert "It replaces" in reply.markdown
        (button,) = reply.buttons
        assert button.label == "Restore"
        await rig.commands.press(button.value, rig.caller("ada"))
        assert await current(rig) == [old, new]
    async with memory_rig() as rig:
        await (await rig.handle("ada")).write.remember(Draft(old, Kind.FACT))
        turn = await rig.remembrance.turn(rig.caller("ada", says=new))
        await turn.tools.call("memory_store", {"type": "fact", "content": "x", "quote": new})
        after = (await turn.finish("Noted.", ["memory_store"])).shown(ENGLISH)
        assert [button.label for button in after.buttons] == ["Undo", "Restore"]
        await rig.commands.press(after.buttons[1].value, rig.caller("ada"))
        assert await current(rig) == [old, new]
