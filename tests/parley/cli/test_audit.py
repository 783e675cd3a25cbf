"""`parley audit`: the chain is checked page by page, and a broken one is found."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from gateway.ports.clock import SystemClock
from memory.ports.audit import AuditEntry
from parley.config import from_mapping
from parley.maintenance import audit_chain
from parley.security.keys import audit_key
from parley.wiring.storage import Storage
from tests.parley.cli.kit import parley

ADA = "telegram:main:ada"


async def noted(folder: Path, count: int) -> Path:
    """An audit with so many entries; the database's file."""
    file = folder / "data" / "parley.db"
    settings = from_mapping({"database": {"url": f"sqlite:///{file}"}})
    storage, clock = Storage(settings, SystemClock()), SystemClock()
    await storage.start()
    trail = storage.memory.audit_on(audit_key(settings))
    for number in range(count):
        who = ADA if number % 2 else "telegram:main:bob"
        details = (("size", number),)
        await trail.append(AuditEntry("memory_write", "default", who, clock.now(), details))
    await storage.stop()
    return file


def changed(file: Path, *statements: str) -> None:
    """Change the file as a person with access to it can."""
    with closing(sqlite3.connect(file)) as db:
        db.execute("DROP TRIGGER memory_audit_kept")
        db.execute("DROP TRIGGER memory_audit_unchanged")
        for statement in statements:
            db.execute(statement)
        db.commit()


async def test_an_intact_chain_is_reported_with_its_last_entry(tmp_path: Path) -> None:
    await noted(tmp_path, 7)
    ended = await parley("audit", "verify", cwd=tmp_path)
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith("7 entries, ")
    assert "none of them was changed.\nThe last is number 7, " in ended.out
    rest = json.loads((await parley("audit", "verify", "--from", "5", "--json", cwd=tmp_path)).out)
    assert (rest["entries"], rest["last"], rest["broken"]) == (3, 7, None)
    missing = await parley("audit", "verify", "--from", "9", cwd=tmp_path)
    assert (missing.status, "no entry 8" in missing.err) == (1, True)


async def test_the_first_changed_entry_is_reported(tmp_path: Path) -> None:
    file = await noted(tmp_path, 7)
    changed(file, "UPDATE memory_audit SET person = 'x' WHERE number = 4")
    ended = await parley("audit", "verify", cwd=tmp_path)
    assert ended.status == 1
    assert ended.out.startswith("Entry 4 was changed")
    assert "3 entries before it are correct" in ended.out
    behind = await parley("audit", "verify", "--from", "5", cwd=tmp_path)
    assert behind.status == 0


async def test_a_removed_entry_is_detected_on_every_page(
    tmp_path: Path,
) -> None:
    file = await noted(tmp_path, 12)
    changed(file, "DELETE FROM memory_audit WHERE number = 9")
    settings = from_mapping({"database": {"url": f"sqlite:///{file}"}})
    for page in (1, 2, 4, 8, 100):
        storage = Storage(settings, SystemClock())
        await storage.start()
        key = audit_key(settings)
        walked = await audit_chain.walk(storage.memory.audit_on(key), key, page=page)
        await storage.stop()
        assert (walked.broken, walked.entries, walked.last) == (9, 8, 8)


async def test_without_the_key_nothing_is_verified(tmp_path: Path) -> None:
    await noted(tmp_path, 2)
    (tmp_path / "data" / "audit.key").unlink()
    ended = await parley("audit", "verify", cwd=tmp_path)
    assert (ended.status, "audit.key is missing" in ended.err) == (1, True)
    assert not (tmp_path / "data" / "audit.key").exists()


async def test_the_latest_entries_of_one_person_are_shown(tmp_path: Path) -> None:
    await noted(tmp_path, 7)
    shown = await parley("audit", "show", "--person", ADA, "--limit", "2", "--json", cwd=tmp_path)
    lines = [json.loads(line) for line in shown.out.splitlines()]
    assert [(line["number"], line["person"], line["details"]) for line in lines] == [
        (4, ADA, {"size": 3}),
        (6, ADA, {"size": 5}),
    ]
    plain = await parley("audit", "show", "--limit", "1", cwd=tmp_path)
    assert plain.out.startswith("7 20")
    assert "memory_write size=6" in plain.out
