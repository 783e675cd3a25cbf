"""Word search in SQLite: FTS5 finds memories by word, BM25 ranks them."""

from collections.abc import Sequence
from typing import Final

from db import Database, Statement, Work, among, fetch, fetch_first, together
from db.full_text import Merging
from db.transaction import Fetch
from db.values import storable
from memory.model.scope import AccessScope
from memory.ports.memories import Filter
from memory.ports.recall import SearchHit
from memory.stores.filters import conditions_of, statement, values_of
from memory.stores.partitions import within
from memory.stores.sqlite.similar_search import CLOSELY, CommonWords, Hits, match_query, similar
from memory.stores.word_ranking import (
    MAX_CANDIDATES,
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

HAVING: Final = Statement("SELECT rowid FROM memories_text WHERE memories_text MATCH :query")
NEWEST: Final = Statement(f"""
    SELECT rowid FROM memories_text WHERE memories_text MATCH :query
    ORDER BY rowid DESC LIMIT {MAX_WEIGHED}
""")
COUNT: Final = Statement("SELECT count(*) FROM memories_text WHERE memories_text MATCH :query")
PICK: Final = f"SELECT m.seq FROM memories m WHERE {among('m.seq', 'some')} AND "
NUMBER: Final = Statement("SELECT seq FROM memories WHERE id = :after")
READ_WHOLE: Final = 200
"""Partitions of at most so many memories are read completely, which is cheaper than looking up
common words."""
WORDS: Final = Statement(
    f"SELECT m.seq, m.words FROM memories m WHERE {among('m.owner', 'partitions')}"
)
PARTITIONS: Final = Statement(f"""
    SELECT coalesce(sum(memories), 0), coalesce(sum(words), 0) FROM memory_partitions
    WHERE {among("name", "partitions")}
""")
MERGINGS: Final = (
    Merging("memories_text", "memory_upkeep", "merge"),
    Merging("shares_text", "memory_upkeep", "merge shares"),
)
SHARES: Final = Statement(f"""
    SELECT rowid FROM shares_text WHERE shares_text MATCH :query
    ORDER BY rowid DESC LIMIT {MAX_WEIGHED}
""")


class SqliteWords:
    """Implements `memory.stores.search.WordSearch`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._common = CommonWords()

    async def fitting(self, access: AccessScope, filters: Filter, now: int) -> Hits:
        return await self._database.run(lambda: _fitting(access, filters, now))

    def similar(self, access: AccessScope, filters: Filter, now: int) -> Work[Hits]:
        return similar(access, filters, now, self._common)

    async def weighed(
        self, access: AccessScope, query: str, filters: Filter, limit: int, now: int
    ) -> list[SearchHit]:
        return await self._database.run(lambda: _weighed(access, query, filters, limit, now))

    async def shares(self, names: Sequence[str], terms: Sequence[Term]) -> list[list[int]]:
        shares = []
        for term in terms:
            rows = await self._database.fetch(SHARES, {"query": match_query(term, names)})
            shares.append([int(share) for (share,) in rows])
        return shares

    async def merge(self) -> int:
        """One step of taking the words of deleted memories out of the indexes' file pages; the
        number of steps done, 0 when there is nothing to do."""
        return sum([await one.run(self._database) for one in MERGINGS])


def _fitting(access: AccessScope, filters: Filter, now: int) -> Work[Hits]:
    terms = query_terms(storable(filters.text), unfinished=filters.unfinished)
    hits, _ = yield from _having(access, terms)
    values = values_of(access, filters, now)
    after: int | None = None
    if filters.after_id:
        row = yield from fetch_first(NUMBER, values)
        after = -1 if row is None else int(row[0])
    pick = statement(PICK + conditions_of(access, filters))
    matches: Hits = []
    for some in chunks(hits, after):
        rows = yield from fetch(pick, values | {"some": [seq for seq, _ in some]})
        picked = {row[0] for row in rows}
        matches += [hit for hit in some if hit[0] in picked]
        if len(matches) >= filters.limit:
            break
    return matches[: filters.limit]


def _weighed(
    access: AccessScope, query: str, filters: Filter, limit: int, now: int
) -> Work[list[SearchHit]]:
    terms = query_terms(storable(query), unfinished=filters.unfinished)
    enough = 0 if filters.unfinished else MAX_CANDIDATES
    hits, known = yield from _having(access, terms, enough)
    if filters.unfinished:
        hits = whole(hits)
    if not hits:
        return []
    closely = max(limit, WEIGHED_CLOSELY)
    values = values_of(access, filters, now)
    look = statement(CLOSELY + conditions_of(access, filters))
    seen: list[WordCandidate] = []
    for begin in range(0, len(hits), closely):
        some = [seq for seq, _ in hits[begin : begin + closely]]
        seen += [WordCandidate(*row) for row in (yield from fetch(look, values | {"some": some}))]
        if len(seen) >= closely:
            break
    return bm25(seen, terms, known, dict(hits))[:limit]


def _having(
    access: AccessScope, terms: Sequence[Term], enough: int = 0
) -> Work[tuple[Hits, WordStatistics]]:
    """Return matches of the words with their shares, best first, and the statistics of the
    partitions. If the rarest words already match `enough` memories, common words are not searched
    while another is left."""
    partitions = within(access)
    ((memories, words),) = yield from fetch(PARTITIONS, {"partitions": partitions})
    if memories <= READ_WHOLE and not access.room:
        hits, counts = yield from _read_whole(partitions, terms, enough)
    else:
        hits, counts = yield from _looked_up(partitions, terms, enough)
    return ranked(hits, counts), WordStatistics(int(memories), int(words), tuple(counts))


def _looked_up(
    partitions: Sequence[str], terms: Sequence[Term], enough: int
) -> Work[tuple[dict[int, int], list[int]]]:
    """Numbers of memories with the words that are in them, as bits, and how many have each word."""
    queries = [{"query": match_query(term, partitions)} for term in terms]
    results = yield from together(*(Fetch(COUNT, query) for query in queries))
    counts = [int(count) for ((count,),) in results]
    hits: dict[int, int] = {}
    for place in chosen(counts, enough) if enough else range(len(terms)):
        bit = 1 << place
        some = NEWEST if counts[place] > MAX_CANDIDATES else HAVING
        for (seq,) in (yield from fetch(some, queries[place])):
            hits[seq] = hits.get(seq, 0) | bit
    return hits, counts


def _read_whole(
    partitions: Sequence[str], terms: Sequence[Term], enough: int
) -> Work[tuple[dict[int, int], list[int]]]:
    """Return the result of `_looked_up` by reading all memories."""
    rows = yield from fetch(WORDS, {"partitions": partitions})
    texts = [(seq, f" {words} ") for seq, words in rows]
    bits = [(1 << place, term) for place, term in enumerate(terms)]
    masks = {seq: sum(bit for bit, term in bits if term.stands_in(padded)) for seq, padded in texts}
    counts = [sum(mask & bit > 0 for mask in masks.values()) for bit, _ in bits]
    looked_for = chosen(counts, enough) if enough else range(len(terms))
    filters = sum(1 << place for place in looked_for)
    return {seq: mask & filters for seq, mask in masks.items() if mask & filters}, counts
