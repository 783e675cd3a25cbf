"""Looks memories up by their words in SQLite: FTS5 finds who has which word, BM25 ranks them.

FTS5's own `bm25()` counts what everybody has; here only the shelves of whoever asks are counted.
"""

import json
import sqlite3
from collections.abc import Sequence
from typing import Final

from db.values import storable
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
from memory.store.shelves import within
from memory.store.sqlite.conditions import conditions_of
from memory.store.terms import Term, asked

HAVING: Final = "SELECT rowid FROM memories_text WHERE memories_text MATCH ?"
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
        hits, known = having(db, reach, terms)
        hits = whole(hits)
    else:
        hits, known = having(db, reach, terms, enough=MAX_CANDIDATES)
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
    return bm25(seen, terms, known)[:limit]


def having(
    db: sqlite3.Connection, reach: Reach, terms: Sequence[Term], enough: int = 0
) -> tuple[list[tuple[int, float]], Statistics]:
    """Who on this reach's shelves has some of the words, with the share that they have, the best
    first; and what is known of the shelves. Where the rarest words are in `enough` memories
    already, the more common ones are not looked for, as long as there is another."""
    shelves = within(reach)
    memories, words = db.execute(SHELVES, {"shelves": json.dumps(shelves)}).fetchone()
    if memories <= READ_WHOLE and not reach.room:
        hits, counts = _read_whole(db, shelves, terms, enough)
    else:
        hits, counts = _looked_up(db, shelves, terms, enough)
    return ranked(hits, counts), Statistics(int(memories), int(words), tuple(counts))


def _looked_up(
    db: sqlite3.Connection, shelves: Sequence[str], terms: Sequence[Term], enough: int
) -> tuple[dict[int, int], list[int]]:
    """Numbers of memories with the words that are in them, as bits, and how many have each word."""
    queries = [(_query(term, shelves),) for term in terms]
    counts = [int(db.execute(COUNT, query).fetchone()[0]) for query in queries]
    hits: dict[int, int] = {}
    for place in chosen(counts, enough) if enough else range(len(terms)):
        bit = 1 << place
        sql = NEWEST if counts[place] > MAX_CANDIDATES else HAVING
        for (seq,) in db.execute(sql, queries[place]):
            hits[seq] = hits.get(seq, 0) | bit
    return hits, counts


def _read_whole(
    db: sqlite3.Connection, shelves: Sequence[str], terms: Sequence[Term], enough: int
) -> tuple[dict[int, int], list[int]]:
    """What `_looked_up` says, by looking through all that there is."""
    rows = db.execute(WORDS, {"shelves": json.dumps(shelves)}).fetchall()
    texts = [(seq, f" {words} ") for seq, words in rows]
    bits = [(1 << place, term) for place, term in enumerate(terms)]
    masks = {seq: sum(bit for bit, term in bits if term.stands_in(padded)) for seq, padded in texts}
    counts = [sum(mask & bit > 0 for mask in masks.values()) for bit, _ in bits]
    looked_for = chosen(counts, enough) if enough else range(len(terms))
    wanted = sum(1 << place for place in looked_for)
    return {seq: mask & wanted for seq, mask in masks.items() if mask & wanted}, counts


def _query(term: Term, shelves: Sequence[str]) -> str:
    """A word on any of the shelves, as it is indexed there: behind the shelf's name."""
    more = " *" if term.prefix else ""
    written = [f'"{shelf}{term.text}"{more}' for shelf in shelves]
    written += [f'"{shelf}{word}"' for shelf in shelves for word in term.also]
    return " OR ".join(written)
