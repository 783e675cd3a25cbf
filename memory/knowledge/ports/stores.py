"""Values that the stores of repositories take, and their parts that differ by database."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from msgspec import Struct

from db import Work
from memory.knowledge.model import (
    FileKind,
    SkippedFile,
    SplitFile,
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


class IngestLock(Protocol):
    """Lets one process at a time write a repository, over all processes and machines that share
    the index."""

    def hold(self, repository_id: str) -> AbstractAsyncContextManager[bool]:
        """Hold the lock; False at once if another process has it."""
        ...


class NoWords:
    """A word index that holds nothing, for stores whose index is neither searched nor changed."""

    def add(self, chunks: Sequence[IndexedChunk]) -> Work[None]:
        yield from ()

    def remove(self, numbers: Sequence[int]) -> Work[None]:
        yield from ()

    def purge(self) -> Work[None]:
        yield from ()
