"""Storage of repositories, their files and chunks. Every method raises `StoreUnavailable`.

These methods do not decide who may read: only the command line and ingestion call them. Searches
take an access (`memory.knowledge.search`).
"""

from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from db import Work
from memory.knowledge.model import (
    BranchState,
    FileKind,
    Repository,
    SkippedFile,
    SplitFile,
    Totals,
)
from memory.knowledge.words import FiledWords


class IndexedChunk(Struct, frozen=True):
    """The words of a chunk with the number of its row in `knowledge_chunks`, for the word index."""

    number: int
    repository: str
    kind: FileKind
    words: FiledWords


class WordIndex(Protocol):
    """The word index over chunks, one class per engine. Its work is part of the transaction that
    adds or removes the chunks, so that the index never differs from them."""

    def add(self, chunks: Sequence[IndexedChunk]) -> Work[None]:
        """Index new chunks."""
        ...

    def remove(self, numbers: Sequence[int]) -> Work[None]:
        """Remove chunks, whose rows still exist."""
        ...

    def purge(self) -> Work[None]:
        """Take out what is left of removed chunks; the time grows with the index."""
        ...


class NewFile(Struct, frozen=True):
    """A file to store. `content` is the SHA-256 of its bytes, `blob` its object id in git; `size`
    counts bytes; `words` are those of each chunk."""

    path: str
    blob: str
    content: str
    size: int
    split: SplitFile
    words: tuple[FiledWords, ...]


class Batch(Struct, frozen=True):
    """Changes of one branch that become visible in one transaction; a path is in one field only.

    `kept` are paths that the branch has with the same content: they get the new commit. `copied`
    are paths with their blobs that another branch has. `removed` and `skipped` lose what was stored
    under their path.
    """

    files: Sequence[NewFile] = ()
    kept: Sequence[str] = ()
    copied: Sequence[tuple[str, str]] = ()
    removed: Sequence[str] = ()
    skipped: Sequence[SkippedFile] = ()


class RepositoryStore(Protocol):
    """The registered repositories."""

    async def add(self, repository: Repository) -> bool:
        """Store a repository; False if the tenant has one of this name or with this `git_dir`."""
        ...

    async def change(self, repository: Repository) -> bool:
        """Replace the settings of a repository: project, name, privacy, rooms, branches; False if
        the name is taken or there is no such repository."""
        ...

    async def get(self, repository_id: str) -> Repository | None:
        """Return a repository."""
        ...

    async def in_folder(self, git_dir: str) -> list[Repository]:
        """Return the repositories with this `git_dir`, at most one per tenant."""
        ...

    async def all(self) -> list[Repository]:
        """Return all repositories, by tenant and name."""
        ...

    async def forget(self, repository_id: str) -> bool:
        """Delete a repository with everything that was read from it, in bounded transactions;
        False if there is none. An interrupted deletion hides the repository at once, and is
        finished by the next call."""
        ...


class FileStore(Protocol):
    """The files and chunks of branches."""

    async def branches(self, repository_id: str) -> list[BranchState]:
        """Return the branches that were ingested, or are being ingested, by name."""
        ...

    async def renew(self, repository_id: str, version: int, *, always: bool = False) -> bool:
        """Let the next ingest split and index every file again if another version of splitting
        made the index, or always; return True if it will."""
        ...

    async def begin(
        self,
        repository_id: str,
        branch: str,
        *,
        followed: bool,
        target: str,
        rules: str,
        whole: bool = False,
    ) -> None:
        """Note that a branch is being brought to a commit. The followed branch of a repository
        keeps its files when another one is checked out. `whole`: until the end the branch is at no
        commit, so that the next process compares every file if this one does not end."""
        ...

    async def known(
        self, repository_id: str, branch: str, files: Collection[tuple[str, str]]
    ) -> dict[tuple[str, str], bool]:
        """Return those pairs of path and blob that some branch of the repository has: True for
        this branch."""
        ...

    async def paths(self, repository_id: str, branch: str, after: str, limit: int) -> list[str]:
        """Return paths of the branch, stored or skipped, that sort after one by their bytes."""
        ...

    async def write(
        self, repository_id: str, branch: str, commit: str, batch: Batch, at: datetime
    ) -> None:
        """Apply a batch in one transaction. The chunks of large files are stored before, in
        transactions of a bounded size, and no search finds them until then. Raises
        `StoreUnavailable` if another process began to bring the branch to another commit."""
        ...

    async def finish(self, repository_id: str, branch: str, commit: str, at: datetime) -> None:
        """Note that the branch is at a commit completely, unless another process began to bring it
        to another one."""
        ...

    async def drop(self, repository_id: str, branch: str) -> None:
        """Delete a branch with its files, in bounded transactions."""
        ...

    async def sweep(self, repository_id: str) -> int:
        """Delete some chunks of contents that no file has any more, and the contents without
        chunks; return the number of contents that were looked at, 0 at the end."""
        ...

    async def totals(self, repository_id: str) -> Totals:
        """Count what is stored."""
        ...


class IngestLock(Protocol):
    """Lets one process at a time write a repository, over all processes and machines that share
    the index."""

    def hold(self, repository_id: str) -> AbstractAsyncContextManager[bool]:
        """Hold the lock; False at once if another process has it."""
        ...


class KnowledgeStores(Struct, frozen=True):
    """The stores on one database."""

    repositories: RepositoryStore
    files: FileStore
    lock: IngestLock
