"""The two ways to search that a database has."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from db import Database
from memory.store.ports import VectorSearch, WordSearch
from memory.store.sqlite.lexical import SqliteWords
from memory.store.sqlite.vectors import SqliteVectors


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
    from db.postgres import PostgresDatabase  # noqa: PLC0415
    from memory.store.postgres.lexical import PostgresWords  # noqa: PLC0415
    from memory.store.postgres.nearest import PostgresVectors  # noqa: PLC0415

    if not isinstance(database, PostgresDatabase):
        raise TypeError(f"no searches for {type(database).__name__}")
    vectors = PostgresVectors(database)
    return Searches(PostgresWords(database), vectors, vectors.table.make_index)
