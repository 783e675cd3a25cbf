"""Repositories and results for tests, and a search over results that are given to it."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from gateway.immutable import replace
from memory.knowledge.access import KnowledgeAccess, is_restricted, reads
from memory.knowledge.model import BranchState, ChunkHit, FileKind, KnowledgeQuery, Repository

AT: Final = datetime(2026, 11, 2, tzinfo=UTC)
COMMIT: Final = "0123456789abcdef0123456789abcdef01234567"
REPOSITORY: Final = Repository(
    id="r1",
    tenant="default",
    project="",
    name="shop",
    folder="/srv/shop",
    git_dir="/srv/shop/.git",
    remote="https://github.com/example/shop.git",
    private=False,
    rooms=(),
    branches=(),
    created_at=AT,
)
HIT: Final = ChunkHit(
    repository=REPOSITORY,
    path="docs/adrs/ADR-007-queue.md",
    branch="main",
    commit=COMMIT,
    first_line=3,
    last_line=9,
    symbol="",
    heading="Decision",
    kind=FileKind.DECISION,
    title="ADR-007: Use a queue",
    status="accepted",
    superseded_by="",
    text="We use a queue because orders come in bursts.",
    score=2.5,
    ingested_at=AT,
)


@dataclass
class GivenHits:
    """Implements `RepositoryIndex`: everything that the rule allows, whatever is asked."""

    hits: list[ChunkHit] = field(default_factory=list)
    asked: list[KnowledgeQuery] = field(default_factory=list)
    accesses: list[KnowledgeAccess] = field(default_factory=list)
    branches: list[BranchState] = field(default_factory=list)

    async def search(self, access: KnowledgeAccess, query: KnowledgeQuery) -> list[ChunkHit]:
        self.asked.append(query)
        self.accesses.append(access)
        results = [hit for hit in self.hits if reads(access, hit.repository)]
        return [hit for hit in results if not query.kinds or hit.kind in query.kinds][: query.limit]

    async def readable(self, access: KnowledgeAccess, limit: int) -> list[Repository]:
        results = {hit.repository.name: hit.repository for hit in self.hits}
        return [one for _, one in sorted(results.items()) if reads(access, one)][:limit]

    async def states(
        self, access: KnowledgeAccess, limit: int
    ) -> list[tuple[Repository, list[BranchState]]]:
        return [(one, self.branches) for one in await self.readable(access, limit)]

    async def any_restricted(self, tenant: str) -> bool:
        return any(is_restricted(hit.repository) for hit in self.hits)


def hit_of(repository: Repository, text: str, **changes: object) -> ChunkHit:
    """A result from a repository."""
    return replace(HIT, repository=repository, text=text, **changes)  # type: ignore[arg-type] # named as the fields
