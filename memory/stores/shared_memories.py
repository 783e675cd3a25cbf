"""Memories that pools share with an agent: the audiences of shares, and the search for words.

Audiences are short names, by which shares are indexed for their readers. They narrow a query before
the rule of `memory/model/scope.py` applies, and never replace it. So a query takes time for what
its reader may see, and not for the rest of a pool.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Final

from db import Database, Statement, among, either
from db.statements import listed, within
from db.values import storable
from memory.model.scope import AccessScope
from memory.ports.memories import Filter
from memory.ports.recall import SearchHit
from memory.stores.filters import conditions_of, statement, values_of
from memory.stores.partitions import name_of
from memory.stores.word_ranking import (
    WEIGHED_CLOSELY,
    WordCandidate,
    WordStatistics,
    bm25,
    ranked,
    whole,
)
from memory.text.terms import Term, query_terms

POOLS_READ: Final = 200
"""The pools that a search of an agent reads: all of them, because no person has more memberships
(`MOST_MEMBERSHIPS`). Of an agent that had more before, those that it joined first."""
POOLS: Final = Statement(f"""
    SELECT pool, granted FROM pool_members WHERE agent = :for_agent
    ORDER BY seq LIMIT {POOLS_READ}
""")
LAST: Final = 2**62
"""Above all numbers of shares."""
LATEST: Final = """
    SELECT x.share FROM pool_readers x WHERE x.name = n.value AND x.share < :before
    ORDER BY x.share DESC LIMIT :page
"""
LATEST_SHARES: Final = either(
    sqlite=f"""SELECT l.share FROM json_each(:names) n
        JOIN pool_readers l ON l.name = n.value AND l.share IN ({LATEST})""",
    postgres=f"""SELECT l.share FROM unnest(CAST(:names AS text[])) AS n (value)
        CROSS JOIN LATERAL ({LATEST}) AS l""",
)
"""The latest `page` shares below the number `before` of each of these audiences `names`."""
NEXT_SHARERS: Final = """
    SELECT y.name, y.share, y.member, y.writer FROM pool_readers y
    WHERE y.name = p.name AND (y.member, y.writer) > (p.member, p.writer)
    ORDER BY y.member, y.writer, y.share LIMIT 1
"""
NEXT_ROW: Final = either(
    sqlite=f"""JOIN pool_readers y ON y.name = p.name
        AND y.share = (SELECT share FROM ({NEXT_SHARERS}))""",
    postgres=f"CROSS JOIN LATERAL ({NEXT_SHARERS}) AS y",
)
SHARERS: Final = f"""
    WITH RECURSIVE sharers (name, member, writer) AS (
        SELECT n.value, CAST(0 AS bigint), CAST(0 AS bigint) FROM {listed("names", "n")}
        UNION ALL
        SELECT y.name, y.member, y.writer FROM sharers p {NEXT_ROW}
    )
"""
"""Each pair of memberships that shares of these audiences depend on. Each row is one look into the
index, however many shares the pair has."""
OF_SHARERS: Final = """
    SELECT {result} FROM pool_readers x WHERE x.name = {of}.name AND x.member = {of}.member
        AND x.writer = {of}.writer AND x.share < :before
"""
OF_PAIR: Final = OF_SHARERS.format(result="x.share", of="n") + "ORDER BY x.share DESC LIMIT :page"
PRESENT: Final = f"""
    SELECT p.name, p.member, p.writer, ({OF_SHARERS.format(result="max(x.share)", of="p")}) AS last
    FROM sharers p WHERE EXISTS (SELECT 1 FROM pool_members o WHERE o.seq = p.member)
        AND EXISTS (SELECT 1 FROM pool_members w WHERE w.seq = p.writer)
"""
LATEST_PRESENT: Final = f"""
    SELECT * FROM ({PRESENT}) AS present WHERE last IS NOT NULL ORDER BY last DESC LIMIT :page
"""
LATEST_SHARES_OF_MEMBERS: Final = SHARERS + either(
    sqlite=f"""SELECT l.share FROM ({LATEST_PRESENT}) n
        JOIN pool_readers l ON l.name = n.name AND l.share IN ({OF_PAIR})""",
    postgres=f"""SELECT l.share FROM ({LATEST_PRESENT}) AS n
        CROSS JOIN LATERAL ({OF_PAIR}) AS l""",
)
"""The same, with at least the latest `page` shares of present members and none of others."""


def audiences_of(
    tenant: str, pool: str, scope: int, *, agent: str, person: str, project: str
) -> str:
    """Return the audiences of a share, separated by spaces. `scope` is as in `SharedScope`."""
    match scope:
        case 0:
            return _name(tenant, pool, "agent", agent)
        case 1:
            return _name(tenant, pool, "person", person)
        case 2:
            names = _name(tenant, pool, "project", project), _name(tenant, pool, "added")
            return " ".join(names)
        case 3:
            return _name(tenant, pool, "team")
        case _:
            return _name(tenant, pool, "all")


def audiences_read(access: AccessScope, pools: Iterable[tuple[str, bool]]) -> list[str]:
    """Return the audiences to which an agent belongs in these pools, each with True if the pool's
    owner added the agent."""
    tenant, widest = access.tenant, access.widest
    names = []
    for pool, added in pools:
        inside = added or not access.outside
        project = [_name(tenant, pool, "project", access.project)] if access.project else []
        by_scope = (
            [_name(tenant, pool, "agent", access.agent)],
            [_name(tenant, pool, "person", person) for person in access.persons],
            [_name(tenant, pool, "added")] if added else project,
            [_name(tenant, pool, "team")] if inside else [],
            [_name(tenant, pool, "all")],
        )
        names += [name for some in by_scope[: widest + 1] for name in some]
    return names


async def audiences_of_reader(database: Database, access: AccessScope) -> Sequence[str]:
    """Return the audiences of an agent in all its pools; none for a person."""
    if not access.agent:
        return ()
    rows = await database.fetch(POOLS, access.parameters())
    return audiences_read(access, [(str(pool), bool(granted)) for pool, granted in rows])


def _name(tenant: str, pool: str, what: str, who: str = "") -> str:
    return name_of(tenant, f"shared {what}", f"{pool}\x1f{who}")


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
    ) -> list[SearchHit]:
        """Return hits, as `RecallStore.lexical` does."""
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
        scores = dict(hits)
        shares = {one.number: scores[share] for share, one in read.items()}
        return bm25(some.values(), terms, known, shares)[:limit]

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


def merged(own: Sequence[SearchHit], shared: Sequence[SearchHit], limit: int) -> list[SearchHit]:
    """Return two lists of hits as one, best first; a memory in both has its better score and its
    better certainty."""
    best = {hit.id: hit for hit in own}
    for hit in shared:
        other = best.get(hit.id, hit)
        best[hit.id] = SearchHit(
            hit.id, max(hit.score, other.score), max(hit.certainty, other.certainty)
        )
    return sorted(best.values(), key=lambda hit: -hit.score)[:limit]
