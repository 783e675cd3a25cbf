"""Finds a person's own memories that share the telling words of a statement, in PostgreSQL.

The work is bounded: the newest memories show which words are common, and are candidates. Memories
with a rare word are further ones, and the oldest with two of the common words. The closest are
found word by word.
"""

from collections.abc import Sequence
from typing import Final

from db import Work, fetch
from db.statements import listed
from db.values import storable
from memory.model.scope import AccessScope
from memory.ports.memories import Filter
from memory.stores.filters import conditions_of, statement, values_of
from memory.stores.partitions import own_owners, own_within
from memory.stores.rows import partition_lexeme
from memory.stores.word_ranking import MAX_CLOSE, WordCandidate, WordUse, closest
from memory.text.terms import Term, query_terms

SAMPLE: Final = 200
"""The newest memories of an identity in which words are counted."""
RARE: Final = 3
"""Memories of the sample up to which a word is rare."""
MOST: Final = 300
"""Candidates with a rare word."""
COMMON: Final = 3
"""Common words of which the first and another one select candidates."""
SAMPLED: Final = f"""
    SELECT newest.* FROM {listed("owners", "named")} CROSS JOIN LATERAL (
        SELECT m.seq, m.id, m.words, m.length FROM memories m
        WHERE m.owner = named.value AND {{conditions}} ORDER BY m.at DESC LIMIT {SAMPLE}) AS newest
"""
CANDIDATES: Final = """
    (SELECT m.seq, m.id, m.words, m.length FROM memories m
        WHERE m.lexemes @@ (CAST(:partitions AS tsquery) && CAST(:{query} AS tsquery))
        AND {conditions} LIMIT {most})
"""


def similar(access: AccessScope, filters: Filter, now: int) -> Work[list[tuple[int, float]]]:
    """Do `WordSearch.similar`."""
    terms = query_terms(storable(filters.text))
    partitions = own_within(access)
    if not terms or not partitions:
        return []
    conditions, values = conditions_of(access, filters), values_of(access, filters, now)
    named = values | {"owners": own_owners(access)}
    rows = yield from fetch(statement(SAMPLED.format(conditions=conditions)), named)
    candidates = {row[0]: WordCandidate(*row) for row in rows}
    sample = [f" {one.words} " for one in candidates.values()]
    counts = [sum(term.stands_in(words) for words in sample) for term in terms]
    rare, common = _chosen(terms, counts, len(sample))
    values["partitions"] = " | ".join(quoted(partition_lexeme(one)) for one in partitions)
    parts: list[str] = []
    if rare:
        values["rare"] = " | ".join(map(match_query, rare))
        parts.append(CANDIDATES.format(query="rare", conditions=conditions, most=MOST))
    if common:
        values["common"] = _pairs([match_query(term) for term in common])
        parts.append(CANDIDATES.format(query="common", conditions=conditions, most=MAX_CLOSE))
    found = yield from fetch(statement(" UNION ALL ".join(parts)), values)
    candidates |= {row[0]: WordCandidate(*row) for row in found}
    uses = [WordUse(max(1, 2 * count)) for count in counts]
    return closest(candidates.values(), terms, uses, 2 * len(sample))[: filters.limit]


def _chosen(
    terms: Sequence[Term], counts: Sequence[int], sampled: int
) -> tuple[list[Term], list[Term]]:
    """Return the rare words, and the common ones that are the rarest of these."""
    most = RARE if sampled >= SAMPLE else SAMPLE
    both = list(zip(counts, terms, strict=True))
    common = sorted((pair for pair in both if pair[0] > most), key=lambda pair: pair[0])
    rare = [term for count, term in both if count <= most]
    return rare, [term for _, term in common[:COMMON]]


def _pairs(queries: Sequence[str]) -> str:
    first, *others = queries
    return f"{first} & ({' | '.join(others)})" if others else first


def match_query(term: Term) -> str:
    """Return a word as PostgreSQL's query; there are neither quotes nor backslashes in it."""
    words = [f"{quoted(term.text)}{':*' if term.prefix else ''}", *map(quoted, term.also)]
    return f"({' | '.join(words)})"


def quoted(word: str) -> str:
    """Return a word or a partition as it stands in a query."""
    return f"'{word}'"
