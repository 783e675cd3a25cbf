"""An unavailable store says which one it is, without its address."""

import sqlite3

import pytest

from db.errors import POSTGRES, REDIS, SQLITE, StoreUnavailable
from db.sqlite import _unavailable
from gateway.errors import store_notice


@pytest.mark.parametrize(
    ("error", "notice"),
    [
        (
            StoreUnavailable("Redis: 10.0.0.7", REDIS),
            "Redis, the store of waiting messages and answers, does not answer.",
        ),
        (StoreUnavailable("h", POSTGRES), "PostgreSQL, the database, does not answer."),
        (
            StoreUnavailable("/data", SQLITE, full=True),
            (
                "The disk of the database (SQLite) is full: nothing can be stored until an operator"
                " frees space there."
            ),
        ),
        (
            StoreUnavailable("10,000 messages are waiting already"),
            "Parley cannot store anything at this moment.",
        ),
    ],
)
def test_people_learn_the_store_and_not_its_address(error: StoreUnavailable, notice: str) -> None:
    assert store_notice(error).english == notice


def test_a_full_disk_of_sqlite_is_recognised() -> None:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE t (content)")
    database.execute("PRAGMA max_page_count = 2")
    with pytest.raises(sqlite3.OperationalError) as raised:
        database.execute("INSERT INTO t VALUES (zeroblob(100000))")
    error = _unavailable("/data/parley.db", raised.value)
    assert (error.store, error.full) == (SQLITE, True)
    assert "Free space on the disk" in str(error)
    other = _unavailable("/data/parley.db", sqlite3.OperationalError("no such table"))
    assert (other.store, other.full) == (SQLITE, False)
