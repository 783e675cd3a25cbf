"""A word index that holds nothing, for stores whose index is neither searched nor changed."""

from collections.abc import Sequence

from db import Work
from memory.knowledge.ports.stores import IndexedChunk


class NoWords:
    """Implements `memory.knowledge.ports.stores.WordIndex`."""

    def add(self, chunks: Sequence[IndexedChunk]) -> Work[None]:
        yield from ()

    def remove(self, numbers: Sequence[int]) -> Work[None]:
        yield from ()

    def purge(self) -> Work[None]:
        yield from ()
