"""Copies of a database that is in use: one moment of it, whole, checked, and put back as it was."""

import asyncio
import errno
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

import pytest

from db.errors import StoreUnavailable
from db.sqlite import Job
from gateway.errors import BadInput
from gateway.ports.queues import InboxEntry
from gateway.stores.hot_losses import HotLosses
from gateway.stores.sqlite.backup import back_up, restore, verify
from gateway.stores.sqlite.lock import GatewayLock
from gateway.stores.sqlite.queues import SqliteInbox, SqliteOutbox
from gateway.stores.unit_of_work import Doubts
from parley.wiring.storage import SCHEMAS
from tests.support.clock import FakeClock
from tests.support.databases import sqlite_database
from tests.support.messages import AT, conversation, outbound, received

WRITER = Path(__file__).parent / "writing.py"
BIG = 20_000
"""Rows that make a copy take many steps."""


def rows(file: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(query).fetchall()


def answered(file: Path) -> int:
    return int(str(rows(file, "SELECT count(*) FROM inbox WHERE done")[0][0]))


async def filled(file: Path, keys: int) -> None:
    database = sqlite_database(file)
    await database.start()
    await database.run_job(
        lambda db: db.executemany(
            "INSERT INTO claimed_keys VALUES (?, 1)", [(f"{n}{'x' * 400}",) for n in range(keys)]
        )
    )
    await database.stop()


def inserting(number: int) -> Job[object]:
    return lambda db: db.execute("INSERT INTO claimed_keys VALUES (?, 1)", (number,))


@contextmanager
def writing(file: Path) -> Iterator["subprocess.Popen[str]"]:
    """A process that accepts and answers events without a pause, and says how many it finished."""
    with subprocess.Popen(
        [sys.executable, str(WRITER), str(file)], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def finished(process: "subprocess.Popen[str]") -> int:
    """The least number of events that the process has finished at this moment."""
    assert process.stdout is not None
    return int(process.stdout.readline())


async def test_a_copy_during_writes_is_consistent_and_complete(
    tmp_path: Path,
) -> None:
    file, copy = tmp_path / "parley.db", tmp_path / "copy.db"
    await filled(file, BIG)
    with writing(file) as process:
        while finished(process) < 200:
            pass
        for _ in range(3):
            before = answered(file)
            await asyncio.to_thread(back_up, file, copy, SCHEMAS, overwrite=True)
            restored = tmp_path / "restored.db"
            restore(copy, restored, SCHEMAS, overwrite=True)
            assert rows(restored, "PRAGMA integrity_check") == [("ok",)]
            done = answered(restored)
            assert before <= done < answered(file)
            unanswered = rows(
                restored,
                "SELECT id FROM inbox WHERE done AND 'answer-' || id || ':0' NOT IN"
                " (SELECT key FROM outbox) OR done AND 'answer-' || id || ':1' NOT IN"
                " (SELECT key FROM outbox)",
            )
            assert unanswered == []
            traced = int(str(rows(restored, "SELECT count(*) FROM traces")[0][0]))
            assert traced == done


async def test_a_writer_continues_during_a_copy(tmp_path: Path) -> None:
    file = tmp_path / "parley.db"
    await filled(file, BIG)
    database = sqlite_database(file)
    await database.start()
    copying = asyncio.create_task(asyncio.to_thread(back_up, file, tmp_path / "copy.db", SCHEMAS))
    written = 0
    while not copying.done() and written < 100_000:
        await database.run_job(inserting(written))
        written += 1
        await asyncio.sleep(0)
    await copying
    await database.stop()
    assert written > 20, "it had to wait for the copy"


async def test_a_reader_of_an_old_snapshot_never_blocks_the_gateway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.sqlite.MAX_LOG", 1)
    monkeypatch.setattr("db.sqlite.FOLD_EVERY", 0.01)
    file = tmp_path / "parley.db"
    await filled(file, 10)
    database = sqlite_database(file)
    await database.start()
    with closing(sqlite3.connect(file, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM claimed_keys").fetchone()
        longest = 0.0
        for number in range(300):
            began = time.perf_counter()
            await database.run_job(inserting(number))
            longest = max(longest, time.perf_counter() - began)
            await asyncio.sleep(0.001)
    await database.stop()
    assert longest < 3, "as long as a lock is waited for, or longer"


async def test_a_copy_is_one_private_file(tmp_path: Path) -> None:
    folder = tmp_path / "copies"
    folder.mkdir()
    await filled(tmp_path / "parley.db", 10)
    size = back_up(tmp_path / "parley.db", folder / "copy.db", SCHEMAS)
    assert [path.name for path in folder.iterdir()] == ["copy.db"]
    assert (folder / "copy.db").stat().st_size == size
    assert stat.S_IMODE((folder / "copy.db").stat().st_mode) == 0o600


async def test_the_log_of_a_killed_gateway_is_copied(tmp_path: Path) -> None:
    file, copy = tmp_path / "parley.db", tmp_path / "copy.db"
    with writing(file) as process:
        while (count := finished(process)) < 50:
            pass
    back_up(file, copy, SCHEMAS)
    assert answered(copy) >= count


async def test_an_existing_copy_is_replaced_only_on_request(tmp_path: Path) -> None:
    file, copy = tmp_path / "parley.db", tmp_path / "copy.db"
    await filled(file, 10)
    copy.write_text("precious")
    with pytest.raises(BadInput, match="--force"):
        back_up(file, copy, SCHEMAS)
    assert copy.read_text() == "precious"
    back_up(file, copy, SCHEMAS, overwrite=True)
    verify(copy, SCHEMAS)


async def test_a_failed_copy_leaves_no_file(tmp_path: Path) -> None:
    await filled(tmp_path / "parley.db", 10)
    with pytest.raises(StoreUnavailable, match="cannot copy"):
        back_up(tmp_path / "parley.db", tmp_path / "nowhere" / "copy.db", SCHEMAS)
    with pytest.raises(BadInput, match="no database"):
        back_up(tmp_path / "other.db", tmp_path / "copy.db", SCHEMAS)
    assert not (tmp_path / "copy.db").exists()


async def test_a_database_is_replaced_only_on_request_and_never_under_a_running_gateway(
    tmp_path: Path,
) -> None:
    file, copy = tmp_path / "parley.db", tmp_path / "copy.db"
    await filled(file, 10)
    back_up(file, copy, SCHEMAS)
    with pytest.raises(BadInput, match="--force"):
        restore(copy, file, SCHEMAS)
    with GatewayLock(file), pytest.raises(StoreUnavailable, match="in use by a running Parley"):
        restore(copy, file, SCHEMAS, overwrite=True)
    restore(copy, file, SCHEMAS, overwrite=True)


async def test_a_restore_removes_data_written_after_the_copy(tmp_path: Path) -> None:
    file, copy = tmp_path / "parley.db", tmp_path / "copy.db"
    await filled(file, 10)
    back_up(file, copy, SCHEMAS)
    with closing(sqlite3.connect(file)) as killed:  # its log is left behind, as by a kill
        killed.execute("INSERT INTO claimed_keys VALUES ('later', 1)")
        killed.commit()
        restore(copy, file, SCHEMAS, overwrite=True)
    assert rows(file, "SELECT count(*) FROM claimed_keys") == [(10,)]
    database = sqlite_database(file)
    await database.start()
    await database.stop()


@pytest.mark.parametrize("spoiled", ["text", "cut", "garbled", "foreign", "missing"])
async def test_a_damaged_copy_is_refused_before_any_change(tmp_path: Path, spoiled: str) -> None:
    file, copy = tmp_path / "parley.db", tmp_path / "copy.db"
    await filled(file, 2_000)
    back_up(file, copy, SCHEMAS)
    data = copy.read_bytes()
    if spoiled == "text":
        copy.write_text("this is no database" * 100)
    elif spoiled == "cut":
        copy.write_bytes(data[: len(data) // 2])
    elif spoiled == "garbled":
        middle = len(data) // 2
        copy.write_bytes(data[:middle] + b"\xff" * 8192 + data[middle + 8192 :])
    elif spoiled == "foreign":
        copy.unlink()
        with closing(sqlite3.connect(copy)) as foreign:
            foreign.execute("CREATE TABLE somebody (elses INTEGER)")
    else:
        copy.unlink()
    with pytest.raises(BadInput, match=r"copy\.db"):
        restore(copy, file, SCHEMAS, overwrite=True)
    assert rows(file, "SELECT count(*) FROM claimed_keys") == [(2_000,)]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"this is no database" * 500,
        lambda data: data[:50],
        lambda data: data[: len(data) // 2],
        lambda data: data[:100] + b"\xff" * 3_996 + data[4_096:],
        lambda data: data[:8_192] + b"\xff" * (len(data) - 8_192),
        lambda data: data[:16] + b"\x20\x00" + data[18:],
        lambda data: b"",
    ],
    ids=["text", "header", "half", "first page", "other pages", "page size", "empty"],
)
async def test_a_damaged_database_is_replaced_and_kept(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    file, link, copy = tmp_path / "real.db", tmp_path / "parley.db", tmp_path / "copy.db"
    kept = tmp_path / "kept.db"
    await filled(file, 2_000)
    link.symlink_to(file)
    back_up(file, copy, SCHEMAS)
    damaged = damage(file.read_bytes())
    file.write_bytes(damaged)
    Path(f"{file}-wal").write_bytes(b"\xff" * 9_000)
    restore(copy, link, SCHEMAS, overwrite=True, kept=kept)
    assert rows(link, "PRAGMA integrity_check") == [("ok",)]
    assert rows(link, "SELECT count(*) FROM claimed_keys") == [(2_000,)]
    assert kept.read_bytes() == damaged
    assert link.is_symlink()
    assert not list(tmp_path.glob(".*.part"))


async def test_a_database_that_cannot_be_kept_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, copy, kept = tmp_path / "parley.db", tmp_path / "copy.db", tmp_path / "kept.db"
    await filled(file, 10)
    back_up(file, copy, SCHEMAS)
    before, log = file.read_bytes(), Path(f"{file}-wal")
    log.write_bytes(b"\xff" * 200_000)

    def beginning(source: BinaryIO, target: BinaryIO) -> None:
        target.write(source.read(100_000))
        if source.read(1):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("shutil.copyfileobj", beginning)
    with pytest.raises(StoreUnavailable, match="No space left"):
        restore(copy, file, SCHEMAS, overwrite=True, kept=kept)
    assert file.read_bytes() == before
    assert not list(tmp_path.glob("kept.db*"))


async def test_a_copy_that_was_kept_is_never_overwritten(tmp_path: Path) -> None:
    file, copy, kept = tmp_path / "parley.db", tmp_path / "copy.db", tmp_path / "kept.db"
    await filled(file, 10)
    back_up(file, copy, SCHEMAS)
    kept.write_bytes(b"an earlier one")
    with pytest.raises(StoreUnavailable, match="exists"):
        restore(copy, file, SCHEMAS, overwrite=True, kept=kept)
    assert kept.read_bytes() == b"an earlier one"


async def test_a_locked_database_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.stores.sqlite.backup.BUSY_SECONDS", 0.1)
    file, copy = tmp_path / "parley.db", tmp_path / "copy.db"
    await filled(file, 10)
    back_up(file, copy, SCHEMAS)
    before = file.stat().st_ino
    with closing(sqlite3.connect(file, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked"):
            restore(copy, file, SCHEMAS, overwrite=True)
    assert file.stat().st_ino == before


async def test_a_copy_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    file, copy = tmp_path / "parley.db", tmp_path / "copy.db"
    await filled(file, 1)
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("INSERT INTO schema_migrations VALUES ('later', 999)")
        connection.commit()
    with pytest.raises(StoreUnavailable, match="newer version of Parley"):
        back_up(file, copy, SCHEMAS)
    assert not copy.exists()


async def test_a_failed_restore_leaves_no_empty_database(tmp_path: Path) -> None:
    await filled(tmp_path / "parley.db", 1)
    back_up(tmp_path / "parley.db", tmp_path / "copy.db", SCHEMAS)
    (tmp_path / "taken.db").mkdir()
    with pytest.raises(StoreUnavailable, match="cannot restore"):
        restore(tmp_path / "copy.db", tmp_path / "taken.db", SCHEMAS, overwrite=True)


async def test_work_that_waited_in_a_copy_is_marked_when_it_is_restored(tmp_path: Path) -> None:
    """It may have been answered and sent since the copy."""
    file, copy, clock = tmp_path / "here.db", tmp_path / "copy.db", FakeClock()
    database = sqlite_database(file)
    await database.start()
    entry = InboxEntry("waits", conversation(), received(), AT)
    await SqliteInbox(database, clock).add(entry, timedelta(days=1))
    await SqliteOutbox(database, clock).add((outbound("waits:0"),))
    await database.stop()
    back_up(file, copy, SCHEMAS)
    restored = restore(copy, file, SCHEMAS, overwrite=True)
    assert (restored.events, restored.sends) == (1, 1)
    database = sqlite_database(file)
    await database.start()
    (send,) = await SqliteOutbox(database, clock).waiting(10)
    losses = await HotLosses(database).since(AT - timedelta(days=1))
    await database.stop()
    assert send.restored
    assert send.begun
    assert [loss.kind for loss in losses] == ["restored"]
    assert Doubts(clock, lambda: losses).restored_after(AT)
