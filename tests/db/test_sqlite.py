"""One file: work done together, failures, other processes, the end."""

import asyncio
import contextlib
import sqlite3
import threading
import time
from collections.abc import AsyncIterator
from contextvars import ContextVar
from pathlib import Path

import pytest

from db import Statement
from db.errors import StoreUnavailable
from db.sqlite import SqliteDatabase
from tests.support.databases import sqlite_database
from tests.support.patience import PATIENCE
from tests.support.waiting import eventually


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    opened = sqlite_database(tmp_path / "test.db")
    await opened.start()
    yield opened
    await opened.stop()


async def count(database: SqliteDatabase) -> int:
    row = await database.run_job(
        lambda db: db.execute("SELECT count(*) FROM claimed_keys").fetchone()
    )
    return int(row[0])


def begun_anew(wal: Path) -> int:
    """The number of times that the log was begun anew: it counts that itself, 12 bytes from its
    start."""
    return int.from_bytes(wal.read_bytes()[12:16])


def insert(key: str):  # type: ignore[no-untyped-def]
    return lambda db: db.execute("INSERT INTO claimed_keys VALUES (?, 1)", (key,))


async def test_a_failing_job_does_not_affect_the_others(database: SqliteDatabase) -> None:
    jobs = [database.run_job(insert(key)) for key in ("a", "b", "a", "c")]
    results = await asyncio.gather(*jobs, return_exceptions=True)
    assert [isinstance(result, StoreUnavailable) for result in results] == [
        False,
        False,
        True,
        False,
    ]
    assert await count(database) == 3


async def test_a_failed_job_is_rolled_back(database: SqliteDatabase) -> None:
    def half(db: sqlite3.Connection) -> None:
        db.execute("INSERT INTO claimed_keys VALUES ('x', 1)")
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        await database.run_job(half)
    assert await count(database) == 0


async def test_committed_data_survives_a_restart(tmp_path: Path) -> None:
    first = sqlite_database(tmp_path / "again.db")
    await first.start()
    await first.run_job(insert("kept"))
    await first.stop()
    second = sqlite_database(tmp_path / "again.db")
    await second.start()
    assert await count(second) == 1
    await second.stop()


async def test_a_closed_database_raises_an_error(database: SqliteDatabase) -> None:
    await database.stop()
    with pytest.raises(StoreUnavailable, match="not open"):
        await database.run_job(insert("late"))


async def test_a_folder_that_cannot_contain_a_file_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreUnavailable, match="cannot open the database"):
        await sqlite_database(tmp_path / "file" / "test.db").start()


async def test_a_file_that_is_not_a_database_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("this is not a database, only text" * 100)
    with pytest.raises(StoreUnavailable, match="cannot open the database"):
        await sqlite_database(tmp_path / "text.db").start()


async def test_under_load_the_log_is_reused_in_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.sqlite.FOLD_EVERY", 0.01)
    monkeypatch.setattr("db.sqlite.MAX_LOG", 200_000)
    database, wal = sqlite_database(tmp_path / "busy.db"), tmp_path / "busy.db-wal"
    await database.start()
    begun, sizes, over_again = {begun_anew(wal)}, [0], []
    async with asyncio.timeout(PATIENCE):
        while len(begun) < 4:
            await database.run_job(
                lambda db: db.execute("INSERT INTO claimed_keys VALUES (random(), 1)")
            )
            sizes.append(wal.stat().st_size)
            if begun_anew(wal) not in begun:
                begun.add(begun_anew(wal))
                over_again.append(sizes[-1] - sizes[-2])
    assert sizes == sorted(sizes), "it was made shorter, and has to grow again"
    assert sizes[-1] > 200_000
    assert over_again == [0, 0, 0], "what was begun anew is behind what was there"
    await database.stop()


async def test_the_log_is_truncated_when_its_file_is_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.sqlite.FOLD_EVERY", 0.01)
    monkeypatch.setattr("db.sqlite.MAX_LOG", 200_000)
    monkeypatch.setattr("db.sqlite.MAX_FILE", 200_000)
    database, wal = sqlite_database(tmp_path / "large.db"), tmp_path / "large.db-wal"
    await database.start()
    largest = 0
    async with asyncio.timeout(PATIENCE):
        while not 0 <= wal.stat().st_size < largest:
            await database.run_job(
                lambda db: db.execute("INSERT INTO claimed_keys VALUES (random(), 1)")
            )
            largest = max(largest, wal.stat().st_size)
    assert largest > 200_000
    await database.stop()


