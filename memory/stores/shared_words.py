"""Word search among the memories that pools share with an agent, by the audiences of the shares."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from db import Database, Statement, among, either
from db.statements import within
from db.values import storable
from memory.model.scope import AccessScope
from memory.ports.memories import Filter
from memory.stores.filters import conditions_of, statement, values_of
from memory.stores.share_audiences import LATEST_SHARES, audiences_of_reader
from memory.stores.word_ranking import (
    WEIGHED_CLOSELY,
    WordCandidate,
    WordStatistics,
    bm25,
    ranked,
    whole,
)
from memory.text.terms import Term, query_terms

LISTED: Final = 2_000
"""The latest shares among which a list without words finds the newest memories."""
LATEST_MEMORIES: Final = within(
    "m.seq",
    "SELECT s.number FROM pool_memories s WHERE s.seq IN"
    f" (SELECT share FROM ({LATEST_SHARES}) AS latest ORDER BY share DESC LIMIT :page)",
)
"""A memory `m` that may be among the latest shares; the rule decides."""
COUNTED: Final = 10_000
COUNT: Final = Statement(f"""
    SELECT count(*) FROM (
        SELECT 1 FROM pool_readers WHERE {among("name", "names")} LIMIT {COUNTED}) AS counted
""")
CLOSELY: Final = f"""
    SELECT s.seq, m.seq, m.id, m.words, m.length FROM pool_memories s
    {either(sqlite="CROSS JOIN", postgres="JOIN")} memories m ON m.seq = s.number
    WHERE {among("s.seq", "some")} AND
"""
PORTION: Final = 250
"""Shares that one step compares with the rule: some milliseconds in SQLite."""

Hits = list[tuple[int, float]]
Shares = Callable[[Sequence[str], Sequence[Term]], Awaitable[list[list[int]]]]
"""`WordSearch.shares` of an engine."""


class SharedWords:
    """Finds memories in the pools of the asking agent; nothing for people."""

    def __init__(self, database: Database, shares: Shares) -> None:
        self._database = database
        self._shares = shares

    async def fitting(self, access: AccessScope, filters: Filter, now: int) -> Hits:
        """Return numbers and the share of the words, as `WordSearch.fitting` does."""
        terms = query_terms(storable(filters.text), unfinished=filters.unfinished)
        hits, _ = await self._having(access, filters, terms)
        scores = dict(hits)
        read = await self._read(access, filters, hits, filters.limit, now)
        best: dict[int, float] = {}
        for share, one in read.items():
            best[one.number] = max(scores[share], best.get(one.number, 0.0))
        return sorted(best.items(), key=lambda hit: (-hit[1], -hit[0]))

    async def weighed(
        self, access: AccessScope, query: str, filters: Filter, limit: int, now: int
    ) -> list[tuple[str, float]]:
        """Return ids and scores, as `RecallStore.lexical` does."""
        terms = query_terms(storable(query), unfinished=filters.unfinished)
        hits, counts = await self._having(access, filters, terms)
        if filters.unfinished:
            hits = whole(hits)
        read = await self._read(access, filters, hits, max(limit, WEIGHED_CLOSELY), now)
        if not read:
            return []
        some = {one.number: one for one in read.values()}
        names = await audiences_of_reader(self._database, access)
        ((count,),) = await self._database.fetch(COUNT, {"names": names})
        words = sum(one.length for one in some.values()) * int(count) // len(some)
        known = WordStatistics(int(count), words, tuple(counts))
        return bm25(some.values(), terms, known)[:limit]

    async def _having(
        self, access: AccessScope, filters: Filter, terms: Sequence[Term]
    ) -> tuple[Hits, list[int]]:
        """Return the shares with words, best first, and the number of shares with each word."""
        names = [] if filters.own_only else await audiences_of_reader(self._database, access)
        if not names or not terms:
            return [], [0] * len(terms)
        masks: dict[int, int] = {}
        counts = []
        for place, shares in enumerate(await self._shares(names, terms)):
            having = set(shares)
            counts.append(len(having))
            for share in having:
                masks[share] = masks.get(share, 0) | 1 << place
        return ranked(masks, counts), counts

    async def _read(
        self, access: AccessScope, filters: Filter, hits: Hits, enough: int, now: int
    ) -> Mapping[int, WordCandidate]:
        """Return the best shares that the rule and the filter allow, with their memories."""
        values = values_of(access, filters, now)
        look = statement(CLOSELY + conditions_of(access, filters))
        read: dict[int, WordCandidate] = {}
        for begin in range(0, len(hits), PORTION):
            some = [share for share, _ in hits[begin : begin + PORTION]]
            rows = await self._database.fetch(look, values | {"some": some})
            read |= {int(share): WordCandidate(*columns) for share, *columns in rows}
            if len(read) >= enough:
                break
        return read


def merged(
    own: Sequence[tuple[str, float]], shared: Sequence[tuple[str, float]], limit: int
) -> list[tuple[str, float]]:
    """Return two lists of hits as one, best first; a memory in both has its better score."""
    best = dict(own)
    for id_, score in shared:
        best[id_] = max(score, best.get(id_, 0.0))
    return sorted(best.items(), key=lambda hit: -hit[1])[:limit]
