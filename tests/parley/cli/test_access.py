"""`parley access`, beside a running program or before its start."""

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest
import yaml

from gateway.message import Place
from gateway.people import Audience
from gateway.policy.pairing_codes import hash_code, new_pairing_code
from gateway.ports.admissions import Applicant
from gateway.ports.clock import SystemClock
from parley.config import Settings, from_mapping
from parley.wiring.access import AccessControl, wire_access
from parley.wiring.storage import Storage
from tests.parley.cli.kit import parley

EVE = Applicant(
    "default", "telegram:main:7", "Eve \x1b[31m", Place("telegram", "main", "7", Audience.DIRECT)
)
OWNER_CODE = re.compile(r"OWNER(-[A-Z0-9]{4}){3}")
T = TypeVar("T")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = {
        "database": {"url": f"sqlite:///{tmp_path}/parley.db"},
        "access": {"admission": "approved"},
    }
    (tmp_path / "parley.yaml").write_text(yaml.safe_dump(made))
    return from_mapping(made)


async def beside(settings: Settings, job: Callable[[AccessControl, Storage], Awaitable[T]]) -> T:
    """Do something in the database of the program."""
    storage = Storage(settings, SystemClock())
    await storage.start(exclusive=False)
    try:
        return await job(wire_access(settings, storage, SystemClock()), storage)
    finally:
        await storage.stop()


async def waits(settings: Settings) -> str:
    """Eve asks; her code."""
    code = new_pairing_code()

    async def ask(access: AccessControl, storage: Storage) -> None:
        await storage.admissions.request(EVE, "abc123", hash_code(code), SystemClock().now())

    await beside(settings, ask)
    return code


async def actions(settings: Settings) -> list[tuple[object, object]]:
    """The actions in the audit log, with their people."""

    async def read(access: AccessControl, storage: Storage) -> list[tuple[object, object]]:
        links = await storage.memory.audit_on(b"").links(0, 100)
        entries = [link.entry for link in links]
        return [
            (dict(entry.details)["what"], entry.person)
            for entry in entries
            if entry.action == "access_change"
        ]

    return await beside(settings, read)


async def test_an_approval_is_listed_and_revoked(settings: Settings, tmp_path: Path) -> None:
    code = await waits(settings)
    listed = await parley("access", "list", "-c", "parley.yaml", cwd=tmp_path)
    assert listed.out.startswith('waits     telegram:main:7 "Eve  [31m" (name not verified)')
    assert code not in listed.out
    done = await parley("access", "approve", code.lower(), "-c", "parley.yaml", cwd=tmp_path)
    assert (done.status, "may write now" in done.out) == (0, True)
    again = await parley("access", "approve", code, "-c", "parley.yaml", cwd=tmp_path)
    assert again.status == 1
    assert "No request has this code" in again.err
    listed = await parley("access", "list", "-c", "parley.yaml", cwd=tmp_path)
    assert listed.out.startswith("may write telegram:main:7")
    assert "by command line" in listed.out
    person = ("access", "revoke", "telegram:main:7", "-c", "parley.yaml")
    assert (await parley(*person, cwd=tmp_path)).status == 0
    assert (await parley(*person, cwd=tmp_path)).status == 1
    listed = await parley("access", "list", "-c", "parley.yaml", cwd=tmp_path)
    assert listed.out == "Nobody waits, and nobody is approved.\n"
    assert await actions(settings) == [("approved", EVE.person), ("revoked", EVE.person)]


async def test_a_rejected_person_waits_no_more(settings: Settings, tmp_path: Path) -> None:
    code = await waits(settings)
    done = await parley("access", "reject", "abc123", "-c", "parley.yaml", cwd=tmp_path)
    assert "was rejected" in done.out
    again = await parley("access", "approve", code, "-c", "parley.yaml", cwd=tmp_path)
    assert again.status == 1
    assert await actions(settings) == [("rejected", EVE.person)]


async def test_an_owner_code_is_printed_and_not_stored(settings: Settings, tmp_path: Path) -> None:
    done = await parley("access", "owner-code", "-c", "parley.yaml", cwd=tmp_path)
    match = OWNER_CODE.search(done.out)
    assert match is not None
    files = [file for file in tmp_path.iterdir() if file.is_file()]
    assert not [file for file in files if match[0].encode() in file.read_bytes()]

    async def claim(access: AccessControl, storage: Storage) -> str:
        made = await access.claims.claim(EVE, match[0])
        return "" if made is None else made.outcome

    assert await beside(settings, claim) == "claimed"
    assert await actions(settings) == [("owner_code_made", ""), ("owner_claimed", EVE.person)]


async def test_a_database_in_memory_is_refused(tmp_path: Path) -> None:
    (tmp_path / "parley.yaml").write_text(yaml.safe_dump({"database": {"url": "memory://"}}))
    for command in (("owner-code",), ("list",)):
        done = await parley("access", *command, "-c", "parley.yaml", cwd=tmp_path)
        assert done.status == 1
        assert "in the memory of the running program" in done.err


async def test_a_configuration_without_approvals_is_reported(
    settings: Settings, tmp_path: Path
) -> None:
    await waits(settings)
    whole = {"database": {"url": settings.database.url}}
    (tmp_path / "parley.yaml").write_text(yaml.safe_dump(whole))
    listed = await parley("access", "list", "-c", "parley.yaml", cwd=tmp_path)
    assert "access.admission is `everybody`" in listed.err


async def test_a_person_is_named_in_full(settings: Settings, tmp_path: Path) -> None:
    await waits(settings)
    done = await parley("access", "revoke", "eve", "-c", "parley.yaml", cwd=tmp_path)
    assert done.status == 1
    assert "PLATFORM:ACCOUNT:ID" in done.err