async def test_after_an_idle_time_the_log_is_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.sqlite.FOLD_EVERY", 0.01)
    database, wal = sqlite_database(tmp_path / "quiet.db"), tmp_path / "quiet.db-wal"
    await database.start()
    await database.run_job(insert("deleted soon"))
    await database.run_job(lambda db: db.execute("DELETE FROM claimed_keys"))
    await eventually(lambda: not wal.stat().st_size)
    assert b"deleted soon" not in (tmp_path / "quiet.db").read_bytes()
    await database.run_job(insert("later"))
    assert await count(database) == 1
    await database.stop()


async def test_reads_do_not_keep_deleted_data_in_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.sqlite.FOLD_EVERY", 0.01)
    database, wal = sqlite_database(tmp_path / "read.db"), tmp_path / "read.db-wal"
    await database.start()
    await database.run_job(insert("deleted soon"))
    await database.run_job(lambda db: db.execute("DELETE FROM claimed_keys"))

    async def emptied_while_reading() -> bool:
        assert await count(database) == 0  # as jobs of an idle program do every few seconds
        await database.run_job(
            lambda db: db.execute("DELETE FROM claimed_keys WHERE key = 'unknown'")
        )
        return not wal.stat().st_size

    await eventually(emptied_while_reading)
    await database.stop()


async def test_jobs_wait_for_a_checkpoint_without_blocking_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.sqlite.FOLD_EVERY", 0.01)
    monkeypatch.setattr("db.sqlite.MAX_LOG", 0)
    monkeypatch.setattr("db.sqlite.BUSY_SECONDS", 5.0)
    begun, go_on = threading.Event(), threading.Event()

    def emptied(path: str) -> None:
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")  # what a transaction would meet
            begun.set()
            assert go_on.wait(PATIENCE)
            other.execute("ROLLBACK")

    monkeypatch.setattr("db.sqlite._begun_anew", emptied)
    database = sqlite_database(tmp_path / "anew.db")
    await database.start()
    await database.run_job(insert("first"))
    assert await asyncio.to_thread(begun.wait, PATIENCE)
    waiting = asyncio.ensure_future(database.run_job(insert("second")))
    began = time.monotonic()
    await asyncio.sleep(0.01)
    assert time.monotonic() - began < 4
    assert not waiting.done()
    assert database.waiting == 1
    go_on.set()
    await asyncio.wait_for(waiting, PATIENCE)
    await database.stop()


