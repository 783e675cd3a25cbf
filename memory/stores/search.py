"""The two ways to search that a database has."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from db import Database
from memory.ports.search import VectorSearch, WordSearch
from memory.stores.sqlite.vector_search import SqliteVectors
from memory.stores.sqlite.word_search import SqliteWords


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
