"""Ports of vectors of chunks: their storage, and the search among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from memory.model.record import Embedding


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
