"""Searches the passages of a conversation's documents by the words of a question."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from db import Database, Work, fetch
from db.values import storable
from gateway.immutable import replace
from gateway.ports.long_documents import MAX_PASSAGES, MAX_QUERY, DocumentPlace, Passage
from memory.knowledge.long_documents.ranking import RankedPassage, ranked_passages
from memory.knowledge.long_documents.schema import partition_of
from memory.knowledge.long_documents.words import AskedWord, asked_words
from memory.knowledge.ranking import ChunkStatistics, FoundChunk
from memory.knowledge.stores.long_documents import (
    LISTED,
    parameters,
    read_passages,
    read_words,
)
from memory.knowledge.stores.word_index import ChunkWordSearch

CLOSE: Final = 400
"""Passages that are weighed."""
MAX_READ: Final = 100
"""Passages that are read, of which the best unseen ones are shown."""


async def search_passages(
    database: Database,
    index: ChunkWordSearch,
    place: DocumentPlace,
    query: str,
    name: str,
    seen: Mapping[int, int],
) -> list[Passage]:
    """Return the passages that fit a question best, best first. Raises `StoreUnavailable`."""
    query, name = storable(query[:MAX_QUERY]), storable(name).casefold().strip()
    found = await database.run(lambda: _found(place, query, name, index))
    if found is None:
        return []
    best = await asyncio.to_thread(ranked_passages, *found)
    return await _shown(database, place, best[:MAX_READ], seen)


async def _shown(
    database: Database,
    place: DocumentPlace,
    best: Sequence[RankedPassage],
    seen: Mapping[int, int],
) -> list[Passage]:
    """Read the best passages of pages that are not seen; a document that two messages show gives
    each passage once."""
    numbers = [one.number for one in best]
    texts = await database.run(lambda: read_passages(place, numbers))
    shown: dict[tuple[int, str], Passage] = {}
    for one in best:
        passage = texts.get(one.number)
        if passage is not None and passage.page > seen.get(passage.document.number, 0):
            key = (passage.page, passage.text)
            shown.setdefault(key, replace(passage, share=one.share))
    return list(shown.values())[:MAX_PASSAGES]


def _found(
    place: DocumentPlace, query: str, name: str, index: ChunkWordSearch
) -> Work[tuple[Sequence[AskedWord], list[FoundChunk], ChunkStatistics] | None]:
    rows = yield from fetch(LISTED, parameters(place))
    rows = [row for row in rows if name in row[1].casefold()]
    asked = asked_words(query, {row[-1] for row in rows})
    if not rows or not asked:
        return None
    words = list(dict.fromkeys(one for word in asked for one in word.words()))
    matches = yield from index.matching([partition_of(int(row[0])) for row in rows], words)
    filed = yield from read_words(place, matches.heaviest()[:CLOSE])
    chunks = [FoundChunk(number, length, text, "", "") for number, length, text in filed]
    having = dict(zip(words, matches.having, strict=True))
    return asked, chunks, ChunkStatistics(matches.chunks, matches.words, having)
