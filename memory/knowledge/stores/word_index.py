"""The word index over chunks, on both databases: FTS5 in SQLite, a GIN index in PostgreSQL.

Every word is filed under a partition: one kind of file in one repository, or one long document. So
neither the matches of a search nor its statistics depend on what it does not read. Partitions
narrow a search; the rule of who may read (`memory.knowledge.access`) is applied besides.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from msgspec import Struct

from db import Database, Statement, Work, among, change, execute, fetch, together
from db.transaction import Fetch
from memory.knowledge.ports import IndexedChunk, WordIndex
from memory.knowledge.schema import PREFIX
from memory.stores.word_ranking import chosen

MAX_HITS: Final = 5_000
"""Chunks of which one search looks up the words."""
ENOUGH: Final = 2_000
"""Chunks from which commoner words of a question select no more."""


class _TotalStatements:
    """The statements on the tables of both engines; the names of the tables begin with `prefix`."""

    def __init__(self, prefix: str) -> None:
        totals, words = f"{prefix}_word_totals", f"{prefix}_words"
        numbered = among("number", "numbers")
        self.add = Statement(f"""
            INSERT INTO {totals} (partition, chunks, words) VALUES (:partition, :chunks, :words)
            ON CONFLICT (partition) DO UPDATE SET
                chunks = {totals}.chunks + excluded.chunks, words = {totals}.words + excluded.words
        """)
        self.delete_empty = Statement(f"DELETE FROM {totals} WHERE chunks <= 0")
        self.sums = Statement(f"""
            SELECT coalesce(sum(chunks), 0), coalesce(sum(words), 0) FROM {totals}
            WHERE {among("partition", "partitions")}
        """)
        self.rows = Statement(
            f"SELECT number, partition, length, words FROM {words} WHERE {numbered}"
        )
        self.delete = Statement(f"DELETE FROM {words} WHERE {numbered}")


class Matches(Struct, frozen=True):
    """Chunks by number with the words that they have, as bits; how many chunks have each word; and
    the number of chunks and of words in the searched partitions."""

    hits: dict[int, int]
    having: tuple[int, ...]
    chunks: int
    words: int

    def heaviest(self) -> list[int]:
        """Return the numbers of the chunks, those with the greatest weight of words first."""
        total = max(self.chunks, 1)
        weights = [math.log1p((total - n + 0.5) / (n + 0.5)) if n else 0.0 for n in self.having]
        weight = {
            bits: sum(one for place, one in enumerate(weights) if bits >> place & 1)
            for bits in set(self.hits.values())
        }
        return sorted(self.hits, key=lambda number: (-weight[self.hits[number]], number))


class ChunkWordSearch(WordIndex, Protocol):
    """The word index, with its search."""

    def matching(self, partitions: Sequence[str], words: Sequence[str]) -> Work[Matches]:
        """Find the chunks in any of the partitions that have any of the words, at most 62."""
        ...


def word_index_on(database: Database, prefix: str = PREFIX) -> ChunkWordSearch:
    """Return the word index of a database in the tables of `memory.knowledge.schema.word_tables`
    with this prefix."""
    return (SqliteWordIndex if database.engine == "sqlite" else PostgresWordIndex)(prefix)


class SqliteWordIndex:
    """Implements `ChunkWordSearch` by FTS5, which holds every word with its partition in front."""

    def __init__(self, prefix: str) -> None:
        text = f"{prefix}_text"
        self._of_both = _TotalStatements(prefix)
        self._add = Statement(f"""
            INSERT INTO {prefix}_words (number, partition, length, words)
            VALUES (:number, :partition, :length, :words)
        """)
        self._add_text = Statement(f"INSERT INTO {text} (rowid, terms) VALUES (:number, :terms)")
        self._merge = Statement(f"INSERT INTO {text} ({text}) VALUES ('optimize')")
        self._delete_text = Statement(
            f"INSERT INTO {text} ({text}, rowid, terms) VALUES ('delete', :number, :terms)"
        )
        matching = f"FROM {text} WHERE {text} MATCH :query"
        self._count = Statement(f"SELECT count(*) {matching}")
        self._having = Statement(f"SELECT rowid {matching} LIMIT {MAX_HITS}")

    def add(self, chunks: Sequence[IndexedChunk]) -> Work[None]:
        """Index new chunks."""
        rows = [_row(one) for one in chunks]
        if not rows:
            return
        yield from execute(self._add, *({**row, "words": row["words"]} for row in rows))
        yield from execute(
            self._add_text,
            *({"number": row["number"], "terms": _terms(row)} for row in rows),
        )
        yield from _count(self._of_both, rows, 1)

    def remove(self, numbers: Sequence[int]) -> Work[None]:
        """Remove chunks."""
        rows = yield from _rows(self._of_both, numbers)
        if not rows:
            return
        yield from execute(
            self._delete_text,
            *({"number": row["number"], "terms": _terms(row)} for row in rows),
        )
        yield from change(self._of_both.delete, {"numbers": list(numbers)})
        yield from _count(self._of_both, rows, -1)

    def purge(self) -> Work[None]:
        """Write the index anew, because it only marks words of removed chunks as deleted."""
        yield from change(self._merge, {})
        yield from change(self._of_both.delete_empty, {})

    def matching(self, partitions: Sequence[str], words: Sequence[str]) -> Work[Matches]:
        """Find the chunks that have any of the words."""
        queries = [
            {"query": " OR ".join(f'"{partition}{word}"' for partition in partitions)}
            for word in words
        ]
        results = yield from together(
            Fetch(self._of_both.sums, {"partitions": list(partitions)}),
            *(Fetch(self._count, query) for query in queries),
        )
        ((chunks, total),), *counted = results
        counts = [int(count) for ((count,),) in counted]
        hits: dict[int, int] = {}
        for place in chosen(counts, ENOUGH):
            for (number,) in (yield from fetch(self._having, queries[place])):
                hits[number] = hits.get(number, 0) | 1 << place
        return Matches(hits, tuple(counts), int(chunks), int(total))


class PostgresWordIndex:
    """Implements `ChunkWordSearch` by text vectors without positions, with partitions as
    lexemes."""

    _ASKED: Final = """
        SELECT CAST(1 AS bigint) << CAST(place - 1 AS integer) AS bit, place,
            CAST(:partitions AS tsquery) && CAST(term AS tsquery) AS query
        FROM unnest(CAST(:terms AS text[])) WITH ORDINALITY AS t (term, place)
    """

    def __init__(self, prefix: str) -> None:
        table = f"{prefix}_words"
        self._of_both = _TotalStatements(prefix)
        self._add = Statement(f"""
            INSERT INTO {table} (number, partition, length, words, lexemes) VALUES
                (:number, :partition, :length, :words, array_to_tsvector(CAST(:lexemes AS text[])))
        """)
        self._counts = Statement(f"""
            SELECT (SELECT count(*) FROM {table} w WHERE w.lexemes @@ asked.query)
            FROM ({self._ASKED}) asked ORDER BY place
        """)
        self._having = Statement(f"""
            WITH asked AS MATERIALIZED ({self._ASKED})
            SELECT w.number, (SELECT CAST(sum(bit) AS bigint) FROM asked WHERE w.lexemes @@ query)
            FROM {table} w
            WHERE w.lexemes @@ (CAST(:partitions AS tsquery) && CAST(:first AS tsquery))
            LIMIT {MAX_HITS}
        """)

    def add(self, chunks: Sequence[IndexedChunk]) -> Work[None]:
        """Index new chunks."""
        rows = [_row(one) for one in chunks]
        if not rows:
            return
        yield from execute(
            self._add,
            *({**row, "lexemes": [_lexeme(row["partition"]), *_words(row)]} for row in rows),
        )
        yield from _count(self._of_both, rows, 1)

    def remove(self, numbers: Sequence[int]) -> Work[None]:
        """Remove chunks."""
        rows = yield from _rows(self._of_both, numbers)
        if not rows:
            return
        yield from change(self._of_both.delete, {"numbers": list(numbers)})
        yield from _count(self._of_both, rows, -1)

    def purge(self) -> Work[None]:
        """Delete the totals of nothing. The words of a chunk were in its row."""
        yield from change(self._of_both.delete_empty, {})

    def matching(self, partitions: Sequence[str], words: Sequence[str]) -> Work[Matches]:
        """Find the chunks that have any of the words."""
        asked = {
            "partitions": " | ".join(f"'{_lexeme(partition)}'" for partition in partitions),
            "terms": [f"'{word}'" for word in words],
        }
        ((chunks, total),), counted = yield from together(
            Fetch(self._of_both.sums, {"partitions": list(partitions)}), Fetch(self._counts, asked)
        )
        counts = [int(count) for (count,) in counted]
        first = " | ".join(f"'{words[place]}'" for place in chosen(counts, ENOUGH))
        rows = (yield from fetch(self._having, asked | {"first": first})) if first else []
        hits = {int(number): int(bits) for number, bits in rows}
        return Matches(hits, tuple(counts), int(chunks), int(total))


def _row(one: IndexedChunk) -> dict[str, object]:
    return {
        "number": one.number,
        "partition": one.partition,
        "length": one.words.length,
        "words": one.words.text,
    }


def _rows(statements: _TotalStatements, numbers: Sequence[int]) -> Work[list[dict[str, object]]]:
    rows = yield from fetch(statements.rows, {"numbers": list(numbers)})
    return [dict(zip(("number", "partition", "length", "words"), row, strict=True)) for row in rows]


def _count(
    statements: _TotalStatements, rows: Iterable[dict[str, object]], sign: int
) -> Work[None]:
    chunks: Counter[object] = Counter()
    words: Counter[object] = Counter()
    for row in rows:
        chunks[row["partition"]] += sign
        words[row["partition"]] += sign * int(str(row["length"]))
    yield from execute(
        statements.add,
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
