"""The one thread that owns the file: batches, failures, newer files."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from gateway.errors import StoreUnavailable
from gateway.storage.sqlite.database import Database


async def count(database: Database) -> int:
    row = await database.run(lambda db: db.execute("SELECT count(*) FROM once").fetchone())
    return int(row[0])


def insert(key: str):  # type: ignore[no-untyped-def]
    return lambda db: db.execute("INSERT INTO once VALUES (?, 1)", (key,))


async def test_a_job_that_fails_takes_nothing_of_the_others_along(database: Database) -> None:
    jobs = [database.run(insert(key)) for key in ("a", "b", "a", "c")]
    results = await asyncio.gather(*jobs, return_exceptions=True)
    assert [isinstance(result, StoreUnavailable) for result in results] == [
        False,
        False,
        True,
        False,
    ]
    assert await count(database) == 3


async def test_a_failed_job_leaves_nothing_half_done(database: Database) -> None:
    def half(db: sqlite3.Connection) -> None:
        db.execute("INSERT INTO once VALUES ('x', 1)")
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        await database.run(half)
    assert await count(database) == 0


async def test_what_was_confirmed_is_there_after_a_restart(tmp_path: Path) -> None:
    first = Database(tmp_path / "again.db")
    await first.start()
    await first.run(insert("kept"))
    await first.stop()
    second = Database(tmp_path / "again.db")
    await second.start()
    assert await count(second) == 1
    await second.stop()


async def test_a_closed_database_says_so(database: Database) -> None:
    await database.stop()
    with pytest.raises(StoreUnavailable, match="not open"):
        await database.run(insert("late"))


async def test_a_file_of_a_newer_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "newer.db"
    database = Database(path)
    await database.start()
    await database.run(
        lambda db: db.execute("INSERT INTO schema_migrations VALUES (999, 'later', 'then')")
    )
    await database.stop()
    with pytest.raises(StoreUnavailable, match="newer version of Parley"):
        await Database(path).start()


async def test_a_folder_where_no_file_can_be_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreUnavailable, match="cannot open the database"):
        await Database(tmp_path / "file" / "test.db").start()


async def test_a_file_that_is_no_database_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("this is not a database, only text" * 100)
    with pytest.raises(StoreUnavailable, match="cannot open the database"):
        await Database(tmp_path / "text.db").start()
