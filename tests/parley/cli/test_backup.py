"""`parley backup` and `parley restore`, beside a gateway that runs and without one."""

import asyncio
import os
import re
import signal
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Self

import pytest
import yaml

from gateway.errors import BadInput
from gateway.ports.clock import SystemClock
from parley.cli.backup import backup, restore_backup
from parley.config import from_mapping
from parley.maintenance.backup import key_copy, pairs
from parley.wiring.storage import Storage
from simulators.telegram import TelegramSimulator
from tests.parley.cli.kit import parley, read_until, started
from tests.support.patience import PATIENCE

CLOCK = SystemClock()


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramSimulator]:
    simulator = TelegramSimulator()
    await simulator.start()
    yield simulator
    await simulator.stop()


async def test_a_conversation_survives_the_loss_of_its_database(
    tmp_path: Path, telegram: TelegramSimulator
) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "parley.yaml").write_text(
        yaml.safe_dump(
            {
                "platforms": {"telegram": telegram.settings()},
                "server": {"port": 0},
                "webhooks": {"port": 0},
            }
        )
    )
    ada = telegram.person("Ada")
    room = telegram.direct(ada)
    async with started("run", cwd=tmp_path) as gateway:
        await read_until(gateway.stdout, "ready gateway")
        await telegram.say(ada, room, "hello")
        await telegram.wait_for(room, lambda shown: any(message.by_bot for message in shown))
        kept = await parley("backup", "copy.db", cwd=tmp_path)
        refused = await parley("restore", "copy.db", "--force", cwd=tmp_path)
        second = await parley("run", cwd=tmp_path)
        gateway.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE):
            await gateway.communicate()
    assert (kept.status, kept.err) == (0, "")
    assert kept.out.startswith("data/parley.db is copied to copy.db (")
    key = (tmp_path / "data" / "audit.key").read_bytes()
    assert (tmp_path / "copy.db.audit.key").read_bytes() == key
    assert (tmp_path / "copy.db.audit.key").stat().st_mode & 0o777 == 0o600
    for ended in (refused, second):
        assert ended.status == 1
        assert f"(process {gateway.pid}); stop that one first" in ended.err
        assert "Traceback" not in ended.err

    for path in (tmp_path / "data").iterdir():
        path.unlink()
    restored = await parley("restore", "copy.db", cwd=tmp_path)
    again = await parley("restore", "copy.db", cwd=tmp_path)
    assert restored.out == (
        "data/parley.db is restored from copy.db.\n"
        "data/audit.key is restored from copy.db.audit.key.\n"
    )
    verified = await parley("audit", "verify", cwd=tmp_path)
    assert (verified.status, "none of them was changed" in verified.out) == (0, True), verified
    assert (again.status, again.err) == (
        1,
        "data/parley.db exists already; --force replaces it\n",
    )
    message_id = next(m.id for m in telegram.shown(room) if not m.by_bot)
    why = await parley("why", str(message_id), cwd=tmp_path)
    assert (why.status, "answered" in why.out) == (0, True)


async def test_a_missing_database_is_reported(tmp_path: Path) -> None:
    ended = await parley("backup", "copy.db", cwd=tmp_path)
    assert (ended.status, ended.err) == (1, "there is no database at data/parley.db yet\n")


def test_waiting_work_in_a_separate_file_is_copied_first() -> None:
    settings = from_mapping(
        {"database": {"url": "sqlite:///a.db"}, "storage": {"url": "sqlite:///b.db"}}
    )
    assert pairs(settings, Path("copies/1.db")) == [
        (Path("b.db"), Path("copies/1.db.storage")),
        (Path("a.db"), Path("copies/1.db")),
    ]


def test_one_file_under_two_addresses_is_copied_once() -> None:
    settings = from_mapping(
        {
            "database": {"url": "sqlite:///a.db"},
            "storage": {"url": "sqlite:///./a.db?synchronous=full"},
        }
    )
    assert pairs(settings, Path("copy.db")) == [(Path("a.db"), Path("copy.db"))]


def test_an_in_memory_database_cannot_be_backed_up() -> None:
    with pytest.raises(BadInput, match="in memory"):
        pairs(from_mapping({"database": {"url": "memory://"}}), Path("copy.db"))


async def test_another_audit_key_is_not_replaced_without_confirmation(tmp_path: Path) -> None:
    data = tmp_path / "data"
    storage = Storage(from_mapping({"database": {"url": f"sqlite:///{data}/parley.db"}}), CLOCK)
    await storage.start()
    await storage.stop()
    (data / "audit.key").write_text("ab" * 32)
    assert (await parley("backup", "copy.db", cwd=tmp_path)).status == 0
    (data / "parley.db").unlink()
    (data / "audit.key").write_text("cd" * 32)
    refused = await parley("restore", "copy.db", cwd=tmp_path)
    assert (refused.status, "differs from the key of the copy" in refused.err) == (1, True)
    assert not (data / "parley.db").exists()
    present = (tmp_path / "copy.db").read_bytes()
    (data / "parley.db").write_bytes(present)
    restored = await parley("restore", "copy.db", "--force", cwd=tmp_path)
    assert restored.status == 0, restored.err
    assert (data / "audit.key").read_text().strip() == "ab" * 32
    (database,) = data.glob("parley.db.replaced-*[0-9]")
    key = key_copy(database)
    assert database.read_bytes() == present
    assert key.read_text().strip() == "cd" * 32
    assert f"is kept as {database.relative_to(tmp_path)}" in restored.out
    assert {one.stat().st_mode & 0o077 for one in (database, key)} == {0}


