"""The two ways to search, which every database has in its own way: by words and by vectors."""

from typing import Protocol

from db import Params, Statement
from memory.model.record import Embedding
from memory.model.scope import AccessScope
from memory.ports.memories import Filter


class WordSearch(Protocol):
    """Looks memories up by their words."""

    async def fitting(
        self, access: AccessScope, wanted: Filter, now: int
    ) -> list[tuple[int, float]]:
        """What fits and has some of the words of `wanted.text`: numbers with the share that each
        has, best first, behind `wanted.after_id`, at most `wanted.limit`."""
        ...

    async def weighed(
        self, access: AccessScope, query: str, wanted: Filter, limit: int, now: int
    ) -> list[tuple[str, float]]:
        """What `RecallStore.lexical` gives: ids and scores."""
        ...


class VectorSearch(Protocol):
    """Keeps the vectors of memories, and looks memories up by them."""

    setting: Statement
    """Sets the vector of a memory that exists; takes `values`."""

    async def there(self) -> bool:
        """True when the table `memory_vectors` can be read."""
        ...

    async def made(self) -> bool:
        """The same, after the table was made where that is possible."""
        ...

    def values(self, memory_id: str, embedding: Embedding) -> Params:
        """What `setting` takes."""
        ...

    def vector(self, kept: object) -> tuple[float, ...]:
        """The vector of a value of the column `vector`."""
        ...

    async def nearest(
        self, access: AccessScope, query: Embedding, wanted: Filter, limit: int, now: int
    ) -> list[tuple[str, float]]:
        """What `RecallStore.nearest` gives: ids and cosines."""
        ...
