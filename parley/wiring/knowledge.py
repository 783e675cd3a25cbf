"""Opens the index of repositories: for a command, or for a running program with the first need."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog
from msgspec import Struct

from db import AddressInvalid, Database
from db.errors import StoreUnavailable
from db.sqlite import SqliteDatabase
from gateway.errors import ConfigurationError
from gateway.ports import Clock, Counter
from gateway.ports.work_guard import WorkGuard
from memory.embeddings.backfill import ChunkBackfill
from memory.knowledge.access import KnowledgeAccess, KnowledgeReader
from memory.knowledge.model import BranchState, ChunkHit, KnowledgeQuery, Repository
from memory.knowledge.ports import EMBED_SECONDS, IngestLock, Nearness
from memory.knowledge.schema import FILE_SCHEMA
from memory.knowledge.stores.files import SqlFiles
from memory.knowledge.stores.locks import FileLocks, PostgresLocks
from memory.knowledge.stores.repositories import KnowledgeStores, SqlRepositories
from memory.knowledge.stores.vectors import SqlChunkVectors
from memory.knowledge.stores.word_index import word_index_on
from memory.stores.room_bindings import RoomBindingStore
from parley.config import Settings
from parley.config.sections import MEMORY, sqlite_file
from parley.wiring.recall import RecallModels, embedding_problem

if TYPE_CHECKING:
    from memory.knowledge.search import Searcher

FILE: Final = "knowledge.db"
log = structlog.get_logger(__name__)


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


class ProgramIndex:
    """Implements `memory.knowledge.access.RepositoryIndex`. An SQLite file is opened once `parley
    knowledge init` has made it; until then there is nothing to read."""

    def __init__(self, index: KnowledgeIndex, nearness: Nearness | None = None) -> None:
        self._index = index
        self._nearness = nearness
        self._searcher: Searcher | None = None
        self._readable = index.stores.repositories
        self._opening = asyncio.Lock()
        self._open = False

    async def search(self, access: KnowledgeAccess, query: KnowledgeQuery) -> list[ChunkHit]:
        """Return matching parts of files, best first. Raises `StoreUnavailable`."""
        if not await self.opened():
            return []
        if self._searcher is None:
            self._searcher = await asyncio.to_thread(self._loaded_searcher)
        return await self._searcher.search(access, query)

    async def readable(self, access: KnowledgeAccess, limit: int) -> list[Repository]:
        """Return repositories by name. Raises `StoreUnavailable`."""
        return await self._readable.readable(access, limit) if await self.opened() else []

    async def states(
        self, access: KnowledgeAccess, limit: int
    ) -> list[tuple[Repository, list[BranchState]]]:
        """Return repositories by name, with their branches in the index. Raises
        `StoreUnavailable`."""
        files = self._index.stores.files
        found = await self.readable(access, limit)
        return [(one, await files.branches(one.id)) for one in found]

    async def any_restricted(self, tenant: str) -> bool:
        """True if a repository of the tenant may not be read by everybody. Raises
        `StoreUnavailable`."""
        return await self.opened() and await self._readable.any_restricted(tenant)

    async def close(self) -> None:
        """Close the index."""
        async with self._opening:
            if self._open:
                await self._index.stop()
            self._open = False

    @property
    def vectors(self) -> SqlChunkVectors:
        """The vectors of chunks, for use while the index is open."""
        return self._index.vectors

    async def opened(self) -> bool:
        """Open the index once; False while it does not exist. Raises `StoreUnavailable`."""
        return self._open or (self._exists() and await self._start())

    def _loaded_searcher(self) -> "Searcher":
        from memory.knowledge.search import Searcher  # noqa: PLC0415 - loaded with the first search

        words = word_index_on(self._index.database)
        return Searcher(self._index.database, words, nearness=self._nearness)

    def _exists(self) -> bool:
        """Return False while there is no file. On the loop: a message asks for this in some
        microseconds, and a thread would take half of the time that a message costs."""
        return self._index.file is None or self._index.file.exists()

    async def _start(self) -> bool:
        async with self._opening:
            if not self._open:
                try:
                    await self._index.start()
                except StoreUnavailable as error:
                    log.warning("knowledge_not_opened", error=str(error))
                    raise
                self._open = True
        return True


def program_index(settings: Settings, models: RecallModels) -> ProgramIndex | None:
    """The index of a configuration; None where repositories are off, or cannot be kept."""
    if not (settings.knowledge.enabled and settings.memory.enabled):
        return None
    try:
        index = open_knowledge(settings)
    except ConfigurationError:  # a database in memory
        return None
    return ProgramIndex(index, nearness_on(settings, index.database, models))


def nearness_on(
    settings: Settings, database: Database, models: RecallModels, seconds: float = EMBED_SECONDS
) -> Nearness | None:
    """The search by meaning; None without a model. It waits `seconds` for the vector of a
    question."""
    if models.embedder is None or embedding_problem(settings):
        return None
    from memory.knowledge.stores.nearest_chunks import ModelNearness  # noqa: PLC0415 - 0.3 s, for a model only

    return ModelNearness(database, models.embedder, seconds)


def chunk_embedding(
    settings: Settings,
    index: ProgramIndex,
    models: RecallModels,
    clock: Clock,
    count: Counter,
    guard: WorkGuard,
) -> Callable[[], Awaitable[int]] | None:
    """The steps that make vectors of chunks; None without a model."""
    if models.behind is None or embedding_problem(settings):
        return None
    work = ChunkBackfill(index.vectors, models.behind, clock, count, models.warm, guard)

    async def step() -> int:
        return await work.step() if await index.opened() else 0

    return step


def repository_reader(
    index: ProgramIndex | None, bindings: RoomBindingStore
) -> KnowledgeReader | None:
    """The search of repositories for requests; None without an index."""
    return None if index is None else KnowledgeReader(index, bindings)