async def test_a_copy_without_its_key_is_restored_with_a_notice(tmp_path: Path) -> None:
    data = tmp_path / "data"
    storage = Storage(from_mapping({"database": {"url": f"sqlite:///{data}/parley.db"}}), CLOCK)
    await storage.start()
    await storage.stop()
    assert (await parley("backup", "copy.db", cwd=tmp_path)).status == 0
    restored = await parley("restore", "copy.db", "--force", cwd=tmp_path)
    assert (restored.status, "Without its key" in restored.err) == (0, True)


async def test_a_damaged_database_and_its_damaged_key_are_replaced_and_kept(tmp_path: Path) -> None:
    data = tmp_path / "data"
    storage = Storage(from_mapping({"database": {"url": f"sqlite:///{data}/parley.db"}}), CLOCK)
    await storage.start()
    await storage.stop()
    (data / "audit.key").write_text("ab" * 32)
    assert (await parley("backup", "copy.db", cwd=tmp_path)).status == 0
    damage = b"\xffno key and no database" * 1_000
    for name in ("parley.db", "audit.key"):
        (data / name).write_bytes(damage)
    restored = await parley("restore", "copy.db", "--force", cwd=tmp_path)
    assert (restored.status, restored.err) == (0, "")
    assert (data / "audit.key").read_text().strip() == "ab" * 32
    assert (await parley("audit", "verify", cwd=tmp_path)).status == 0
    kept = [*data.glob("*.replaced-*[0-9y]")]
    assert len(kept) == 2
    assert {one.read_bytes() for one in kept} == {damage}
    assert {one.stat().st_mode & 0o077 for one in kept} == {0}


async def test_restores_within_one_second_keep_everything_that_they_replace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("parley.cli.backup.datetime", _OneSecond)
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "data"
    storage = Storage(from_mapping({"database": {"url": f"sqlite:///{data}/parley.db"}}), CLOCK)
    await storage.start()
    await storage.stop()
    config = tmp_path / "parley.yaml"
    config.write_text(yaml.safe_dump({"database": {"url": "sqlite:///data/parley.db"}}))
    keys = ["ab" * 32, "cd" * 32, "ef" * 32]
    for number, key in enumerate(keys):
        (data / "audit.key").write_text(key)
        backup(tmp_path / f"{number}.db", config)
    for number in (0, 1, 2, 0):
        restore_backup(tmp_path / f"{number}.db", config, force=True)
    kept = [*data.glob("parley.db.replaced-*[0-9]")]
    assert len(kept) == 4
    assert {key_copy(one).read_text().strip() for one in kept} == set(keys)


async def test_a_restore_is_undone_with_its_key_and_its_waiting_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    urls = {
        "database": {"url": "sqlite:///data/parley.db"},
        "storage": {"url": "sqlite:///data/hot.db"},
    }
    config = tmp_path / "parley.yaml"
    config.write_text(yaml.safe_dump(urls))
    data, key = tmp_path / "data", tmp_path / "data" / "audit.key"
    files = [data / "parley.db", data / "hot.db"]
    storage = Storage(from_mapping(urls), CLOCK)
    await storage.start()
    await storage.stop()
    key.write_text("ab" * 32)
    backup(tmp_path / "copy.db", config)
    key.write_text("cd" * 32)
    for file in files:
        write(file, "CREATE TABLE written_later (n int)")
    for file in files:
        assert has(file, "written_later")
    capsys.readouterr()
    restore_backup(tmp_path / "copy.db", config, force=True)
    assert [has(file, "written_later") for file in files] == [False, False]
    assert key.read_text().strip() == "ab" * 32
    out = capsys.readouterr().out
    (undo,) = re.findall("`parley restore (.+) --force` undoes this", out)
    restore_backup(Path(undo), config, force=True)
    assert [has(file, "written_later") for file in files] == [True, True]
    assert key.read_text().strip() == "cd" * 32
    assert "Without its key" not in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("before", ["database", "nothing", "damage"])
async def test_root_leaves_restored_files_to_the_user_who_had_them(
    before: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config, data = tmp_path / "parley.yaml", tmp_path / "data"
    urls = {"database": {"url": "sqlite:///data/parley.db"}}
    config.write_text(yaml.safe_dump(urls))
    storage = Storage(from_mapping(urls), CLOCK)
    await storage.start()
    await storage.stop()
    (data / "audit.key").write_text("ab" * 32)
    backup(tmp_path / "copy.db", config)
    user, group = 54_321, 54_322
    os.chown(data, user, group)
    for file in data.iterdir():
        file.chmod(0o640)
        os.chown(file, user, group)
        if before == "nothing" or file.suffix in (".lock", ".db-wal", ".db-shm"):
            file.unlink()
    if before == "damage":
        (data / "parley.db").write_bytes(b"no database")
    restore_backup(tmp_path / "copy.db", config, force=True)
    made = {one.name: one.stat() for one in data.iterdir()}
    assert {"parley.db", "audit.key", "parley.db.lock"} <= set(made)
    assert {(one.st_uid, one.st_gid) for one in made.values()} == {(user, group)}
    expected = 0o600 if before == "nothing" else 0o640
    assert {made[name].st_mode & 0o777 for name in ("parley.db", "audit.key")} == {expected}
    assert made["parley.db.lock"].st_mode & 0o777 == 0o600


def write(file: Path, sql: str) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute(sql)


def has(file: Path, table: str) -> bool:
    named = "SELECT count(*) FROM sqlite_master WHERE name = ?"
    with closing(sqlite3.connect(file)) as connection:
        return bool(connection.execute(named, (table,)).fetchone() == (1,))


class _OneSecond(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls(2026, 1, 2, 3, 4, 5, tzinfo=tz)
