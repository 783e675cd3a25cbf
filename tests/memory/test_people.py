"""Who asks, as memory knows them: sessions, projects, links, and what a session may use up."""

from dataclasses import replace
from datetime import timedelta

import pytest

from gateway.errors import BadInput
from gateway.message import Place
from gateway.people import Audience
from memory.people import LINK_TRIES, LINK_VALID, SESSION_LIMITS
from memory.scope import Occasion
from tests.memory.rig import CLOSED, DIRECT, ROOM, Rig, memory_rig

PROJECT = "discord:main:guild"
OTHER = replace(ROOM, workspace_id="shop", channel_id="shop-talk")
AT_HOME = Place("discord", "main", "dm", Audience.DIRECT)


async def arrive(rig: Rig, name: str = "ada", at: Place = DIRECT) -> Occasion:
    occasion, _ = await rig.people.arrive(rig.asker(name, at=at))
    return occasion


async def test_in_a_room_the_project_is_the_room_s_and_in_private_none_is() -> None:
    async with memory_rig() as rig:
        assert (await arrive(rig, at=ROOM)).project == PROJECT
        assert (await arrive(rig, at=AT_HOME)).project == ""


async def test_a_session_ends_after_thirty_idle_minutes() -> None:
    async with memory_rig() as rig:
        first = (await arrive(rig)).session
        await rig.clock.advance(29 * 60)
        assert (await arrive(rig)).session == first
        await rig.clock.advance(29 * 60)
        assert (await arrive(rig)).session == first
        await rig.clock.advance(31 * 60)
        assert (await arrive(rig)).session != first
        assert (await arrive(rig, "bob")).session != (await arrive(rig)).session


@pytest.mark.parametrize("what", ["stores", "supersedes", "deletes"])
async def test_a_session_has_a_share_that_is_used_up(what: str) -> None:
    async with memory_rig() as rig:
        _, arrival = await rig.people.arrive(rig.asker())
        used = [await rig.people.use(arrival.session, what) for _ in range(25)]  # type: ignore[arg-type]
        assert used.count(True) == SESSION_LIMITS[what]  # type: ignore[index]
        assert used == sorted(used, reverse=True)


async def test_a_project_is_chosen_by_number_id_or_title_of_those_one_was_seen_in() -> None:
    async with memory_rig() as rig:
        home = await arrive(rig, at=AT_HOME)
        with pytest.raises(BadInput, match="no project"):
            await rig.people.choose_project(home, "1")
        for room in (ROOM, CLOSED, OTHER):
            await arrive(rig, at=room)
        known = [project for project, _ in await rig.people.projects(home)]
        assert sorted(known) == [PROJECT, "discord:main:shop"]
        for wanted in ("2", known[1], known[1].upper()):
            await rig.people.choose_project(home, "none")
            assert (await arrive(rig, at=AT_HOME)).project == ""
            await rig.people.choose_project(home, wanted)
            assert (await arrive(rig, at=AT_HOME)).project == known[1]
        for wanted in ("3", "0", "telegram:main:x", ""):
            with pytest.raises(BadInput, match="no project"):
                await rig.people.choose_project(home, wanted)
        with pytest.raises(BadInput):
            await rig.people.choose_project(await arrive(rig, "bob", AT_HOME), "1")


async def test_two_identities_become_one_and_two_again() -> None:
    async with memory_rig() as rig:
        ada, away = rig.asker(), rig.asker("ada2", at=AT_HOME)
        code = await rig.people.link_code(ada.principal)
        spoken = code.replace("-", " ").lower()
        assert await rig.people.link(away.principal, spoken) == str(ada.principal.person)
        assert set((await arrive(rig)).persons) == {
            str(ada.principal.person),
            str(away.principal.person),
        }
        with pytest.raises(BadInput, match="not valid"):
            await rig.people.link(rig.asker("eve", at=AT_HOME).principal, code)
        assert await rig.people.unlink(away.principal) == 1
        assert (await arrive(rig)).persons == (str(ada.principal.person),)


async def test_a_code_is_good_for_ten_minutes() -> None:
    async with memory_rig() as rig:
        code = await rig.people.link_code(rig.asker().principal)
        await rig.clock.advance(LINK_VALID.total_seconds())
        with pytest.raises(BadInput, match="not valid"):
            await rig.people.link(rig.asker("ada2", at=AT_HOME).principal, code)


async def test_nobody_guesses_a_code() -> None:
    async with memory_rig() as rig:
        eve = rig.asker("eve", at=AT_HOME).principal
        for _ in range(LINK_TRIES):
            with pytest.raises(BadInput, match="not valid"):
                await rig.people.link(eve, "0000-0000-0000")
        code = await rig.people.link_code(rig.asker().principal)
        with pytest.raises(BadInput, match="too many"):
            await rig.people.link(eve, code)
        await rig.clock.advance(timedelta(minutes=10, seconds=1).total_seconds())
        fresh = await rig.people.link_code(rig.asker().principal)
        assert await rig.people.link(eve, fresh)
