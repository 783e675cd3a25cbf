"""Opens the index of repositories."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from msgspec import Struct

from db import AddressInvalid, Database
from db.sqlite import SqliteDatabase
from gateway.errors import ConfigurationError
from memory.knowledge.ports import IngestLock
from memory.knowledge.schema import FILE_SCHEMA
from memory.knowledge.stores.files import SqlFiles
from memory.knowledge.stores.locks import FileLocks, PostgresLocks
from memory.knowledge.stores.repositories import KnowledgeStores, SqlRepositories
from memory.knowledge.stores.vectors import SqlChunkVectors
from memory.knowledge.stores.word_index import word_index_on
from parley.config import Settings
from parley.config.sections import MEMORY, sqlite_file

FILE: Final = "knowledge.db"


class KnowledgeIndex(Struct, frozen=True):
    """The index and its stores. `file` is its SQLite file, None with PostgreSQL."""

    database: Database
    stores: KnowledgeStores
    vectors: SqlChunkVectors
    start: Callable[[], Awaitable[None]]
    stop: Callable[[], Awaitable[None]]
    file: Path | None


def open_knowledge(settings: Settings) -> KnowledgeIndex:
    """The index of a configuration, not opened yet. Raises `ConfigurationError`.

    On SQLite it is a file of its own, which several processes open: the program, the command line
    and the background work of git hooks.
    """
    url = settings.database.url
    if url.startswith("postgresql://"):
        from db.postgres import PostgresDatabase  # noqa: PLC0415 - loaded only where it is needed
        from parley.wiring.storage import SCHEMAS  # noqa: PLC0415 - slow, and for this engine only

        try:
            server = PostgresDatabase(url, SCHEMAS)
        except AddressInvalid as error:
            raise ConfigurationError(str(error)) from None
        stores = _stores(server, PostgresLocks(server))
        return KnowledgeIndex(
            server, stores, SqlChunkVectors(server), server.start, server.stop, None
        )
    file = knowledge_file(settings)
    if file is None:
        raise ConfigurationError(
            "database.url keeps everything in memory, so there is no file for the index of"
            " repositories: set knowledge.file."
        )
    database = SqliteDatabase(file, (FILE_SCHEMA,))
    stores = _stores(database, FileLocks(file))
    vectors = SqlChunkVectors(database)
    return KnowledgeIndex(database, stores, vectors, database.start, database.stop, file)


def knowledge_file(settings: Settings) -> Path | None:
    """The SQLite file of the index: `knowledge.file`, or else beside the database. None with
    PostgreSQL, and for a database in memory."""
    url = settings.database.url
    if url.startswith("postgresql://"):
        return None
    if settings.knowledge.file:
        return Path(settings.knowledge.file)
    return None if url == MEMORY else Path(sqlite_file(url)).with_name(FILE)


def _stores(database: Database, lock: IngestLock) -> KnowledgeStores:
    words = word_index_on(database)
    return KnowledgeStores(SqlRepositories(database, words), SqlFiles(database, words), lock)