async def test_jobs_that_cannot_run_before_close_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.sqlite.CLOSE_SECONDS", 0.05)
    database = sqlite_database(tmp_path / "locked.db")
    await database.start()
    other = sqlite3.connect(tmp_path / "locked.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    late = asyncio.ensure_future(database.run_job(insert("late")))
    stopping = asyncio.create_task(database.stop())
    with pytest.raises(StoreUnavailable, match="closed"):
        await asyncio.wait_for(late, PATIENCE)
    await stopping
    other.close()


async def test_a_transaction_of_another_process_without_end_is_waited_for_a_limited_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.sqlite.BUSY_TRIES", 3)
    database = sqlite_database(tmp_path / "locked.db")
    await database.start()
    other = sqlite3.connect(tmp_path / "locked.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="locked"):
        await asyncio.wait_for(database.run_job(insert("a")), PATIENCE)
    other.execute("COMMIT")
    other.close()
    await database.run_job(insert("b"))
    assert await count(database) == 1
    await database.stop()


async def test_a_transaction_of_another_process_is_waited_for(tmp_path: Path) -> None:
    database = sqlite_database(tmp_path / "shared.db")
    await database.start()
    other = sqlite3.connect(tmp_path / "shared.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    waiting = asyncio.ensure_future(database.run_job(insert("patient")))
    await asyncio.sleep(0.1)
    assert not waiting.done()
    other.execute("COMMIT")
    other.close()
    await asyncio.wait_for(waiting, PATIENCE)
    assert await count(database) == 1
    await database.stop()


async def test_a_full_disk_refuses_the_whole_batch_and_damages_nothing(tmp_path: Path) -> None:
    database = sqlite_database(tmp_path / "full.db")
    await database.start()
    await database.run_job(insert("kept"))

    def limit(db: sqlite3.Connection, pages: int) -> None:
        db.execute(f"PRAGMA max_page_count = {pages}")

    def large(db: sqlite3.Connection) -> None:
        db.execute("INSERT INTO claimed_keys VALUES (?, 1)", ("x" * 1_000_000,))

    await database.run_job(lambda db: limit(db, 1))
    jobs = [
        database.run_job(insert("small")),
        database.run_job(large),
        database.run_job(insert("other")),
    ]
    results = await asyncio.gather(*jobs, return_exceptions=True)
    assert isinstance(results[1], StoreUnavailable)
    assert all(r is None or isinstance(r, StoreUnavailable | sqlite3.Cursor) for r in results)
    kept = sum(not isinstance(result, StoreUnavailable) for result in results)
    assert await count(database) == 1 + kept
    await database.run_job(lambda db: limit(db, 1_000_000))
    await database.run_job(large)
    assert await count(database) == 2 + kept
    await database.stop()


async def test_the_file_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    database = sqlite_database(tmp_path / "private.db")
    await database.start()
    await database.run_job(insert("a"))
    for file in tmp_path.glob("private.db*"):
        assert file.stat().st_mode & 0o077 == 0, file
    await database.stop()


async def test_too_many_waiting_jobs_are_refused_immediately(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.sqlite.MAX_WAITING", 2)
    jobs = [database.run_job(insert(key)) for key in ("a", "b")]
    with pytest.raises(StoreUnavailable, match="too much waiting"):
        database.run_job(insert("c"))
    await asyncio.gather(*jobs)
    assert await count(database) == 2


async def test_a_job_whose_caller_was_cancelled_is_completed(database: SqliteDatabase) -> None:
    job = database.run_job(insert("orphan"))
    job.cancel()
    assert await count(database) == 1


async def test_a_long_queue_is_processed_in_order(database: SqliteDatabase) -> None:
    jobs = [database.run_job(insert(str(number))) for number in range(1_000)]
    await asyncio.gather(*jobs)
    rows = await database.run_job(
        lambda db: db.execute("SELECT count(*) FROM claimed_keys").fetchone()
    )
    assert rows == (1_000,)


async def test_each_job_runs_in_the_context_of_its_caller(
    database: SqliteDatabase,
) -> None:
    """The watchdog names running work by its context, also if one transaction contains several
    jobs."""
    question: ContextVar[str] = ContextVar("asked", default="nobody")

    async def ask(name: str) -> str:
        question.set(name)
        return await database.run_job(lambda _: question.get())

    assert await asyncio.gather(*map(ask, ("ada", "bert", "cleo"))) == ["ada", "bert", "cleo"]


COUNTING = Statement("""
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1000000000)
    SELECT max(n) FROM numbers
""")
"""Takes minutes."""


async def test_a_cancelled_read_is_ended_before_its_connection_is_closed(
    database: SqliteDatabase,
) -> None:
    opened: list[object] = []

    async def read() -> None:
        async with database.reader() as reader:
            await reader.fetch(Statement("SELECT 1"))
            opened.append(reader)
            await reader.fetch(COUNTING)

    task = asyncio.create_task(read())
    await eventually(lambda: bool(opened) and opened[0]._in_use.locked())  # type: ignore[attr-defined]  # a lock that is not in the type
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(PATIENCE):
            await task
    assert not opened[0]._in_use.locked()  # type: ignore[attr-defined]  # a lock that is not in the type
    assert await count(database) == 0


async def test_a_read_that_begins_after_the_end_opens_nothing(database: SqliteDatabase) -> None:
    async with database.reader() as reader:
        pass
    with pytest.raises(StoreUnavailable, match="closed"):
        await reader.fetch(Statement("SELECT 1"))
