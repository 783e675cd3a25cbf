"""The documents in the prompt: each inside its block, and nothing private in a room."""

import pytest

from gateway.message import Place
from gateway.people import Role
from memory.turns.turn import SKILL
from tests.memory.rig import CLOSED, DIRECT, ROOM, Rig
from tests.support.prompts import prompt_of as whole_prompt


async def prompt_of(rig: Rig, name: str, at: Place) -> str:
    return await whole_prompt(await rig.remembrance.turn(rig.caller(name, at=at)))


@pytest.fixture
async def written(rig: Rig) -> Rig:
    """Ada and Bob have a SOUL each, and the project what it has."""
    at_home = DIRECT.__class__("discord", "main", "dm", DIRECT.audience)
    for name in ("ada", "bob"):
        await (await rig.handle(name, at=at_home)).documents.write("soul", f"I am {name}'s soul.")
    root = await rig.handle("root", at=ROOM, role=Role.OPERATOR)
    await root.documents.write("bible", "We sell tea.")
    await rig.brain.set_heartbeat("default", root.access.project, "3 members.", rig.clock.now())
    return rig


@pytest.mark.parametrize("place", [ROOM, CLOSED])
async def test_the_prompt_in_a_room_contains_no_soul(written: Rig, place: Place) -> None:
    prompt = await prompt_of(written, "ada", place)
    assert "soul." not in prompt
    assert "<soul>" not in prompt.removeprefix(SKILL)
    assert "We sell tea." in prompt
    assert "3 members." in prompt


async def test_a_person_who_allows_it_uses_their_own_soul_in_a_room(written: Rig) -> None:
    await written.people.show_private(written.caller("ada", at=ROOM).principal, True)
    prompt = await prompt_of(written, "ada", ROOM)
    assert "I am ada's soul." in prompt
    assert "bob's" not in prompt
    assert "soul." not in await prompt_of(written, "bob", ROOM)


async def test_the_prompt_in_private_contains_the_soul_and_the_chosen_project(written: Rig) -> None:
    at_home = DIRECT.__class__("discord", "main", "dm", DIRECT.audience)
    prompt = await prompt_of(written, "ada", at_home)
    assert "I am ada's soul." in prompt
    assert "We sell tea." not in prompt
    ada = await written.handle("ada", at=ROOM)
    await written.people.choose_project(ada.request, ada.access.project)
    prompt = await prompt_of(written, "ada", at_home)
    assert "We sell tea." in prompt
    assert "3 members." in prompt
    assert "bob" not in prompt


async def test_the_prompt_contains_no_documents_of_another_project(written: Rig) -> None:
    other = ROOM.__class__("discord", "main", "hall", ROOM.audience, "other-guild")
    prompt = await prompt_of(written, "ada", other)
    assert "We sell tea." not in prompt
    assert "3 members." not in prompt
