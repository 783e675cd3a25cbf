"""The role in which `parley memory` acts for a person is the one that they have in chat."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import yaml

from gateway.message import Place
from gateway.people import Audience, KnownIds, Role
from gateway.ports import keep_ids
from gateway.ports.admissions import Applicant
from gateway.ports.clock import SystemClock
from memory.service.handle import MemoryHandle
from parley.cli.memory_access import with_memory
from parley.config import Settings, load
from parley.wiring.access import AccessControl, wire_access
from parley.wiring.storage import Storage
from tests.support.databases import migrated_database

PLACE = Place("telegram", "main", "7", Audience.DIRECT)
ADA = Applicant("default", "telegram:main:7", "Ada", PLACE)


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))]
)
def config(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    url = (
        f"sqlite:///{tmp_path}/parley.db"
        if request.param == "sqlite"
        else migrated_database(request.getfixturevalue("postgres"))
    )
    sections = {
        "storage": {"url": f"sqlite:///{tmp_path}/parley.db"},
        "database": {"url": url},
        "access": {"operators": ["telegram:an-older-id"]},
    }
    path = tmp_path / "parley.yaml"
    path.write_text(yaml.safe_dump(sections))
    return path


async def beside(config: Path, job: Callable[[AccessControl, Storage], Awaitable[object]]) -> None:
    """Do something in the database, as the running program does."""
    settings = load(config, {})
    storage = Storage(settings, SystemClock())
    await storage.start(exclusive=False)
    try:
        await job(wire_access(settings, storage, SystemClock()), storage)
    finally:
        await storage.stop()


async def role_of_ada(config: Path) -> Role:
    async def job(handle: MemoryHandle, _: Settings) -> Role:
        return handle.request.principal.role

    return await asyncio.to_thread(with_memory, ADA.person, config, job, allow_unknown=True)


async def claims(access: AccessControl, storage: Storage) -> None:
    made = await access.owner_codes.create()
    claim = await access.claims.claim(ADA, made.code)
    assert claim is not None
    assert claim.outcome == "claimed"


async def empty(_: AccessControl, __: Storage) -> None:
    """Leave a database with its tables behind."""


async def test_an_owner_by_code_is_an_owner_until_it_is_revoked(config: Path) -> None:
    await beside(config, empty)
    assert await role_of_ada(config) is Role.MEMBER
    await beside(config, claims)
    assert await role_of_ada(config) is Role.OWNER
    await beside(config, lambda access, _: access.pairing.revoke("default", ADA.person, "test"))
    assert await role_of_ada(config) is Role.MEMBER


async def test_a_list_that_names_another_id_of_the_person_counts(config: Path) -> None:
    async def keep(_: AccessControl, storage: Storage) -> None:
        state = storage.stores.states.of("telegram", "main")
        await keep_ids(state, "7", KnownIds(("an-older-id",)))

    await beside(config, keep)
    assert await role_of_ada(config) is Role.OPERATOR
