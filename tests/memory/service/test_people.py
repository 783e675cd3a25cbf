"""People in memory: sessions, projects, links, and the limits of a session."""

from datetime import timedelta

import pytest

from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.message import Place
from gateway.people import Audience, Role
from gateway.text import NO_TEXT
from memory.model.scope import RequestScope
from memory.service.people import SESSION_LIMITS, People, ProjectRules
from tests.memory.rig import CLOSED, DIRECT, ROOM, Rig, memory_rig

PROJECT = "discord:main:guild"
OTHER = replace(ROOM, workspace_id="shop", channel_id="shop-talk")
AT_HOME = Place("discord", "main", "dm", Audience.DIRECT)


async def start_turn(rig: Rig, name: str = "ada", at: Place = DIRECT) -> RequestScope:
    request, _ = await rig.people.start_turn(rig.caller(name, at=at))
    return request


async def test_the_project_of_a_room_is_the_room_and_in_private_there_is_none() -> None:
    async with memory_rig() as rig:
        assert (await start_turn(rig, at=ROOM)).project == PROJECT
        assert (await start_turn(rig, at=AT_HOME)).project == ""


async def test_a_session_ends_after_thirty_idle_minutes() -> None:
    async with memory_rig() as rig:
        first = (await start_turn(rig)).session
        await rig.clock.advance(29 * 60)
        assert (await start_turn(rig)).session == first
        await rig.clock.advance(29 * 60)
        assert (await start_turn(rig)).session == first
        await rig.clock.advance(31 * 60)
        assert (await start_turn(rig)).session != first
        assert (await start_turn(rig, "bob")).session != (await start_turn(rig)).session


@pytest.mark.parametrize("what", ["stores", "supersedes", "deletes"])
async def test_a_session_has_a_limited_number_of_uses(what: str) -> None:
    async with memory_rig() as rig:
        _, arrival = await rig.people.start_turn(rig.caller())
        used = [await rig.people.use(arrival.session, what) for _ in range(25)]  # type: ignore[arg-type]
        assert used.count(True) == SESSION_LIMITS[what]  # type: ignore[index]
        assert used == sorted(used, reverse=True)


async def test_a_project_is_chosen_by_number_id_or_title() -> None:
    async with memory_rig() as rig:
        home = await start_turn(rig, at=AT_HOME)
        with pytest.raises(BadInput, match="no project"):
            await rig.people.choose_project(home, "1")
        for room in (ROOM, CLOSED, OTHER):
            await start_turn(rig, at=room)
        known = [project for project, _ in await rig.people.projects(home)]
        assert sorted(known) == [PROJECT, "discord:main:shop"]
        for expected in ("2", known[1], known[1].upper()):
            await rig.people.choose_project(home, "none")
            assert (await start_turn(rig, at=AT_HOME)).project == ""
            await rig.people.choose_project(home, expected)
            assert (await start_turn(rig, at=AT_HOME)).project == known[1]
        for expected in ("3", "0", "telegram:main:x", ""):
            with pytest.raises(BadInput, match="no project"):
                await rig.people.choose_project(home, expected)
        with pytest.raises(BadInput):
            await rig.people.choose_project(await start_turn(rig, "bob", AT_HOME), "1")


async def at_home(rig: Rig, name: str = "ada") -> RequestScope:
    """Seen in the room, and at home with its project chosen."""
    await start_turn(rig, name, ROOM)
    await rig.people.choose_project(await start_turn(rig, name, AT_HOME), PROJECT)
    home = await start_turn(rig, name, AT_HOME)
    assert home.project == PROJECT
    return home


async def test_a_departed_person_loses_the_project_and_is_told_once() -> None:
    async with memory_rig() as rig:
        await at_home(rig)
        await at_home(rig, "bob")
        await rig.people.left(rig.tenant, ROOM, "discord:main:ada")
        home = await start_turn(rig, at=AT_HOME)
        assert (home.project, "You are not in" in home.notice.english) == ("", True)
        assert (await start_turn(rig, at=AT_HOME)).notice == NO_TEXT
        assert not await rig.people.reaches(home, PROJECT)
        assert (await start_turn(rig, "bob", AT_HOME)).project == PROJECT
        await at_home(rig)


async def test_without_the_bot_nobody_has_access_to_the_project() -> None:
    async with memory_rig() as rig:
        await at_home(rig)
        await at_home(rig, "bob")
        await rig.people.left(rig.tenant, ROOM, "")
        for name in ("ada", "bob"):
            assert (await start_turn(rig, name, AT_HOME)).project == ""
        assert await rig.people.projects(await start_turn(rig, at=AT_HOME)) == []


