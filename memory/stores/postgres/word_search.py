"""Word search in PostgreSQL: a GIN index finds memories by word and partition, BM25 ranks them."""

from collections.abc import Sequence
from typing import Final

from db import Database, Params, Row, Statement, Work, among, together
from db.transaction import Fetch
from db.values import storable
from memory.model.scope import AccessScope
from memory.ports.memories import Filter
from memory.ports.recall import SearchHit
from memory.stores.filters import conditions_of, statement, values_of
from memory.stores.partitions import owners_within, within
from memory.stores.postgres.similar_search import match_query, quoted, similar
from memory.stores.rows import partition_lexeme
from memory.stores.word_ranking import (
    MAX_WEIGHED,
    WEIGHED_CLOSELY,
    WordCandidate,
    WordStatistics,
    bm25,
    chosen,
    chunks,
    ranked,
    whole,
)
from memory.text.terms import Term, query_terms

MAX_COUNTED: Final = 20_000
"""Memories of which the usual length is taken."""
ASKED: Final = """
    SELECT CAST(1 AS bigint) << CAST(place - 1 AS integer) AS bit, place,
        CAST(:partitions AS tsquery) && CAST(term AS tsquery) AS query
    FROM unnest(CAST(:terms AS text[])) WITH ORDINALITY AS t (term, place)
"""
COUNTS: Final = Statement(f"""
    SELECT (SELECT count(*) FROM memories m WHERE m.lexemes @@ asked.query)
    FROM ({ASKED}) asked ORDER BY place
""")
HITS: Final = f"""
    WITH asked AS MATERIALIZED ({ASKED})
    SELECT m.seq, (SELECT CAST(sum(bit) AS bigint) FROM asked WHERE m.lexemes @@ query)
    FROM memories m
    WHERE m.lexemes @@ (CAST(:partitions AS tsquery) && CAST(:first AS tsquery)) AND
"""
HITS_ORDER: Final = f" ORDER BY m.seq DESC LIMIT {MAX_WEIGHED}"
CLOSELY: Final = Statement(
    f"SELECT m.seq, m.id, m.words, m.length FROM memories m WHERE {among('m.seq', 'some')}"
)
NUMBER: Final = Statement("SELECT seq FROM memories WHERE id = :after")
PARTITIONS: Final = Statement(f"""
    SELECT count(*), coalesce(sum(length), 0) FROM (
        (SELECT m.length FROM memories m WHERE {among("m.owner", "owners")} LIMIT {MAX_COUNTED})
        UNION ALL
        (SELECT m.length FROM memories m WHERE :for_room <> ''
            AND m.tenant = :for_tenant AND m.room = :for_room AND m.room <> ''
            AND m.role <> '' LIMIT {MAX_COUNTED})
    ) AS counted
""")

SHARES: Final = Statement(f"""
    SELECT r.share FROM pool_readers r JOIN pool_memories s ON s.seq = r.share
    JOIN memories m ON m.seq = s.number
    WHERE {among("r.name", "names")} AND m.lexemes @@ CAST(:query AS tsquery)
    ORDER BY r.share DESC LIMIT {MAX_WEIGHED}
""")

Hits = list[tuple[int, float]]


class PostgresWords:
    """Implements `memory.stores.search.WordSearch`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def fitting(self, access: AccessScope, filters: Filter, now: int) -> Hits:
        terms = query_terms(storable(filters.text), unfinished=filters.unfinished)
        values = values_of(access, filters, now)
        hits, _ = await self._having(access, terms, filters, values)
        after: int | None = None
        if filters.after_id and hits:
            rows = await self._database.fetch(NUMBER, values)
            after = int(rows[0][0]) if rows else -1
        return [hit for some in chunks(hits, after) for hit in some][: filters.limit]

    def similar(self, access: AccessScope, filters: Filter, now: int) -> Work[Hits]:
        return similar(access, filters, now)

    async def weighed(
        self, access: AccessScope, query: str, filters: Filter, limit: int, now: int
    ) -> list[SearchHit]:
        terms = query_terms(storable(query), unfinished=filters.unfinished)
        values = values_of(access, filters, now)
        hits, counts = await self._having(access, terms, filters, values)
        if filters.unfinished:
            hits = whole(hits)
        if not hits:
            return []
        values |= {
            "some": [seq for seq, _ in hits[: max(limit, WEIGHED_CLOSELY)]],
            "owners": owners_within(access),
        }
        seen, ((memories, words),) = await self._database.run(lambda: _closely(values))
        known = WordStatistics(int(memories), int(words), tuple(counts))
        return bm25((WordCandidate(*row) for row in seen), terms, known, dict(hits))[:limit]

    async def shares(self, names: Sequence[str], terms: Sequence[Term]) -> list[list[int]]:
        shares = []
        for term in terms:
            rows = await self._database.fetch(SHARES, {"names": names, "query": match_query(term)})
            shares.append([int(share) for (share,) in rows])
        return shares

    async def _having(
        self, access: AccessScope, terms: Sequence[Term], filters: Filter, values: dict[str, object]
    ) -> tuple[Hits, list[int]]:
        """Return matches of the words with their shares, best first, and the number of memories in
        the partitions that have each word."""
        if not terms:
            return [], []
        queries = [match_query(term) for term in terms]
        partitions = " | ".join(quoted(partition_lexeme(partition)) for partition in within(access))
        looked_for = values | {"terms": queries, "partitions": f"({partitions})"}
        counts = [int(count) for (count,) in await self._database.fetch(COUNTS, looked_for)]
        first = " | ".join(queries[place] for place in chosen(counts))
        if not first:
            return [], counts
        having = statement(f"{HITS}{conditions_of(access, filters)}{HITS_ORDER}")
        rows = await self._database.fetch(having, looked_for | {"first": f"({first})"})
        return ranked({seq: bits for seq, bits in rows if bits}, counts), counts


def _closely(values: Params) -> Work[list[list[Row]]]:
    return (yield from together(Fetch(CLOSELY, values), Fetch(PARTITIONS, values), last=True))
