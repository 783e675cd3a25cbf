"""The word index over chunks, on both databases: FTS5 in SQLite, a GIN index in PostgreSQL.

Every word is filed under a partition, which is one kind of file in one repository. So neither the
matches of a search nor its statistics depend on repositories that it does not read. Partitions
narrow a search; the rule of who may read (`memory.knowledge.access`) is applied besides.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from msgspec import Struct

from db import Database, Statement, Work, among, change, execute, fetch, together
from db.transaction import Fetch
from memory.knowledge.ports import IndexedChunk, WordIndex
from memory.knowledge.schema import partition_of
from memory.stores.word_ranking import chosen

MAX_HITS: Final = 5_000
"""Chunks of which one search looks up the words."""
ENOUGH: Final = 2_000
"""Chunks from which commoner words of a question select no more."""
ADD_TOTALS: Final = Statement("""
    INSERT INTO knowledge_word_totals (partition, chunks, words)
    VALUES (:partition, :chunks, :words)
    ON CONFLICT (partition) DO UPDATE SET
        chunks = knowledge_word_totals.chunks + excluded.chunks,
        words = knowledge_word_totals.words + excluded.words
""")
DELETE_EMPTY: Final = Statement("DELETE FROM knowledge_word_totals WHERE chunks <= 0")
TOTALS: Final = Statement(f"""
    SELECT coalesce(sum(chunks), 0), coalesce(sum(words), 0) FROM knowledge_word_totals
    WHERE {among("partition", "partitions")}