async def test_leaving_a_direct_message_leaves_no_project() -> None:
    async with memory_rig() as rig:
        await at_home(rig)
        await rig.people.left(rig.tenant, AT_HOME, "discord:main:ada")
        assert (await start_turn(rig, at=AT_HOME)).project == PROJECT


async def test_a_person_reported_as_departed_regains_access_after_writing() -> None:
    async with memory_rig() as rig:
        home = await at_home(rig)
        rig.members.gone.add(("discord:main:ada", PROJECT))
        assert (await start_turn(rig, at=AT_HOME)).project == ""
        with pytest.raises(BadInput, match="no project"):
            await rig.people.choose_project(home, "1")
        rig.members.gone.clear()
        with pytest.raises(BadInput, match="no project"):
            await rig.people.choose_project(home, "1")
        await at_home(rig)


async def test_a_platform_without_an_answer_denies_access_and_keeps_the_choice() -> None:
    async with memory_rig() as rig:
        await at_home(rig)
        rig.members.silent.add(("discord:main:ada", PROJECT))
        home = await start_turn(rig, at=AT_HOME)
        assert (home.project, "does not say" in home.notice.english) == ("", True)
        with pytest.raises(BadInput, match="cannot confirm that you are in"):
            await rig.people.choose_project(home, "1")
        rig.members.silent.clear()
        assert (await start_turn(rig, at=AT_HOME)).project == PROJECT


async def test_access_to_a_project_ends_thirty_days_after_the_last_visit() -> None:
    async with memory_rig() as rig:
        await at_home(rig)
        await rig.clock.advance(timedelta(days=20).total_seconds())
        await start_turn(rig, at=ROOM)
        await rig.clock.advance(timedelta(days=29).total_seconds())
        assert (await start_turn(rig, at=AT_HOME)).project == PROJECT
        await rig.clock.advance(timedelta(days=1).total_seconds())
        assert (await start_turn(rig, at=AT_HOME)).project == ""
        assert await rig.people.projects(await start_turn(rig, at=AT_HOME)) == []


async def test_no_document_of_a_lost_project_is_returned() -> None:
    async with memory_rig() as rig:
        await at_home(rig)
        root = await rig.handle("root", at=ROOM, role=Role.OPERATOR)
        await root.documents.write("bible", "The word is halibut.")
        assert "halibut" in (await (await rig.handle(at=AT_HOME)).brain_parts()).bible
        rig.members.gone.add(("discord:main:ada", PROJECT))
        assert (await (await rig.handle(at=AT_HOME)).brain_parts()).bible == ""


async def test_a_visit_of_a_linked_identity_gives_access_to_the_project() -> None:
    async with memory_rig() as rig:
        await at_home(rig)
        await rig.link(rig.caller("ada", at=AT_HOME), rig.caller("ada2"))
        away = await start_turn(rig, "ada2")
        await rig.people.choose_project(away, PROJECT)
        assert (await start_turn(rig, "ada2")).project == PROJECT
        await rig.links.unlink(rig.tenant, str(away.principal.person))
        assert (await start_turn(rig, "ada2")).project == ""


async def test_an_outside_person_has_no_access_to_any_project() -> None:
    async with memory_rig() as rig:
        await at_home(rig)
        for place in (ROOM, AT_HOME):
            request, arrival = await rig.people.start_turn(rig.caller(at=place, outside=True))
            assert request.project == ""
            assert set(arrival.documents) <= {"soul"}
            assert await rig.people.projects(request) == []
            assert not await rig.people.reaches(request, PROJECT)
        await rig.people.start_turn(rig.caller("eve", at=ROOM, outside=True))
        assert await rig.people.projects(await start_turn(rig, "eve", AT_HOME)) == []


async def test_a_room_with_outside_people_has_no_project_unless_configured() -> None:
    async with memory_rig() as rig:
        shared = replace(ROOM, outsiders=True)
        assert (await start_turn(rig, at=shared)).project == ""
        assert await rig.people.projects(await start_turn(rig, at=AT_HOME)) == []
        for name in ("general", "discord:general"):
            rules = ProjectRules(shared_rooms=frozenset({name}))
            people = People(rig.stores.people, rig.clock, rig.members, rules)
            request, _ = await people.start_turn(rig.caller("bob", at=shared))
            assert request.project == PROJECT
