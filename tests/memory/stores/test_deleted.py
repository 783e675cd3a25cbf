"""A deleted memory is removed from every table at once, and finally from the pages of the file."""

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from db.sqlite import SqliteDatabase
from memory.model.record import Embedding, Tier
from memory.ports.memories import MemoryStore
from memory.stores.memories import SqlMemories
from memory.stores.partitions import owner_of
from memory.stores.search import searches_on
from tests.memory.stores.records import AT, access, record, store, texts
from tests.support.clock import FakeClock
from tests.support.databases import Engine

TABLES = ("memories", "memory_words", "memory_origins", "memory_vectors")
SECRET = "xylophonist"


async def rows(engine: Engine, table: str) -> int:
    sql = f"SELECT count(*) FROM {table}"
    if isinstance(engine, SqliteDatabase):
        return int(await engine.run_job(lambda db: db.execute(sql).fetchone()[0]))
    return int((await engine.fetch_raw(sql))[0][0])


async def indexed(engine: SqliteDatabase, word: str) -> int:
    sql = "SELECT count(*) FROM memories_text WHERE memories_text MATCH ?"
    return int(await engine.run_job(lambda db: db.execute(sql, (word,)).fetchone()[0]))


@pytest.mark.parametrize("how", ["delete", "clear", "forget_message", "prune"])
async def test_a_deleted_memory_leaves_no_row_anywhere(
    engine: Engine, memories: MemoryStore, how: str
) -> None:
    until = AT + timedelta(days=1)
    vector = Embedding("m", (1.0, 2.0))
    kept = record(f"plays the {SECRET}", message_id="m1", embedding=vector, expires_at=until)
    await store(memories, kept)
    assert all([await rows(engine, table) for table in TABLES])
    if isinstance(engine, SqliteDatabase):
        assert await indexed(engine, f"{owner_of(kept)}{SECRET}") == 1
    match how:
        case "delete":
            await memories.delete(access(), [kept.id])
        case "clear":
            await memories.clear(access(), (Tier.SEMANTIC,))
        case "forget_message":
            await memories.forget_message("t", ("test", "main", "C1"), ["m1"])
        case _:
            assert await memories.prune(until, until) == [kept.id]
    assert [await rows(engine, table) for table in TABLES] == [0, 0, 0, 0]
    assert await texts(memories, text=SECRET) == []
    if isinstance(engine, SqliteDatabase):
        assert await indexed(engine, f"{owner_of(kept)}{SECRET}") == 0
        assert await rows(engine, "memory_partitions") == 0
        check = "INSERT INTO memories_text (memories_text, rank) VALUES ('integrity-check', 1)"
        await engine.run_job(lambda db: db.execute(check))


def pages(sqlite: SqliteDatabase) -> bytes:
    """Everything that lies on the disk once the log was folded in."""
    with closing(sqlite3.connect(sqlite.path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    files = Path(sqlite.path).parent.glob(f"{Path(sqlite.path).name}*")
    return b"".join(file.read_bytes() for file in files).lower()


async def test_the_database_file_contains_no_word_of_a_deleted_memory(
    sqlite: SqliteDatabase, clock: FakeClock
) -> None:
    searches = searches_on(sqlite)
    memories = SqlMemories(sqlite, clock, searches)
    for number in range(300):
        await store(memories, record(f"memory number {number} is about tea and a walk"))
    secret = record(f"she plays the {SECRET} in secret", tags=(SECRET,))
    await store(memories, secret)
    for number in range(300, 600):
        await store(memories, record(f"memory number {number} is about tea and a walk"))
    assert SECRET.encode() in pages(sqlite)
    assert await searches.maintain() == 0
    await memories.delete(access(), [secret.id])
    steps = 0
    while await searches.maintain():
        steps += 1
        assert steps < 1_000
    assert SECRET[:6].encode() not in pages(sqlite)
    assert len(await texts(memories, text="walk", limit=1_000)) == 600


async def test_a_replaced_text_is_removed_too(sqlite: SqliteDatabase, clock: FakeClock) -> None:
    searches = searches_on(sqlite)
    memories = SqlMemories(sqlite, clock, searches)
    await store(memories, record(f"I play the {SECRET}", role="user", message_id="m1"))
    await memories.revise_message("t", ("test", "main", "C1"), "m1", "I play nothing")
    while await searches.maintain():
        pass
    assert SECRET[:6].encode() not in pages(sqlite)
