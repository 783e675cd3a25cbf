"""What an older version of the program stored is found as well, once it was filed."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from gateway.storage.migrations.ledger import MIGRATIONS
from gateway.storage.migrations.step import Migration, statements
from gateway.storage.postgres.pool import PostgresPool
from gateway.storage.sqlite.database import Database
from memory.filing import Filing
from memory.recall.ports import RecallStore
from memory.record import Embedding, Record
from memory.scope import Reach
from memory.store.ports import Filter
from memory.store.postgres.memories import PostgresMemories
from memory.store.postgres.rows import values_of as postgres_values
from memory.store.rows import COLUMNS
from memory.store.shelves import owner_of, room_shelf, shelves_of
from memory.store.sqlite.memories import SqliteMemories
from memory.store.sqlite.rows import INSERT, blob, values_of
from memory.store.terms import filed
from tests.memory.store.conftest import memories_on, recall_on
from tests.memory.store.records import BOB, reach, record
from tests.support.clock import FakeClock
from tests.support.databases import PATIENT, new_database
from tests.support.servers import PostgresServer

BEFORE = [step for step in MIGRATIONS if step.version < 10]
"""All before what recall looks memories up by."""
KEPT = record("she likes v1.2 of green tea", room="test:main:W1:C1")
VECTOR = Embedding("m", (1.0, 0.0))


def old_database(path: Path, steps: Sequence[Migration]) -> sqlite3.Connection:
    """A database that has taken these steps."""
    old = sqlite3.connect(path)
    old.execute(
        "CREATE TABLE schema_migrations"
        " (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL)"
    )
    for step in steps:
        for statement in statements(step.sqlite):
            old.execute(statement)
        old.execute("INSERT INTO schema_migrations VALUES (?, ?, '')", (step.version, step.name))
    return old


async def test_sqlite(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "old.db"
    with closing(old_database(path, BEFORE)) as old:
        seq = old.execute(INSERT, values_of(KEPT)).lastrowid
        old.execute("INSERT INTO memory_vectors VALUES (?, 'm', 2, ?)", (seq, blob(VECTOR.vector)))
        old.commit()
    database = Database(path)
    await database.start()
    await found(database, clock, with_vector=True)
    await database.stop()


async def test_what_was_filed_is_found_under_every_shelf_afterwards(
    tmp_path: Path, clock: FakeClock
) -> None:
    path = tmp_path / "old.db"
    turn = record("the boiler is a v1.2", room="test:main:W1:C1", role="user", message_id="m2")
    kept = (KEPT, turn)
    with closing(old_database(path, [step for step in MIGRATIONS if step.version < 14])) as old:
        for one in kept:
            seq = old.execute(INSERT, values_of(one)).lastrowid
            words = filed(one.content)
            values = (seq, words, shelves_of(one), len(words), owner_of(one), room_shelf(one))
            old.execute("INSERT INTO memory_terms VALUES (?, ?, ?, ?, ?, ?)", values)
        old.commit()
    database = Database(path)
    await database.start()
    memories, recall = memories_on(database, clock), recall_on(database, clock)
    everybody = reach(BOB, room="test:main:W1:C1", private=False)
    assert await ids(recall, reach()) == {one.id for one in kept}
    assert await ids(recall, everybody) == {turn.id}
    assert await ids(recall, reach(BOB)) == set()
    assert set(await memories.delete(reach(), [one.id for one in kept])) == {one.id for one in kept}
    assert await ids(recall, reach()) == set()
    await database.stop()


async def ids(recall: RecallStore, who: Reach) -> set[str]:
    return {hit.id for hit in await recall.lexical(who, "v1.2", Filter(), 5)}


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
    filing = Filing(memories)
    assert await filing.step() == 1
    assert await filing.step() == 0
    assert [hit.id for hit in await recall.lexical(reach(), "v1.2 teas", Filter(), 5)] == [KEPT.id]
    near = await recall.nearest(reach(), VECTOR, Filter(), 5)
    assert [hit.id for hit in near] == ([KEPT.id] if with_vector else [])
    assert await memories.delete(reach(), [KEPT.id]) == [KEPT.id]
    assert await recall.lexical(reach(), "tea", Filter(), 5) == []
    assert await recall.nearest(reach(), VECTOR, Filter(), 5) == []
