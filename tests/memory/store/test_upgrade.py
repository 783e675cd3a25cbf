"""What an older version of the program stored is found as well, once it was filed."""

import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from gateway.storage.migrations.ledger import MIGRATIONS
from gateway.storage.migrations.step import statements
from gateway.storage.postgres.pool import PostgresPool
from gateway.storage.sqlite.database import Database
from memory.record import Embedding, Record
from memory.store.ports import Filter
from memory.store.postgres.memories import PostgresMemories
from memory.store.postgres.rows import values_of as postgres_values
from memory.store.rows import COLUMNS
from memory.store.shelves import owner_of, shelves_of
from memory.store.sqlite.memories import SqliteMemories
from memory.store.sqlite.rows import INSERT, blob, values_of
from tests.memory.store.conftest import memories_on, recall_on
from tests.memory.store.records import reach, record
from tests.support.clock import FakeClock
from tests.support.databases import PATIENT, new_database
from tests.support.servers import PostgresServer

BEFORE = [step for step in MIGRATIONS if step.name != "recall"]
KEPT = record("she likes v1.2 of green tea", room="test:main:W1:C1")
VECTOR = Embedding("m", (1.0, 0.0))


async def test_sqlite(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as old:
        old.execute(
            "CREATE TABLE schema_migrations"
            " (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)"
        )
        for step in BEFORE:
            for statement in statements(step.sqlite):
                old.execute(statement)
            old.execute(
                "INSERT INTO schema_migrations VALUES (?, ?, '')", (step.version, step.name)
            )
        seq = old.execute(INSERT, values_of(KEPT)).lastrowid
        old.execute("INSERT INTO memory_vectors VALUES (?, 'm', 2, ?)", (seq, blob(VECTOR.vector)))
        old.commit()
    database = Database(path)
    await database.start()
    await found(database, clock, with_vector=True)
    await database.stop()


@pytest.mark.xdist_group("postgres")
async def test_postgres(postgres: PostgresServer, clock: FakeClock) -> None:
    url = new_database(postgres)
    with psycopg.connect(url, autocommit=True) as old:
        old.execute(
            "CREATE TABLE schema_migrations (version integer PRIMARY KEY, name text NOT NULL,"
            " applied_at timestamptz NOT NULL DEFAULT now())"
        )
        for step in BEFORE:
            for statement in statements(step.postgres):
                old.execute(statement.encode())
            old.execute(
                "INSERT INTO schema_migrations (version, name) VALUES (%s, %s)",
                (step.version, step.name),
            )
        old.execute(old_insert(KEPT), postgres_values(KEPT))
    pool = PostgresPool(url, PATIENT)
    await pool.start()
    await found(pool, clock, with_vector=False)
    await pool.stop()


def old_insert(kept: Record) -> bytes:
    """As a row was stored before its words were filed."""
    names = [*COLUMNS, "owner", "shelves"]
    values = ", ".join(f"%({name})s" for name in COLUMNS)
    more = f"'{owner_of(kept)}', '{shelves_of(kept)}', to_tsvector('parley', 'tea')"
    return f"INSERT INTO memories ({', '.join(names)}, lexemes) VALUES ({values}, {more})".encode()


async def found(engine: Database | PostgresPool, clock: FakeClock, *, with_vector: bool) -> None:
    memories, recall = memories_on(engine, clock), recall_on(engine, clock)
    assert isinstance(memories, SqliteMemories | PostgresMemories)
    assert await recall.lexical(reach(), "v1.2 teas", Filter(), 5) == []
    assert await memories.file() == 1
    assert await memories.file() == 0
    assert [hit.id for hit in await recall.lexical(reach(), "v1.2 teas", Filter(), 5)] == [KEPT.id]
    near = await recall.nearest(reach(), VECTOR, Filter(), 5)
    assert [hit.id for hit in near] == ([KEPT.id] if with_vector else [])
    assert await memories.delete(reach(), [KEPT.id]) == [KEPT.id]
    assert await recall.lexical(reach(), "tea", Filter(), 5) == []
    assert await recall.nearest(reach(), VECTOR, Filter(), 5) == []
