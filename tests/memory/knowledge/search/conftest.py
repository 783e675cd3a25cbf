"""Repositories with the real word index on both databases."""

import hashlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from db import Database
from db.postgres import PostgresDatabase
from db.sqlite import SqliteDatabase
from memory.knowledge.access import KnowledgeAccess
from memory.knowledge.model import BranchState, ChunkHit, FileKind, KnowledgeQuery, Repository
from memory.knowledge.ports import Batch, NewFile
from memory.knowledge.schema import FILE_SCHEMA
from memory.knowledge.search import Searcher
from memory.knowledge.splitting import split_file
from memory.knowledge.stores.files import SqlFiles
from memory.knowledge.stores.repositories import SqlRepositories
from memory.knowledge.stores.word_index import ChunkWordSearch, word_index_on
from memory.knowledge.words import filed_words
from tests.memory.knowledge.values import AT, repository
from tests.support.databases import PATIENT, migrated_database
from tests.support.servers import PostgresServer

COMMIT = "c" * 40
MEMBER = KnowledgeAccess("default", ("slack:main:T1",), public=False, member=True)


@dataclass
class Library:
    """Repositories that are indexed and searched."""

    database: Database
    words: ChunkWordSearch
    repositories: SqlRepositories = field(init=False)
    files: SqlFiles = field(init=False)
    searcher: Searcher = field(init=False)

    def __post_init__(self) -> None:
        self.repositories = SqlRepositories(self.database, self.words)
        self.files = SqlFiles(self.database, self.words)
        self.searcher = Searcher(self.database, self.words)

    async def add(
        self,
        texts: Mapping[str, str],
        *,
        branch: str = "main",
        followed: bool = True,
        **changes: Any,
    ) -> str:
        """Index a repository, or one more branch of it; return its id."""
        id_ = str(changes.get("id", "r1"))
        new = {"name": id_, "git_dir": f"/code/{id_}/.git", **changes}
        if await self.repositories.get(id_) is None:
            await self.repositories.add(repository(**new))
        await self.files.begin(id_, branch, followed=followed, target=COMMIT, rules="")
        batch = Batch(files=[_new(path, text) for path, text in texts.items()])
        await self.files.write(id_, branch, COMMIT, batch, AT)
        await self.files.finish(id_, branch, COMMIT, AT)
        return id_

    async def search(self, access: KnowledgeAccess, query: KnowledgeQuery) -> list[ChunkHit]:
        return await self.searcher.search(access, query)

    async def readable(self, access: KnowledgeAccess, limit: int) -> list[Repository]:
        return await self.repositories.readable(access, limit)

    async def states(
        self, access: KnowledgeAccess, limit: int
    ) -> list[tuple[Repository, list[BranchState]]]:
        found = await self.readable(access, limit)
        return [(one, await self.files.branches(one.id)) for one in found]

    async def any_restricted(self, tenant: str) -> bool:
        return await self.repositories.any_restricted(tenant)

    async def find(
        self, text: str, *kinds: FileKind, access: KnowledgeAccess = MEMBER, **query: Any
    ) -> list[ChunkHit]:
        return await self.searcher.search(access, KnowledgeQuery(text, frozenset(kinds), **query))

    async def paths(self, text: str, *kinds: FileKind, **query: Any) -> list[str]:
        return [hit.path for hit in await self.find(text, *kinds, **query)]


def _new(path: str, text: str) -> NewFile:
    content = text.encode("utf-8", "replace")
    digest = hashlib.sha256(content).hexdigest()
    split = split_file(path, text)
    words = tuple(map(filed_words, split.chunks))
    return NewFile(path, digest[:40], digest, len(content), split, words)


@pytest.fixture(
    params=["sqlite", pytest.param("postgres", marks=pytest.mark.xdist_group("postgres"))]
)
async def library(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Library]:
    database: SqliteDatabase | PostgresDatabase
    if request.param == "sqlite":
        database = SqliteDatabase(tmp_path / "knowledge.db", (FILE_SCHEMA,))
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        url = migrated_database(server, (FILE_SCHEMA,))
        database = PostgresDatabase(url, (FILE_SCHEMA,), PATIENT)
    await database.start()
    yield Library(database, word_index_on(database))
    await database.stop()
