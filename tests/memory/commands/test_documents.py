"""`/soul` and `/bible`: shown, written, undone, and proposed where one may not."""

import pytest

from gateway.errors import BadInput
from gateway.people import Role
from memory.documents.figure_sources import SourceFailed
from tests.memory.rig import DIRECT, ROOM, EnglishReply, Rig, memory_rig

AT_HOME = DIRECT.__class__("discord", "main", "dm", DIRECT.audience)
PROJECT = "discord:main:guild"


async def say(rig: Rig, line: str, name: str = "ada", **where: object) -> EnglishReply:
    command, _, arguments = line.removeprefix("/").partition(" ")
    return await rig.commands.run(command, arguments, rig.caller(name, **where))  # type: ignore[arg-type]


async def test_a_soul_is_written_shown_and_undone() -> None:
    async with memory_rig() as rig:
        assert "You have set no preferences yet" in (await say(rig, "/soul")).markdown
        text = (await say(rig, "/soul Be short.\n\nNever use *emoji*.")).markdown
        assert text == "Saved as version 1 of the preferences."
        shown = (await say(rig, "/soul")).markdown
        assert shown.startswith(
            "> Be short.\n>\n> Never use \\*emoji\\*.\n\n_Version 1, 2026-11-21."
        )
        await say(rig, "/soul Be long.")
        assert "version 3" in (await say(rig, "/soul undo")).markdown
        assert "Be short." in (await say(rig, "/soul")).markdown
        assert "You have set no preferences yet" in (await say(rig, "/soul", "bob")).markdown


@pytest.mark.parametrize("line", ["/soul", "/soul Be short.", "/soul undo"])
async def test_a_soul_is_not_shown_in_a_room(line: str) -> None:
    async with memory_rig() as rig:
        await say(rig, "/soul Be short.", at=AT_HOME)
        await rig.people.show_private(rig.caller("ada", at=ROOM).principal, True)
        with pytest.raises(BadInput, match="direct message"):
            await say(rig, line, at=ROOM)


async def test_text_removed_from_a_soul_is_reported() -> None:
    async with memory_rig() as rig:
        token = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cD3fG5"
        assert "removed" in (await say(rig, f"/soul I use {token}.")).markdown
        assert token not in (await say(rig, "/soul")).markdown


async def test_operators_write_the_bible_and_members_see_it() -> None:
    async with memory_rig() as rig:
        assert "a place on Discord" in (await say(rig, "/bible", at=ROOM)).markdown
        reply = await say(rig, "/bible We sell tea.", "root", at=ROOM, role=Role.OPERATOR)
        assert reply.markdown == "Saved as version 2 of the project notes."
        assert "We sell tea." in (await say(rig, "/bible", at=ROOM)).markdown
        await say(rig, "/bible undo", "root", at=ROOM, role=Role.OPERATOR)
        assert "a place on Discord" in (await say(rig, "/bible", at=ROOM)).markdown


async def test_a_proposal_of_a_member_is_decided_by_an_operator() -> None:
    async with memory_rig() as rig:
        text = (await say(rig, "/bible We sell tea.\nAnd _milk_.", at=ROOM)).markdown
        assert "proposed it" in text
        assert "We sell tea." not in (await say(rig, "/bible", at=ROOM)).markdown
        assert "Nothing waits" in (await say(rig, "/memories review", at=ROOM)).markdown
        as_operator = {"at": ROOM, "role": Role.OPERATOR}
        reply = await say(rig, "/memories review", "root", **as_operator)
        assert "Replace the project notes with this?" in reply.markdown
        assert "> We sell tea.\n>\n> And \\_milk\\_." in reply.markdown
        keep = reply.buttons[0].value
        with pytest.raises(BadInput):
            await rig.commands.press(keep, rig.caller("ada", at=ROOM))
        await rig.commands.press(keep, rig.caller("root", at=ROOM, role=Role.OPERATOR))
        assert "We sell tea." in (await say(rig, "/bible", at=ROOM)).markdown


async def test_a_bible_requires_a_project() -> None:
    async with memory_rig() as rig:
        for line in ("/bible", "/bible We sell tea.", "/bible undo"):
            with pytest.raises(BadInput, match="/project"):
                await say(rig, line, at=AT_HOME)


async def test_project_shows_the_age_of_the_figures() -> None:
    class Broken:
        async def figures(self) -> dict[str, object]:
            raise SourceFailed("shop.example.org answered with status 500")

    async with memory_rig() as rig:
        await rig.handle("ada", at=ROOM)
        assert "status" not in (await say(rig, "/project", at=AT_HOME)).markdown
        await say(rig, "/project 1", at=AT_HOME)
        assert (
            "This project has no status yet." in (await say(rig, "/project", at=AT_HOME)).markdown
        )
        await rig.brain.set_heartbeat("default", PROJECT, "3 members.", rig.clock.now())
        text = (await say(rig, "/project", at=AT_HOME)).markdown
        assert text.endswith("The status of this project is from 2026-11-21 09:00 UTC.")
        with pytest.raises(SourceFailed):
            await rig.sync.sync_site("default", PROJECT, Broken())
        text = (await say(rig, "/project", at=AT_HOME)).markdown
        assert text.endswith("09:00 UTC. Its last update failed.")
        text = (await say(rig, "/project", at=AT_HOME, role=Role.OPERATOR)).markdown
        assert "Its last update failed: shop.example.org answered with status 500" in text


async def test_an_undo_repeated_after_a_failure_goes_back_one_version() -> None:
    async with memory_rig() as rig:
        for text in ("Be short.", "Be kind.", "Be loud."):
            await say(rig, f"/soul {text}")
        caller = rig.caller("ada")
        for _ in range(2):
            await rig.commands.run("soul", "undo", caller)
            assert "Be kind." in (await say(rig, "/soul")).markdown
        await say(rig, "/soul undo")
        assert "Be short." in (await say(rig, "/soul")).markdown
