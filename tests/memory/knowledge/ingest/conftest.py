"""An ingester on both databases, with a splitter of lines."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from db import Statement
from gateway.immutable import replace
from memory.git.location import locate
from memory.knowledge.ingest.ingester import Ingester, IngestLimits, Splitter
from memory.knowledge.model import BranchOutcome, IngestOutcome, IngestProgress, Repository
from memory.knowledge.stores.repositories import KnowledgeStores
from parley.config.agent_file import read_agent_file
from tests.memory.knowledge.line_splitter import split_lines
from tests.memory.knowledge.stores.conftest import Stores, stores
from tests.memory.knowledge.values import AT, repository
from tests.support.git import TestRepository, new_repository

__all__ = ["stores"]  # a fixture of the tests here

STORED = Statement("""
    SELECT b.name, f.path, f.at_commit, f.kind, c.text, c.first_line FROM knowledge_files f
    JOIN knowledge_branches b ON b.number = f.branch
    LEFT JOIN knowledge_chunks c ON c.content = f.content
    ORDER BY b.name, f.path, c.number
""")
SKIPPED = Statement("SELECT path, reason FROM knowledge_skipped ORDER BY path")


@dataclass
class Knowledge:
    """One registered repository, and what the index has of it."""

    git: TestRepository
    stores: Stores
    registered: Repository
    progress: list[IngestProgress] = field(default_factory=list)

    def ingester(self, splitter: Splitter | None = None, **limits: float) -> Ingester:
        return Ingester(
            KnowledgeStores(self.stores.repositories, self.stores.files, self.stores.locks),
            lambda content: read_agent_file(content).rules(),
            splitter or Splitter(split_lines, 1),
            lambda: AT,
            IngestLimits(**limits),  # type: ignore[arg-type]  # names of its fields
        )

    async def ingest(self, *, force: bool = False) -> IngestOutcome:
        return await self.ingester().ingest(self.registered, self.progress.append, force=force)

    async def ingest_one(self, *, force: bool = False) -> BranchOutcome:
        """Ingest a repository with one branch."""
        (outcome,) = (await self.ingest(force=force)).branches
        return outcome

    async def files(self, branch: str = "") -> dict[str, str]:
        """The texts of the chunks by path."""
        results: dict[str, list[str]] = {}
        for name, path, _, _, text, _ in await self.stores.database.fetch(STORED):
            if branch in {"", name}:
                results.setdefault(path, []).append(text or "")
        return {path: "|".join(texts) for path, texts in results.items()}

    async def commits(self) -> dict[str, str]:
        """The commits of the files by path."""
        return {row[1]: row[2] for row in await self.stores.database.fetch(STORED)}

    async def skipped(self) -> dict[str, str]:
        """The reasons of skipped files by path."""
        return dict(await self.stores.database.fetch(SKIPPED))

    async def register(self, folder: Path, **changes: object) -> None:
        place = locate(folder)
        given = {"folder": str(place.folder), "git_dir": str(place.common_dir), "branches": ()}
        self.registered = replace(repository(), **(given | changes))  # type: ignore[arg-type]
        if not await self.stores.repositories.add(self.registered):
            await self.stores.repositories.change(self.registered)


@pytest.fixture
async def knowledge(stores: Stores, tmp_path: Path) -> Knowledge:
    git = new_repository(tmp_path / "shop")
    made = Knowledge(git, stores, repository())
    await made.register(git.folder)
    return made
