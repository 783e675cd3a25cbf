"""The stores of knowledge on both databases, with a word index that tells what it was given."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from db import Database, Statement, Work, among, fetch
from db.postgres import PostgresDatabase
from db.sqlite import SqliteDatabase
from memory.knowledge.ports import IndexedChunk, IngestLock
from memory.knowledge.schema import FILE_SCHEMA
from memory.knowledge.stores.files import SqlFiles
from memory.knowledge.stores.locks import FileLocks, PostgresLocks
from memory.knowledge.stores.repositories import SqlRepositories
from tests.support.databases import PATIENT, migrated_database
from tests.support.servers import PostgresServer

EXISTING = Statement(f"SELECT number FROM knowledge_chunks WHERE {among('number', 'numbers')}")


@dataclass
class RecordingIndex:
    """Holds the first words of chunks by their numbers, outside of the database."""

    texts: dict[int, str] = field(default_factory=dict)
    owners: dict[int, str] = field(default_factory=dict)

    def partitions(self) -> set[str]:
        return {self.owners[number] for number in self.texts}

    def add(self, chunks: Sequence[IndexedChunk]) -> Work[None]:
        rows = yield from fetch(EXISTING, {"numbers": [one.number for one in chunks]})
        assert len(rows) == len(chunks)
        self.owners |= {one.number: one.partition for one in chunks}
        self.texts |= {one.number: one.words.text.partition(":")[0].strip() for one in chunks}

    def remove(self, numbers: Sequence[int]) -> Work[None]:
        rows = yield from fetch(EXISTING, {"numbers": list(numbers)})
        assert len(rows) == len(numbers)
        for number in numbers:
            self.texts.pop(number, None)

    def purge(self) -> Work[None]:
        yield from ()


@dataclass
class Stores:
    database: Database
    repositories: SqlRepositories
    files: SqlFiles
    locks: IngestLock
    other_locks: IngestLock
    words: RecordingIndex


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))]
)
async def stores(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stores]:
    words = RecordingIndex()
    database: SqliteDatabase | PostgresDatabase
    if request.param == "sqlite":
        file = tmp_path / "knowledge.db"
        database = SqliteDatabase(file, (FILE_SCHEMA,))
        locks: tuple[IngestLock, IngestLock] = (FileLocks(file), FileLocks(file))
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        url = migrated_database(server, (FILE_SCHEMA,))
        database = PostgresDatabase(url, (FILE_SCHEMA,), PATIENT)
        locks = (PostgresLocks(database), PostgresLocks(database))
    await database.start()
    yield Stores(
        database, SqlRepositories(database, words), SqlFiles(database, words), *locks, words
    )
    await database.stop()