""")
ROWS: Final = Statement(
    "SELECT number, partition, length, words FROM knowledge_words"
    f" WHERE {among('number', 'numbers')}"
)
DELETE: Final = Statement(f"DELETE FROM knowledge_words WHERE {among('number', 'numbers')}")


class Matches(Struct, frozen=True):
    """Chunks by number with the words that they have, as bits; how many chunks have each word; and
    the number of chunks and of words in the searched partitions."""

    hits: dict[int, int]
    having: tuple[int, ...]
    chunks: int
    words: int


class ChunkWordSearch(WordIndex, Protocol):
    """The word index, with its search."""

    def matching(self, partitions: Sequence[str], words: Sequence[str]) -> Work[Matches]:
        """Find the chunks in any of the partitions that have any of the words, at most 62."""
        ...


def word_index_on(database: Database) -> ChunkWordSearch:
    """Return the word index of a database."""
    return SqliteWordIndex() if database.engine == "sqlite" else PostgresWordIndex()


class SqliteWordIndex:
    """Implements `ChunkWordSearch` by FTS5, which holds every word with its partition in front."""

    _ADD: Final = Statement("""
        INSERT INTO knowledge_words (number, partition, length, words)
        VALUES (:number, :partition, :length, :words)
    """)
    _ADD_TEXT: Final = Statement(
        "INSERT INTO knowledge_text (rowid, terms) VALUES (:number, :terms)"
    )
    _MERGE: Final = Statement("INSERT INTO knowledge_text (knowledge_text) VALUES ('optimize')")
    _DELETE_TEXT: Final = Statement("""
        INSERT INTO knowledge_text (knowledge_text, rowid, terms)
        VALUES ('delete', :number, :terms)
    """)
    _COUNT: Final = Statement(
        "SELECT count(*) FROM knowledge_text WHERE knowledge_text MATCH :query"
    )
    _HAVING: Final = Statement(
        f"SELECT rowid FROM knowledge_text WHERE knowledge_text MATCH :query LIMIT {MAX_HITS}"
    )

    def add(self, chunks: Sequence[IndexedChunk]) -> Work[None]:
        """Index new chunks."""
        rows = [_row(one) for one in chunks]
        if not rows:
            return
        yield from execute(self._ADD, *({**row, "words": row["words"]} for row in rows))
        yield from execute(
            self._ADD_TEXT,
            *({"number": row["number"], "terms": _terms(row)} for row in rows),
        )
        yield from _count(rows, 1)

    def remove(self, numbers: Sequence[int]) -> Work[None]:
        """Remove chunks."""
        rows = yield from _rows(numbers)
        if not rows:
            return
        yield from execute(
            self._DELETE_TEXT,
            *({"number": row["number"], "terms": _terms(row)} for row in rows),
        )
        yield from change(DELETE, {"numbers": list(numbers)})
        yield from _count(rows, -1)

    def purge(self) -> Work[None]:
        """Write the index anew, because it only marks words of removed chunks as deleted."""
        yield from change(self._MERGE, {})
        yield from change(DELETE_EMPTY, {})

    def matching(self, partitions: Sequence[str], words: Sequence[str]) -> Work[Matches]:
        """Find the chunks that have any of the words."""
        queries = [
            {"query": " OR ".join(f'"{partition}{word}"' for partition in partitions)}
            for word in words
        ]
        results = yield from together(
            Fetch(TOTALS, {"partitions": list(partitions)}),
            *(Fetch(self._COUNT, query) for query in queries),
        )
        ((chunks, total),), *counted = results
        counts = [int(count) for ((count,),) in counted]
        hits: dict[int, int] = {}
        for place in chosen(counts, ENOUGH):
            for (number,) in (yield from fetch(self._HAVING, queries[place])):
                hits[number] = hits.get(number, 0) | 1 << place
        return Matches(hits, tuple(counts), int(chunks), int(total))


class PostgresWordIndex:
    """Implements `ChunkWordSearch` by text vectors without positions, with partitions as
    lexemes."""

    _ADD: Final = Statement("""
        INSERT INTO knowledge_words (number, partition, length, words, lexemes)
        VALUES (:number, :partition, :length, :words, array_to_tsvector(CAST(:lexemes AS text[])))
    """)
    _ASKED: Final = """
        SELECT CAST(1 AS bigint) << CAST(place - 1 AS integer) AS bit, place,
            CAST(:partitions AS tsquery) && CAST(term AS tsquery) AS query
        FROM unnest(CAST(:terms AS text[])) WITH ORDINALITY AS t (term, place)
    """
    _COUNTS: Final = Statement(f"""
        SELECT (SELECT count(*) FROM knowledge_words w WHERE w.lexemes @@ asked.query)
        FROM ({_ASKED}) asked ORDER BY place
    """)
    _HAVING: Final = Statement(f"""
        WITH asked AS MATERIALIZED ({_ASKED})
        SELECT w.number, (SELECT CAST(sum(bit) AS bigint) FROM asked WHERE w.lexemes @@ query)
        FROM knowledge_words w
        WHERE w.lexemes @@ (CAST(:partitions AS tsquery) && CAST(:first AS tsquery))
        LIMIT {MAX_HITS}
    """)

    def add(self, chunks: Sequence[IndexedChunk]) -> Work[None]:
        """Index new chunks."""
        rows = [_row(one) for one in chunks]
        if not rows:
            return
        yield from execute(
            self._ADD,
            *({**row, "lexemes": [_lexeme(row["partition"]), *_words(row)]} for row in rows),
        )
        yield from _count(rows, 1)

    def remove(self, numbers: Sequence[int]) -> Work[None]:
        """Remove chunks."""
        rows = yield from _rows(numbers)
        if not rows:
            return
        yield from change(DELETE, {"numbers": list(numbers)})
        yield from _count(rows, -1)

    def purge(self) -> Work[None]:
        """Delete the totals of nothing. The words of a chunk were in its row."""
        yield from change(DELETE_EMPTY, {})

    def matching(self, partitions: Sequence[str], words: Sequence[str]) -> Work[Matches]:
        """Find the chunks that have any of the words."""
        asked = {
            "partitions": " | ".join(f"'{_lexeme(partition)}'" for partition in partitions),
            "terms": [f"'{word}'" for word in words],
        }
        ((chunks, total),), counted = yield from together(
            Fetch(TOTALS, {"partitions": list(partitions)}), Fetch(self._COUNTS, asked)
        )
        counts = [int(count) for (count,) in counted]
        first = " | ".join(f"'{words[place]}'" for place in chosen(counts, ENOUGH))
        rows = (yield from fetch(self._HAVING, asked | {"first": first})) if first else []
        hits = {int(number): int(bits) for number, bits in rows}
        return Matches(hits, tuple(counts), int(chunks), int(total))


def _row(one: IndexedChunk) -> dict[str, object]:
    return {
        "number": one.number,
        "partition": partition_of(one.repository, one.kind),
        "length": one.words.length,
        "words": one.words.text,
    }


def _rows(numbers: Sequence[int]) -> Work[list[dict[str, object]]]:
    rows = yield from fetch(ROWS, {"numbers": list(numbers)})
    return [dict(zip(("number", "partition", "length", "words"), row, strict=True)) for row in rows]


def _count(rows: Iterable[dict[str, object]], sign: int) -> Work[None]:
    chunks: Counter[object] = Counter()
    words: Counter[object] = Counter()
    for row in rows:
        chunks[row["partition"]] += sign
        words[row["partition"]] += sign * int(str(row["length"]))
    yield from execute(
        ADD_TOTALS,
        *(
            {"partition": partition, "chunks": count, "words": words[partition]}
            for partition, count in sorted(chunks.items(), key=str)
        ),
    )


def _words(row: dict[str, object]) -> list[str]:
    return [entry.rpartition(":")[0] for entry in str(row["words"]).split()]


def _terms(row: dict[str, object]) -> str:
    return " ".join(f"{row['partition']}{word}" for word in _words(row))


def _lexeme(partition: object) -> str:
    """Return a partition as a lexeme, which no word equals."""
    return f"~{partition}"
