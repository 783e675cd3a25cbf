"""Looks memories up by their words in PostgreSQL: a GIN index finds who has which word, BM25 ranks
them. Only what is on the shelves of whoever asks is counted.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from db.postgres import PostgresDatabase
from db.values import storable
from memory.scope import Reach
from memory.store.ports import Filter
from memory.store.postgres.conditions import conditions_of, values_of
from memory.store.postgres.reach import parameters
from memory.store.postgres.rows import shelf_lexeme
from memory.store.ranking import (
    MAX_WEIGHED,
    WEIGHED_CLOSELY,
    Candidate,
    Statistics,
    bm25,
    chosen,
    ranked,
    whole,
)
from memory.store.shelves import owners_within, within
from memory.store.terms import Term, asked

MAX_COUNTED: Final = 20_000
"""Memories of which the usual length is taken."""
ASKED: Final = """
    SELECT 1::bigint << (place - 1)::integer AS bit, place,
        %(shelves)s::tsquery && term::tsquery AS query
    FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS t (term, place)
"""
COUNTS: Final = f"""
    SELECT (SELECT count(*) FROM memories m WHERE m.lexemes @@ asked.query)
    FROM ({ASKED}) asked ORDER BY place
"""  # noqa: S608 - constants
HITS: Final = f"""
    WITH asked AS MATERIALIZED ({ASKED})
    SELECT m.seq, (SELECT sum(bit)::bigint FROM asked WHERE m.lexemes @@ query)
    FROM memories m
    WHERE m.lexemes @@ (%(shelves)s::tsquery && %(first)s::tsquery) AND """  # noqa: S608
HITS_ORDER: Final = f" ORDER BY m.seq DESC LIMIT {MAX_WEIGHED}"
CLOSELY: Final = """
    SELECT m.seq, m.id, m.words, m.length FROM memories m
    WHERE m.seq = ANY (%(some)s::bigint[]) AND m.words IS NOT NULL
"""
SHELVES: Final = f"""
    SELECT count(*), coalesce(sum(length), 0) FROM (
        (SELECT m.length FROM memories m WHERE m.owner = ANY (%(owners)s::text[])
            LIMIT {MAX_COUNTED})
        UNION ALL
        (SELECT m.length FROM memories m WHERE %(for_room)s <> ''
            AND m.tenant = %(for_tenant)s AND m.room = %(for_room)s AND m.room <> ''
            AND m.role <> '' LIMIT {MAX_COUNTED})
    ) AS counted
"""  # noqa: S608 - constants


async def lexical(
    engine: PostgresDatabase, reach: Reach, query: str, wanted: Filter, limit: int, now: datetime
) -> list[tuple[str, float]]:
    """What `RecallStore.lexical` does: of an unfinished question every word has to be there."""
    terms = asked(storable(query), unfinished=wanted.unfinished)
    hits, counts = await having(engine, reach, terms, wanted, now)
    if wanted.unfinished:
        hits = whole(hits)
    if not hits:
        return []
    some = [seq for seq, _ in hits[: max(limit, WEIGHED_CLOSELY)]]
    seen = await engine.fetch_raw(CLOSELY, {"some": some})
    values = parameters(reach) | {"owners": owners_within(reach)}
    memories, words = (await engine.fetch_raw(SHELVES, values))[0]
    known = Statistics(int(memories), int(words), tuple(counts))
    return bm25((Candidate(*row) for row in seen), terms, known)[:limit]


async def having(
    engine: PostgresDatabase, reach: Reach, terms: Sequence[Term], wanted: Filter, now: datetime
) -> tuple[list[tuple[int, float]], list[int]]:
    """What fits and has some of the words, with the share that it has, the best first; and how many
    on this reach's shelves have each."""
    queries = [_query(term) for term in terms]
    asked_for = parameters(reach) | values_of(wanted)
    asked_for |= {"now": now, "terms": queries}
    asked_for["shelves"] = (
        f"({' | '.join(_quoted(shelf_lexeme(shelf)) for shelf in within(reach))})"
    )
    counts = [int(row[0]) for row in await engine.fetch_raw(COUNTS, asked_for)] if terms else []
    first = " | ".join(queries[place] for place in chosen(counts))
    if not first:
        return [], counts
    rows = await engine.fetch_raw(
        HITS + conditions_of(wanted) + HITS_ORDER, asked_for | {"first": f"({first})"}
    )
    return ranked({seq: bits for seq, bits in rows if bits}, counts), counts


def _query(term: Term) -> str:
    """A word as PostgreSQL's query; there are neither quotes nor backslashes in it."""
    words = [f"{_quoted(term.text)}{':*' if term.prefix else ''}", *map(_quoted, term.also)]
    return f"({' | '.join(words)})"


def _quoted(word: str) -> str:
    return f"'{word}'"
