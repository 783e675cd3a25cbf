"""A full-text index in SQLite stays small and readable, however often its pages are merged."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db import Statement
from db.full_text import KEPT_LEVELS, MAX_LEVELS, MAX_REST, Merging, without_empty_levels
from db.migrations import Schema
from db.sqlite import SqliteDatabase

TEXTS = Schema(
    "texts",
    (
        (
            "CREATE TABLE maintenance (task text PRIMARY KEY, due integer NOT NULL)",
            "INSERT INTO maintenance VALUES ('merge', 0)",
            "CREATE VIRTUAL TABLE texts USING fts5(words, content = '', columnsize = 0)",
        ),
    ),
)
MERGING = Merging("texts", "maintenance", "merge")
TABLE_OF_NINE_LEVELS = b"\0\0\0\1" + bytes([9, 1, 5]) + b"\0\0" * 8 + bytes([0, 1, 1, 1, 2])


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteDatabase]:
    opened = SqliteDatabase(tmp_path / "texts.db", (TEXTS,))
    await opened.start()
    yield opened
    await opened.stop()


LIVE = 30
"""Texts that the index has at any time."""


def add(number: int) -> Statement:
    return Statement(f"INSERT INTO texts (rowid, words) VALUES ({number}, 'w{number}')")


def delete(number: int) -> Statement:
    return Statement(
        f"INSERT INTO texts (texts, rowid, words) VALUES ('delete', {number}, 'w{number}')"
    )


async def found(database: SqliteDatabase, query: str) -> list[int]:
    statement = Statement("SELECT rowid FROM texts WHERE texts MATCH :query")
    return [int(row[0]) for row in await database.fetch(statement, {"query": query})]


async def test_an_index_is_readable_after_a_thousand_merges(database: SqliteDatabase) -> None:
    # Small pages: a segment of a few texts has several, as one of many texts has in pages of 4 kB.
    await database.change(Statement("INSERT INTO texts (texts, rank) VALUES ('pgsz', 32)"))
    for number in range(LIVE):
        await database.change(add(number))
    sizes = set()
    for number in range(LIVE, 1_300):
        await database.change(add(number))
        await database.change(delete(number - LIVE))
        await database.change(Statement("UPDATE maintenance SET due = 1"))
        while await MERGING.run(database):
            pass
        if number % 100 == 0:
            rows = await database.fetch(Statement("SELECT block FROM texts_data WHERE id = 10"))
            sizes.add(len(rows[0][0]))
    assert await found(database, "w1299") == [1_299]
    assert await found(database, "w1300 OR w1269") == []
    assert max(sizes) < 2 * (MAX_LEVELS + 20)


async def contains(database: SqliteDatabase, word: str) -> bool:
    """The pages of the index contain the word."""
    pages = await database.fetch(Statement("SELECT block FROM texts_data"))
    return any(word.encode() in block for (block,) in pages)


DUE = Statement("UPDATE maintenance SET due = 1 WHERE task = 'merge' AND NOT due")
"""As the trigger of a table with texts does at a deletion."""


def over(value: str) -> Statement:
    """Set the second at which the rest is over."""
    return Statement(f"UPDATE maintenance SET due = {value} WHERE task = 'merge: rest until'")


async def test_a_text_that_is_deleted_during_a_merge_leaves_the_pages(
    database: SqliteDatabase,
) -> None:
    for number in (10_001, 20_002, 30_003):
        await database.change(add(number))
    await database.change(delete(10_001))
    await database.change(DUE)
    assert await MERGING.run(database)
    await database.change(delete(20_002))
    await database.change(DUE)
    while await MERGING.run(database):
        pass
    words = ["w10001", "w20002", "w30003"]
    # The first word of a page is whole, the others continue it.
    assert [await contains(database, word) for word in words] == [False, False, True]


async def test_a_merge_of_many_pages_is_followed_by_a_rest(
    database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("db.full_text.MERGE_PAGES", 1)
    monkeypatch.setattr("db.full_text.FREE_STEPS", 2)
    await database.change(Statement("INSERT INTO texts (texts, rank) VALUES ('pgsz', 32)"))
    for number in range(10_000, 10_400):
        await database.change(add(number))

    async def steps() -> int:
        await database.change(DUE)
        count = 0
        while await MERGING.run(database):
            count += 1
        return count

    assert await steps() > 10
    assert await steps() == 0
    await database.change(over("due - 1000000"))
    assert await steps() > 0


async def test_a_rest_ends_if_the_clock_was_set_back(database: SqliteDatabase) -> None:
    await database.change(add(1))
    await database.change(DUE)
    while await MERGING.run(database):
        pass
    await database.change(over(f"due + {MAX_REST - 60}"))
    await database.change(DUE)
    assert await MERGING.run(database) == 0
    await database.change(over("due + 3600"))
    assert await MERGING.run(database) == 1


async def test_a_structure_that_sqlite_refuses_is_repaired(database: SqliteDatabase) -> None:
    await database.change(Statement("INSERT INTO texts (rowid, words) VALUES (1, 'word')"))
    ((structure,),) = await database.fetch(Statement("SELECT block FROM texts_data WHERE id = 10"))
    counters = structure[5:7]
    levels = bytes([0x80 | 2_101 >> 7, 2_101 & 0x7F])
    long = structure[:4] + levels + counters + b"\0\0" * 2_100 + structure[7:]

    def damage(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE texts_data SET block = ? WHERE id = 10", (long,))

    await database.run_apart(damage)
    with pytest.raises(Exception, match="malformed"):
        await found(database, "word")
    await database.run_apart(MERGING.remove_levels)
    assert await found(database, "word") == [1]


def test_a_structure_of_few_levels_or_of_another_format_stays_as_it_is() -> None:
    assert without_empty_levels(TABLE_OF_NINE_LEVELS) == TABLE_OF_NINE_LEVELS
    other = b"\0\0\0\1\xff\0\0\1" + bytes([0x81, 0x40, 0, 0]) + b"\0\0" * 192
    assert without_empty_levels(other) == other


@given(
    empty=st.integers(0, 5_000),
    others=st.lists(st.tuples(st.integers(0, 3), st.integers(1, 200)), min_size=1, max_size=4),
)
def test_only_empty_levels_are_removed(empty: int, others: list[tuple[int, int]]) -> None:
    content = b"".join(bytes([merging, 1, 1, 1, last & 0x7F]) for merging, last in others)
    levels = empty + len(others)

    def structure(levels: int, empty: int) -> bytes:
        number = bytes([levels]) if levels < 128 else bytes([0x80 | levels >> 7, levels & 0x7F])
        return b"\0\0\0\7" + number + bytes([3, 0x82, 0x01]) + b"\0\0" * empty + content

    expected = empty if levels <= MAX_LEVELS else min(empty, KEPT_LEVELS)
    assert without_empty_levels(structure(levels, empty)) == structure(
        len(others) + expected, expected
    )


async def test_a_job_of_its_own_connection_is_undone_as_a_whole(database: SqliteDatabase) -> None:
    def job(connection: sqlite3.Connection) -> None:
        connection.execute("UPDATE maintenance SET due = 7")
        raise sqlite3.OperationalError("failed on purpose")

    with pytest.raises(Exception, match="failed on purpose"):
        await database.run_apart(job)
    assert await database.fetch(Statement("SELECT due FROM maintenance")) == [(0,)]
