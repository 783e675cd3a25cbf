"""Looks memories up by their words in SQLite: FTS5 finds who has which word, BM25 ranks them.

FTS5's own `bm25()` counts what everybody has; here only the shelves of whoever asks are counted.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final

from memory.scope import Reach
from memory.store.ports import Filter
from memory.store.ranking import (
    MAX_CANDIDATES,
    MAX_WEIGHED,
    WEIGHED_CLOSELY,
    Candidate,
    Statistics,
    bm25,
    chosen,
    ranked,
    whole,
)
from memory.store.rows import storable
from memory.store.shelves import within
from memory.store.sqlite.conditions import conditions_of
from memory.store.terms import Term, asked

HAVING: Final = "SELECT rowid FROM memories_text WHERE memories_text MATCH ?"
FEW: Final = f"{HAVING} LIMIT {MAX_CANDIDATES + 1}"
NEWEST: Final = f"{HAVING} ORDER BY rowid DESC LIMIT {MAX_WEIGHED}"
COUNT: Final = "SELECT count(*) FROM memories_text WHERE memories_text MATCH ?"
CLOSELY: Final = """
    SELECT t.memory, m.id, t.words, t.length FROM memories m JOIN memory_terms t ON t.memory = m.seq
    WHERE m.seq IN (SELECT value FROM json_each(:some)) AND """
READ_WHOLE: Final = 200
"""Memories on the shelves up to which all of them are read: that is less work than to look a word
up that thousands of others have as well."""
WORDS: Final = """
    SELECT t.memory, t.words FROM memories m JOIN memory_terms t ON t.memory = m.seq
    WHERE m.owner IN (SELECT value FROM json_each(:shelves))
"""
SHELVES: Final = """
    SELECT coalesce(sum(memories), 0), coalesce(sum(words), 0) FROM memory_shelves
    WHERE shelf IN (SELECT value FROM json_each(:shelves))
"""


def lexical(
    db: sqlite3.Connection,
    reach: Reach,
    query: str,
    wanted: Filter,
    limit: int,
    now: float,
) -> list[tuple[str, float]]:
    """What `RecallStore.lexical` does, inside the caller's transaction. Of an unfinished question
    every word has to be there."""
    terms = asked(storable(query), unfinished=wanted.unfinished)
    if wanted.unfinished:
        hits, counts = having(db, reach, terms)
        hits = whole(hits)
    else:
        hits, counts = having(db, reach, terms, enough=MAX_CANDIDATES)
    if not hits:
        return []
    closely = max(limit, WEIGHED_CLOSELY)
    conditions, values = conditions_of(reach, wanted, now)
    sql = CLOSELY + " AND ".join(conditions)
    seen: list[Candidate] = []
    for begin in range(0, len(hits), closely):
        values["some"] = json.dumps([seq for seq, _ in hits[begin : begin + closely]])
        seen += [Candidate(*row) for row in db.execute(sql, values)]
        if len(seen) >= closely:
            break
    return bm25(seen, terms, _statistics(db, reach, counts))[:limit]


def having(
    db: sqlite3.Connection, reach: Reach, terms: Sequence[Term], enough: int = 0
) -> tuple[list[tuple[int, float]], list[int]]:
    """Who on this reach's shelves has some of the words, with the share that they have, the best
    first; and how many have each. Where the rarest words are in `enough` memories already, the more
    common ones are not looked for, as long as there is another."""
    if not reach.room and _statistics(db, reach, ()).memories <= READ_WHOLE:
        return _read_whole(db, reach, terms, enough)
    shelves = " OR ".join(f'"{shelf}"' for shelf in within(reach))
    queries = [(f"shelves : ({shelves}) AND words : ({_query(term)})",) for term in terms]
    few = [db.execute(FEW, query).fetchall() for query in queries]  # all of them, mostly
    counts = [
        len(rows) if len(rows) <= MAX_CANDIDATES else int(db.execute(COUNT, query).fetchone()[0])
        for rows, query in zip(few, queries, strict=True)
    ]
    hits: dict[int, int] = {}
    for place in chosen(counts, enough) if enough else range(len(terms)):
        bit, rows = 1 << place, few[place]
        if counts[place] > MAX_CANDIDATES:
            rows = db.execute(NEWEST, queries[place]).fetchall()
        for (seq,) in rows:
            hits[seq] = hits.get(seq, 0) | bit
    return ranked(hits, counts), counts


def _read_whole(
    db: sqlite3.Connection, reach: Reach, terms: Sequence[Term], enough: int
) -> tuple[list[tuple[int, float]], list[int]]:
    """What `having` says, by looking through all that there is."""
    rows = db.execute(WORDS, {"shelves": json.dumps(within(reach))}).fetchall()
    texts = [(seq, f" {words} ") for seq, words in rows]
    bits = [(1 << place, term) for place, term in enumerate(terms)]
    masks = {seq: sum(bit for bit, term in bits if term.stands_in(padded)) for seq, padded in texts}
    counts = [sum(mask & bit > 0 for mask in masks.values()) for bit, _ in bits]
    looked_for = chosen(counts, enough) if enough else range(len(terms))
    wanted = sum(1 << place for place in looked_for)
    hits = {seq: mask & wanted for seq, mask in masks.items() if mask & wanted}
    return ranked(hits, counts), counts


def _statistics(db: sqlite3.Connection, reach: Reach, counts: Sequence[int]) -> Statistics:
    memories, words = db.execute(SHELVES, {"shelves": json.dumps(within(reach))}).fetchone()
    return Statistics(int(memories), int(words), tuple(counts))


def _query(term: Term) -> str:
    return " OR ".join(_quoted(term))


def _quoted(term: Term) -> Iterator[str]:
    yield f'"{term.text}" *' if term.prefix else f'"{term.text}"'
    yield from (f'"{word}"' for word in term.also)
