"""Implements `gateway.ports.long_documents.LongDocumentIndex` on both databases."""

import asyncio
from collections.abc import Collection, Iterator, Sequence
from datetime import timedelta
from functools import partial
from typing import Final

from db import Database, Work, fetch
from db.values import storable
from gateway.documents.model import ReadDocument
from gateway.immutable import replace
from gateway.ports import Clock
from gateway.ports.long_documents import (
    MAX_PASSAGES,
    MAX_QUERY,
    DocumentPlace,
    DocumentSource,
    LongDocument,
    Passage,
)
from memory.knowledge.long_documents.passages import MAX_PASSAGES as MAX_PASSAGES_OF_ONE
from memory.knowledge.long_documents.passages import SplitDocument, split_pages
from memory.knowledge.long_documents.ranking import RankedPassage, ranked_passages
from memory.knowledge.long_documents.schema import MERGING, PREFIX, partition_of
from memory.knowledge.long_documents.words import AskedWord, asked_words
from memory.knowledge.ranking import ChunkStatistics, FoundChunk
from memory.knowledge.stores.long_documents import (
    DELETE_OF,
    DELETED_AT_ONCE,
    KNOWS,
    LISTED,
    begun,
    deleted_orphans,
    deleted_text,
    grown,
    long_document,
    parameters,
    read_passages,
    read_words,
)
from memory.knowledge.stores.word_index import ChunkWordSearch, word_index_on

MAX_STEP: Final = 24 * 1024
"""Characters of words that one transaction files; in SQLite it holds the event loop."""
MAX_STEPS: Final = 2 * MAX_PASSAGES_OF_ONE // DELETED_AT_ONCE
"""Steps that delete the text of the documents of a message; the rest is left to `clean`."""
CLOSE: Final = 400
"""Passages that are read closely."""
UNSTORED_FOR: Final = timedelta(days=1)
"""The time for which a document is kept whose message is not stored yet: a turn can wait so long
for a store."""


class SqlLongDocuments:
    """The index in the long-lived database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._words: ChunkWordSearch = word_index_on(database, PREFIX)

    async def keep(
        self, place: DocumentPlace, source: DocumentSource, document: ReadDocument
    ) -> LongDocument | None:
        """Store a document, or the rest of one."""
        split = await asyncio.to_thread(split_pages, document)
        total, now = document.total, self._clock.now()
        kept, stored = await self._database.run(lambda: begun(place, source, split, total, now))
        if kept.complete:
            return kept
        for places in _steps(split, stored):
            step = partial(grown, kept.number, split, places, self._words)
            if not await self._database.run(step):
                break
        found = await self.listed(place)
        return next((one for one in found if one.number == kept.number), None)

    async def listed(self, place: DocumentPlace) -> list[LongDocument]:
        """Return the documents of a conversation."""
        rows = await self._database.fetch(LISTED, parameters(place))
        return [long_document(row[:-1]) for row in rows]

    async def search(
        self, place: DocumentPlace, query: str, name: str = "", limit: int = MAX_PASSAGES
    ) -> list[Passage]:
        """Return the passages that fit best."""
        query, name = storable(query[:MAX_QUERY]), storable(name).casefold().strip()
        found = await self._database.run(lambda: _found(place, query, name, self._words))
        if found is None:
            return []
        asked, chunks, known = found
        best = await asyncio.to_thread(ranked_passages, asked, chunks, known)
        return await self._shown(place, best, max(1, min(limit, MAX_PASSAGES)))

    async def _shown(
        self, place: DocumentPlace, best: Sequence[RankedPassage], limit: int
    ) -> list[Passage]:
        """Read the best passages; a document that two messages show gives each passage once."""
        numbers = [one.number for one in best[: 3 * limit]]
        texts = await self._database.run(lambda: read_passages(place, numbers))
        shown: dict[tuple[int, str], Passage] = {}
        for one in best[: 3 * limit]:
            passage = texts.get(one.number)
            if passage is not None:
                key = (passage.page, passage.text)
                shown.setdefault(key, replace(passage, share=one.share))
        return list(shown.values())[:limit]

    async def knows(self, channel: str, message_ids: Collection[str]) -> bool:
        """Return True if a document is of one of these messages."""
        return bool(await self._database.fetch(KNOWS, _messages(channel, message_ids)))

    async def deleted(self, channel: str, message_ids: Collection[str]) -> None:
        """Delete the documents of these messages with their text."""
        if await self._database.change(DELETE_OF, _messages(channel, message_ids)):
            for _ in range(MAX_STEPS):
                if not await self._database.run(lambda: deleted_text(self._words)):
                    break

    async def clean(self) -> int:
        """Delete what nothing refers to any more."""
        rows = await deleted_orphans(self._database, self._clock.now() - UNSTORED_FOR)
        rows += await self._database.run(lambda: deleted_text(self._words))
        return rows or await MERGING.run(self._database)


def _messages(channel: str, message_ids: Collection[str]) -> dict[str, object]:
    return {"channel": storable(channel), "message_ids": [storable(one) for one in message_ids]}


def _steps(split: SplitDocument, stored: int) -> Iterator[range]:
    """Yield the places of the passages that each transaction stores; at least one range."""
    begin, weight, count = stored, 0, len(split.passages)
    for place in range(stored, count):
        size = len(split.words[place].text)
        if place > begin and weight + size > MAX_STEP:
            yield range(begin, place)
            begin, weight = place, 0
        weight += size
    yield range(begin, count)


def _found(
    place: DocumentPlace, query: str, name: str, index: ChunkWordSearch
) -> Work[tuple[Sequence[AskedWord], list[FoundChunk], ChunkStatistics] | None]:
    rows = yield from fetch(LISTED, parameters(place))
    rows = [row for row in rows if name in row[1].casefold()]
    asked = asked_words(query, {row[-1] for row in rows})
    if not rows or not asked:
        return None
    words = list(dict.fromkeys(one for word in asked for one in (*word.whole, *word.parts)))
    matches = yield from index.matching([partition_of(int(row[0])) for row in rows], words)
    chunks = yield from read_words(place, matches.heaviest()[:CLOSE])
    having = dict(zip(words, matches.having, strict=True))
    return asked, chunks, ChunkStatistics(matches.chunks, matches.words, having)
