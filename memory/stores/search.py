"""Finds candidates for recall: search by words and by vectors, which each database implements in
its own way."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Protocol

from msgspec import Struct

from db import Database, Params, Statement, Work, among, either
from db.values import micros, storable
from gateway.immutable import replace
from gateway.ports import Clock
from memory.model.record import Embedding, Record
from memory.model.scope import AccessScope
from memory.ports.memories import Filter, TextVector
from memory.ports.recall import SearchHit
from memory.stores.filters import VectorQuery, by_reader, visible_at
from memory.stores.refiling import refile_some
from memory.stores.rows import SELECTED, record_from
from memory.stores.shared_memories import SharedWords, audiences_of_reader, merged
from memory.stores.sqlite.vector_search import SqliteVectors
from memory.stores.sqlite.word_search import SqliteWords
from memory.text.terms import Term


class WordSearch(Protocol):
    """Finds memories by their words."""

    async def fitting(
        self, access: AccessScope, filters: Filter, now: int
    ) -> list[tuple[int, float]]:
        """Return up to `wanted.limit` matches after `wanted.after_id` that contain words of
        `wanted.text`: their numbers and the share of the words, best first."""
        ...

    def similar(
        self, access: AccessScope, filters: Filter, now: int
    ) -> Work[list[tuple[int, float]]]:
        """Return up to `filters.limit` own matches that share telling words of `filters.text`:
        their numbers and scores (0 to 1), best first. The work is bounded, so that of the matches
        of common words only the newest are found."""
        ...

    async def weighed(
        self, access: AccessScope, query: str, filters: Filter, limit: int, now: int
    ) -> list[SearchHit]:
        """Return hits, as `RecallStore.lexical` does."""
        ...

    async def shares(self, names: Sequence[str], terms: Sequence[Term]) -> list[list[int]]:
        """Return for each term the numbers of the latest shares with it, `MAX_WEIGHED` at most, of
        the audiences `names`."""
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

    async def nearest(self, query: VectorQuery) -> list[tuple[str, float]]:
        """Return ids and cosine similarities, best first."""
        ...


class Searches(Struct, frozen=True):
    """`maintain` does what the indexes need now and then, `clean` takes deleted words out of their
    pages; both do one step and return the number of steps done."""

    words: WordSearch
    vectors: VectorSearch
    maintain: Callable[[], Awaitable[int]]
    clean: Callable[[], Awaitable[int]]


async def _cleaned() -> int:
    """Do nothing: PostgreSQL's index has no words of rows that were vacuumed."""
    return 0


def searches_on(database: Database) -> Searches:
    """The searches of an engine. Raises TypeError for a database of another kind."""
    if database.engine == "sqlite":
        words = SqliteWords(database)
        maintain = _after_refiling(database, words.merge)
        return Searches(words, SqliteVectors(database), maintain, words.merge)
    # Loaded only where it is configured: the library costs memory and start-up time.
    from db.postgres import PostgresDatabase  # noqa: PLC0415 - loaded only where it is needed
    from memory.stores.postgres.vector_search import PostgresVectors  # noqa: PLC0415 - loaded only where it is needed
    from memory.stores.postgres.word_search import PostgresWords  # noqa: PLC0415 - loaded only where it is needed

    if not isinstance(database, PostgresDatabase):
        raise TypeError(f"no searches for {type(database).__name__}")
    vectors = PostgresVectors(database)
    maintain = _after_refiling(database, vectors.table.make_index)
    return Searches(PostgresWords(database), vectors, maintain, _cleaned)


def _after_refiling(
    database: Database, maintain: Callable[[], Awaitable[int]]
) -> Callable[[], Awaitable[int]]:
    async def step() -> int:
        return await refile_some(database) or await maintain()

    return step


def _neighbour(visible: str, sign: str, order: str) -> str:
    """The turns before or after each of `these`, in its conversation."""
    neighbours = f"""
        SELECT m.seq FROM memories m
        WHERE m.tenant = t.tenant AND m.conversation = t.conversation AND m.role <> ''
            AND (m.at, m.seq) {sign} (t.at, t.seq) AND m.superseded_by = '' AND {visible}
        ORDER BY m.at {order}, m.seq {order} LIMIT :span
    """
    joined = either(
        sqlite=f"JOIN memories b ON b.seq IN ({neighbours})",
        postgres=f"CROSS JOIN LATERAL ({neighbours}) AS b",
    )
    return f"SELECT b.seq FROM these t {joined} WHERE t.lends"


def _neighbours(visible: str) -> str:
    return f"""
        WITH these AS MATERIALIZED (
            SELECT m.seq, m.tenant, m.conversation, m.at,
                m.role <> '' AND m.conversation <> '' AND {among("m.id", "lending")} AS lends
            FROM memories m WHERE {among("m.id", "ids")} AND {visible}
        )
        SELECT {SELECTED} FROM memories m WHERE m.seq IN (
            SELECT seq FROM these UNION {_neighbour(visible, "<", "DESC")}
            UNION {_neighbour(visible, ">", "ASC")})
        ORDER BY m.conversation, m.at, m.seq
    """


NEIGHBOURS: Final = by_reader(_neighbours)


class RecallStore:
    """Finds candidates. Every method raises `StoreUnavailable`."""

    def __init__(self, database: Database, clock: Clock, searches: Searches) -> None:
        self._database = database
        self._clock = clock
        self._words, self._vectors = searches.words, searches.vectors
        self._shared = SharedWords(database, searches.words.shares)

    async def lexical(
        self, access: AccessScope, query: str, filters: Filter, limit: int
    ) -> list[SearchHit]:
        """Return matches of the words of `query` (BM25), best first. `filters.text` is ignored;
        with `filters.unfinished` the last word may go on."""
        now = micros(self._clock.now())
        hits = await self._words.weighed(access, query, filters, limit, now)
        if access.agent:
            shared = await self._shared.weighed(access, query, filters, limit, now)
            hits = merged(hits, shared, limit)
        return hits

    async def nearest(
        self, access: AccessScope, query: Embedding, filters: Filter, limit: int
    ) -> list[SearchHit]:
        """Return matches by cosine similarity to vectors of the same model, best first."""
        search = VectorQuery(query, access, filters, limit, micros(self._clock.now()))
        hits = [SearchHit(*hit) for hit in await self._vectors.nearest(search)]
        names = await audiences_of_reader(self._database, access)
        if names and not filters.own_only:
            shared = await self._vectors.nearest(replace(search, shares=names))
            hits = merged(hits, [SearchHit(*hit) for hit in shared], limit)
        return hits

    async def neighbours(
        self, access: AccessScope, ids: Sequence[str], span: int, alone: Sequence[str] = ()
    ) -> list[Record]:
        """Return visible memories: `alone`, `ids`, and up to `span` turns before and after each
        turn of `ids` in its conversation; oldest first within a conversation."""
        lending = [storable(one) for one in ids]
        params = visible_at(access, self._clock) | {
            "span": max(0, span),
            "lending": lending if span > 0 else [],
            "ids": [*lending, *map(storable, alone)],
        }
        return [
            record_from(row) for row in await self._database.fetch(NEIGHBOURS.of(access), params)
        ]
