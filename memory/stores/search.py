"""Search by words and by vectors, which each database implements in its own way."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from db import Database, Params, Statement
from memory.model.record import Embedding
from memory.model.scope import AccessScope
from memory.ports.memories import Filter, TextVector
from memory.stores.sqlite.vector_search import SqliteVectors
from memory.stores.sqlite.word_search import SqliteWords


class WordSearch(Protocol):
    """Finds memories by their words."""

    async def fitting(
        self, access: AccessScope, filters: Filter, now: int
    ) -> list[tuple[int, float]]:
        """Return up to `wanted.limit` matches after `wanted.after_id` that contain words of
        `wanted.text`: their numbers and the share of the words, best first."""
        ...

    async def weighed(
        self, access: AccessScope, query: str, filters: Filter, limit: int, now: int
    ) -> list[tuple[str, float]]:
        """Return ids and scores, as `RecallStore.lexical` does."""
        ...


class VectorSearch(Protocol):
    """Stores vectors of memories, and finds memories by them."""

    setting: Statement
    """Sets the vector of a memory that has the text of the vector; its parameters are `values`."""

    async def there(self) -> bool:
        """True if the table `memory_vectors` is readable."""
        ...

    async def made(self) -> bool:
        """Create the table if possible; True if it is readable."""
        ...

    def values(self, vector: TextVector) -> Params:
        """Return the parameters of `setting`."""
        ...

    def vector(self, kept: object) -> tuple[float, ...]:
        """Decode a value of the column `vector`."""
        ...

    async def nearest(
        self, access: AccessScope, query: Embedding, filters: Filter, limit: int, now: int
    ) -> list[tuple[str, float]]:
        """Return ids and cosine similarities, as `RecallStore.nearest` does."""
        ...


@dataclass(frozen=True, slots=True)
class Searches:
    """`upkeep` is what the indexes need now and then; it returns the number of steps done."""

    words: WordSearch
    vectors: VectorSearch
    upkeep: Callable[[], Awaitable[int]]


def searches_on(database: Database) -> Searches:
    """The searches of an engine. Raises TypeError for a database of another kind."""
    if database.engine == "sqlite":
        words = SqliteWords(database)
        return Searches(words, SqliteVectors(database), words.merge)
    # Loaded only where it is configured: the library costs memory and start-up time.
    from db.postgres import PostgresDatabase  # noqa: PLC0415 - loaded only where it is needed
    from memory.stores.postgres.vector_search import PostgresVectors  # noqa: PLC0415 - loaded only where it is needed
    from memory.stores.postgres.word_search import PostgresWords  # noqa: PLC0415 - loaded only where it is needed

    if not isinstance(database, PostgresDatabase):
        raise TypeError(f"no searches for {type(database).__name__}")
    vectors = PostgresVectors(database)
    return Searches(PostgresWords(database), vectors, vectors.table.make_index)
