"""Finds a person's own memories that share the telling words of a statement, in SQLite.

The work is bounded, however many memories the person has: a word is counted up to `RARE` memories.
All memories with a rare word are candidates, and the newest and the oldest with two of the common
ones: a person changes what they said lately, or what they said at first. The closest of them are
compared word by word.
"""

from collections import Counter, OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from db import Statement, Work, among, fetch
from db.values import storable
from memory.model.scope import AccessScope
from memory.ports.memories import Filter
from memory.stores.filters import conditions_of, statement, values_of
from memory.stores.partitions import own_within
from memory.stores.word_ranking import MAX_CLOSE, WordCandidate, WordUse, closest
from memory.text.terms import Term, query_terms

CLOSELY: Final = f"""
    SELECT m.seq, m.id, m.words, m.length FROM memories m WHERE {among("m.seq", "some")} AND
"""
RARE: Final = 300
"""Memories up to which those with a word are counted, and read for the rare words together."""
TOTAL: Final = f"""
    SELECT coalesce(sum(memories), 0) AS total FROM memory_partitions
    WHERE {among("name", "partitions")}
"""
OLDEST: Final = 20
"""Candidates with common words that are the oldest; the others are the newest."""
FRESH: Final = 600_000_000
"""Microseconds for which a word stays common without being counted."""
MAX_COMMON: Final = 5_000
"""Common words of all people that are known."""
COMMON: Final = 3
"""Common words of which two select candidates."""

Hits = list[tuple[int, float]]
"""Numbers of memories with scores, best first."""


class CommonWords:
    """The words that were common within the last `FRESH`, so that they are not counted again."""

    def __init__(self) -> None:
        self._uses: OrderedDict[str, tuple[int, WordUse]] = OrderedDict()

    def get(self, query: str, now: int) -> WordUse | None:
        """Return the use of a word; None for a word that has to be counted."""
        counted, use = self._uses.get(query, (0, None))
        return use if 0 <= now - counted < FRESH else None

    def keep(self, query: str, now: int, use: WordUse) -> None:
        """Note how common a word is; of many words the oldest are dropped."""
        self._uses[query] = now, use
        self._uses.move_to_end(query)
        while len(self._uses) > MAX_COMMON:
            self._uses.popitem(last=False)


def similar(access: AccessScope, filters: Filter, now: int, known: CommonWords) -> Work[Hits]:
    """Do `WordSearch.similar`."""
    terms = query_terms(storable(filters.text))
    partitions = own_within(access)
    if not terms or not partitions:
        return []
    queries = [match_query(term, partitions) for term in terms]
    uses, total = yield from _used(queries, partitions, now, known)
    rare, common = _rare(uses), _common(uses)
    reading: dict[str, object] = {"newest": MAX_CLOSE - OLDEST, "oldest": OLDEST}
    reading |= {f"query{at}": queries[place] for at, place in enumerate(rare)}
    if common:
        rarest, *others = (f"({queries[place]})" for place in common)
        reading["common"] = f"{rarest} AND ({' OR '.join(others)})" if others else rarest
    if not rare and not common:
        return []
    having, some = Counter[int](), set[int]()
    for is_common, seq in (yield from fetch(_reading(len(rare), common=bool(common)), reading)):
        having[seq] += 1
        if is_common:
            some.add(seq)
    best = sorted(having, key=lambda seq: (having[seq], seq), reverse=True)
    first = [*some.union(best[:MAX_CLOSE])]
    look = statement(CLOSELY + conditions_of(access, filters))
    found = yield from fetch(look, values_of(access, filters, now) | {"some": first})
    return closest((WordCandidate(*row) for row in found), terms, uses, total)[: filters.limit]


def _used(
    queries: Sequence[str], partitions: Sequence[str], now: int, known: CommonWords
) -> Work[tuple[list[WordUse], int]]:
    """Return the use of each word, and the number of memories in the partitions."""
    uses = {query: use for query in queries if (use := known.get(query, now)) is not None}
    unknown = [query for query in queries if query not in uses]
    params: dict[str, object] = {f"query{at}": query for at, query in enumerate(unknown)}
    rows = yield from fetch(_counting(len(unknown)), params | {"partitions": partitions})
    *counted, (_, total, _) = sorted(rows)
    for query, (_, count, span) in zip(unknown, counted, strict=True):
        uses[query] = WordUse(count, span if count >= RARE else 0)
        if count >= RARE:
            known.keep(query, now, uses[query])
    return [uses[query] for query in queries], int(total)


def _rare(uses: Sequence[WordUse]) -> list[int]:
    """Return the rare words that select candidates, the rarest first: `RARE` memories in all."""
    rare: list[int] = []
    room = RARE
    for place in sorted(range(len(uses)), key=lambda place: uses[place].memories):
        if 0 < uses[place].memories <= room and not uses[place].span:
            rare.append(place)
            room -= uses[place].memories
    return rare


def _common(uses: Sequence[WordUse]) -> list[int]:
    """Return the common words that select candidates, the least common first."""
    common = [place for place, use in enumerate(uses) if use.span]
    return sorted(common, key=lambda place: -uses[place].span)[:COMMON]


@lru_cache
def _counting(words: int) -> Statement:
    """The number of memories with each word, `RARE` at most, and the range of their numbers; at the
    end the number of all."""
    parts = [
        f"""SELECT {word}, count(*), coalesce(max(number) - min(number) + 1, 0) FROM (
            SELECT rowid AS number FROM memories_text WHERE memories_text MATCH :query{word}
            LIMIT {RARE})"""
        for word in range(words)
    ]
    return Statement(" UNION ALL ".join([*parts, f"SELECT {words}, total, 0 FROM ({TOTAL})"]))


@lru_cache
def _reading(words: int, *, common: bool) -> Statement:
    """The numbers of the memories with each word, and, behind 1, of the newest and the oldest that
    match `common`."""
    parts = [
        f"SELECT 0, rowid FROM memories_text WHERE memories_text MATCH :query{word}"
        for word in range(words)
    ]
    if common:
        parts += [
            f"""SELECT * FROM (SELECT 1, rowid FROM memories_text WHERE memories_text MATCH :common
                ORDER BY rowid {order} LIMIT {most})"""
            for order, most in (("DESC", ":newest"), ("ASC", ":oldest"))
        ]
    return Statement(" UNION ALL ".join(parts))


def match_query(term: Term, partitions: Sequence[str]) -> str:
    """Return the query of a word in any of the partitions, whose names precede it in the index."""
    more = " *" if term.prefix else ""
    written = [f'"{partition}{term.text}"{more}' for partition in partitions]
    written += [f'"{partition}{word}"' for partition in partitions for word in term.also]
    return " OR ".join(written)
