"""`/project` in rooms: an operator binds a room to a project, whose repositories are read there."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.errors import BadInput
from gateway.immutable import replace
from gateway.message import Place
from gateway.people import Role
from memory.knowledge.access import KnowledgeReader
from parley.wiring.storage import MemoryStores
from tests.memory.knowledge.hits import HIT, REPOSITORY, GivenHits
from tests.memory.rig import CLOSED, DIRECT, ROOM, Rig, rig_on
from tests.support.clock import FakeClock
from tests.support.databases import sqlite_database

TEAM = "slack:main:T1"
HERE = "discord:main:guild:staff"


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    """A memory, and one private repository of the project TEAM."""
    clock, database = FakeClock(), sqlite_database(tmp_path / "test.db")
    await database.start()
    stores = MemoryStores(database, clock)
    result = GivenHits([replace(HIT, repository=replace(REPOSITORY, project=TEAM, private=True))])
    reader = KnowledgeReader(result, stores.room_bindings)
    yield rig_on(stores, database, clock, repositories=reader)
    await database.stop()


async def says(
    rig: Rig,
    text: str = "",
    *,
    role: Role = Role.OPERATOR,
    at: Place = CLOSED,
    outside: bool = False,
) -> str:
    caller = rig.caller("olga", at=at, role=role, outside=outside)
    return str((await rig.commands.run("project", text, caller)).markdown)


async def test_a_bound_room_reads_the_repositories_of_the_project(rig: Rig) -> None:
    assert "no repository" in await says(rig)
    assert f"bound to the project `{TEAM}`" in await says(rig, f"bind {TEAM}")
    shown = await says(rig, role=Role.MEMBER)
    assert f"bound this channel to the project `{TEAM}`" in shown
    assert "search here: `shop`" in shown
    assert "no repository" in await says(rig, at=ROOM), "another room of the same server"


async def test_a_thread_belongs_to_its_channel(rig: Rig) -> None:
    await says(rig, f"bind {TEAM}")
    assert "`shop`" in await says(rig, at=replace(CLOSED, thread_id="9", closed_thread=True))


async def test_an_unbound_room_reads_them_no_longer(rig: Rig) -> None:
    await says(rig, f"bind `{TEAM}`")
    assert f"no longer bound to the project `{TEAM}`" in await says(rig, "unbind")
    assert "no repository" in await says(rig)
    assert "not bound" in await says(rig, "unbind")


async def test_a_public_room_does_not_read_private_repositories(rig: Rig) -> None:
    await says(rig, f"bind {TEAM}", at=ROOM)
    shown = await says(rig, at=ROOM)
    assert f"`{TEAM}`" in shown
    assert "no repository" in shown


@pytest.mark.parametrize("text", [f"bind {TEAM}", "unbind"])
async def test_only_operators_bind(rig: Rig, text: str) -> None:
    await says(rig, "bind slack:main:T2")
    for role, outside in ((Role.MEMBER, False), (Role.GUEST, False), (Role.OWNER, True)):
        with pytest.raises(BadInput, match="Only operators"):
            await says(rig, text, role=role, outside=outside)
    assert "`slack:main:T2`" in await says(rig)


async def test_a_room_with_outsiders_is_not_bound(rig: Rig) -> None:
    with pytest.raises(BadInput, match="other companies"):
        await says(rig, f"bind {TEAM}", at=replace(CLOSED, outsiders=True))


async def test_a_direct_message_is_not_bound(rig: Rig) -> None:
    with pytest.raises(BadInput, match="You have no project"):
        await says(rig, f"bind {TEAM}", at=DIRECT)


@pytest.mark.parametrize("text", ["bind", "bind nothing", "bind a b c", "bind ::", "unbind x"])
async def test_a_project_is_named_completely(rig: Rig, text: str) -> None:
    with pytest.raises(BadInput, match=r"slack:main:T0123|/project unbind"):
        await says(rig, text)


async def test_operators_read_the_name_of_the_room(rig: Rig) -> None:
    assert f"`{HERE}`" in await says(rig)
    assert HERE not in await says(rig, role=Role.MEMBER)


async def test_every_change_is_in_the_audit(rig: Rig) -> None:
    await says(rig, f"bind {TEAM}")
    await says(rig, "unbind")
    await says(rig, "unbind")
    noted = [entry for entry in rig.noted.entries if entry.action == "room_binding"]
    details = {"channel": HERE, "project": TEAM}
    assert [dict(entry.details) for entry in noted] == [
        {"step": "bound", **details}, {"step": "unbound", **details}
    ]  # fmt: skip
    assert {entry.person for entry in noted} == {"discord:main:olga"}


async def test_another_tenant_has_bindings_of_its_own(rig: Rig) -> None:
    await says(rig, f"bind {TEAM}")
    rig.tenant = "other"
    assert TEAM not in await says(rig)
