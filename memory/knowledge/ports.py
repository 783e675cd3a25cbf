"""Values that the stores of repositories take, and the parts that differ by database or need a
model of vectors."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct

from db import Work
from memory.knowledge.model import SkippedFile, SplitFile
from memory.knowledge.words import FiledWords

if TYPE_CHECKING:
    from memory.model.record import Embedding


class IndexedChunk(Struct, frozen=True):
    """The words of a chunk with the number of its row, for the word index, and the partition in
    which they are found."""

    number: int
    partition: str
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


MAX_CLAIMED: Final = 16
"""Chunks whose vectors are made together: less than a second for a model on this machine."""

ENOUGH: Final = 0.9
"""The share of the searched chunks that need vectors. With fewer of them, files whose chunks have
none yet would stand below the others for that reason alone."""
EMBED_SECONDS: Final = 1.0
"""How long a search waits for the vector of its question."""


class ClaimedText(Struct, frozen=True):
    """A text as a model reads it, and the numbers of the chunks that have it."""

    text: str
    chunks: tuple[int, ...]


class ChunkClaim(Struct, frozen=True):
    """Texts whose vectors this process makes now. `last` is the number of the last chunk that was
    looked at; `copied` counts the chunks that got the vector of another chunk with the same
    text."""

    texts: tuple[ClaimedText, ...]
    last: int
    copied: int


class Nearness(Protocol):
    """Searches chunks by the meaning of a question."""

    async def vector(self, text: str) -> Embedding | None:
        """The vector of a question; None if the model fails or is too slow. Does not raise."""
        ...

    async def nearest(
        self, partitions: Sequence[str], vector: Embedding, limit: int
    ) -> dict[int, float]:
        """The numbers of the chunks whose vectors are nearest, with their cosines; none while fewer
        than nine of ten chunks have a vector. Partitions narrow the search; the caller applies the
        rule of who may read to the chunks. Raises `StoreUnavailable`."""
        ...
