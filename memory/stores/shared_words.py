"""Word search among the memories that pools share with an agent.

They belong to other people, whose indexes are not searched: the words of what is shared are read
and compared, `SHARED_READ` shares at most.
"""

from collections.abc import Sequence
from typing import Final

from db import Database, either
from db.statements import within
from db.values import storable
from memory.model.scope import AccessScope
from memory.ports.memories import Filter
from memory.stores.filters import conditions_of, statement, values_of
from memory.stores.word_ranking import Candidate, Statistics, bm25, ranked, whole
from memory.text.terms import Term, query_terms

SHARED_READ: Final = 2_000
"""Shares, the latest of an agent's pools, that its searches read."""
POOLS_READ: Final = 20
"""Pools that they are in: those that the agent joined last."""
JOINED: Final = f"""
    SELECT pool FROM pool_members WHERE agent = :for_agent ORDER BY seq DESC LIMIT {POOLS_READ}
"""  # noqa: S608 - constants of this module
LATEST: Final = f"""
    SELECT x.seq FROM pool_memories x WHERE x.pool = r.pool ORDER BY x.seq DESC LIMIT {SHARED_READ}
"""  # noqa: S608 - constants of this module
SOME: Final = either(
    sqlite=f"({JOINED}) AS r JOIN pool_memories l ON l.seq IN ({LATEST})",
    postgres=f"({JOINED}) AS r CROSS JOIN LATERAL ({LATEST}) AS l",
)
IN_POOLS: Final = within(
    "m.seq",
    f"SELECT s.number FROM pool_memories s WHERE s.seq IN (SELECT l.seq FROM {SOME}"  # noqa: S608 - constants of this module
    f" ORDER BY l.seq DESC LIMIT {SHARED_READ})",
)
"""A memory `m` that may be shared with the asking agent; the rule decides."""
WORDS: Final = f"SELECT m.seq, m.id, m.words, m.length FROM memories m WHERE {IN_POOLS} AND "  # noqa: S608 - constants of this module

Hits = list[tuple[int, float]]


class SharedWords:
    """Finds memories in the pools of the asking agent; nothing for people."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def fitting(self, access: AccessScope, filters: Filter, now: int) -> Hits:
        """Return numbers and the share of the words, as `WordSearch.fitting` does."""
        terms = query_terms(storable(filters.text), unfinished=filters.unfinished)
        hits, _ = _having(await self._read(access, filters, now), terms)
        return hits

    async def weighed(
        self, access: AccessScope, query: str, filters: Filter, limit: int, now: int
    ) -> list[tuple[str, float]]:
        """Return ids and scores, as `RecallStore.lexical` does."""
        terms = query_terms(storable(query), unfinished=filters.unfinished)
        read = await self._read(access, filters, now)
        hits, counts = _having(read, terms)
        if filters.unfinished:
            hits = whole(hits)
        numbers = {number for number, _ in hits}
        known = Statistics(len(read), sum(one.length for one in read), tuple(counts))
        return bm25((one for one in read if one.number in numbers), terms, known)[:limit]

    async def _read(self, access: AccessScope, filters: Filter, now: int) -> list[Candidate]:
        if not access.agent or filters.own_only:
            return []
        values = values_of(access, filters, now)
        rows = await self._database.fetch(statement(WORDS + conditions_of(access, filters)), values)
        return [Candidate(*row) for row in rows]


def merged(
    own: Sequence[tuple[str, float]], shared: Sequence[tuple[str, float]], limit: int
) -> list[tuple[str, float]]:
    """Return two lists of hits as one, best first; a memory in both has its better score."""
    best = dict(own)
    for id_, score in shared:
        best[id_] = max(score, best.get(id_, 0.0))
    return sorted(best.items(), key=lambda hit: -hit[1])[:limit]


def _having(read: Sequence[Candidate], terms: Sequence[Term]) -> tuple[Hits, list[int]]:
    """Return matches of the words with their shares, best first, and how many have each word."""
    bits = [(1 << place, term) for place, term in enumerate(terms)]
    masks = {
        one.number: sum(bit for bit, term in bits if term.stands_in(f" {one.words} "))
        for one in read
    }
    counts = [sum(mask & bit > 0 for mask in masks.values()) for bit, _ in bits]
    return ranked({number: mask for number, mask in masks.items() if mask}, counts), counts
