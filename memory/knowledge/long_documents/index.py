"""Implements `gateway.ports.long_documents.LongDocumentIndex` on both databases, and exports and
erases the documents of a person."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

from db import Database
from db.values import storable, time_of
from gateway.documents.model import ReadDocument
from gateway.ports import Clock
from gateway.ports.long_documents import (
    MAX_STORED,
    NOTHING_SEEN,
    DocumentPlace,
    DocumentSource,
    LongDocument,
    Passage,
)
from memory.knowledge.long_documents.schema import MERGING, PREFIX
from memory.knowledge.stores.long_documents import (
    COUNTED,
    DELETE_OF,
    DELETED_AT_ONCE,
    ERASE,
    EXPORTED,
    KNOWS,
    LISTED,
    MAX_NAME,
    TABLE,
    TAKEN_AWAY,
    begun,
    deleted_orphans,
    deleted_text,
    grown,
    long_document,
    parameters,
)
from memory.knowledge.stores.word_index import ChunkWordSearch, word_index_on

if TYPE_CHECKING:  # splitting is loaded with the first document
    from memory.knowledge.long_documents.passages import SplitDocument

MAX_STEP: Final = 24 * 1024
"""Characters of words that one transaction files; in SQLite it holds the event loop."""
MAX_STEPS: Final = 2 * MAX_STORED // DELETED_AT_ONCE
"""Steps that delete the text of the documents of a message; the rest is left to `clean`."""
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
        from memory.knowledge.long_documents.passages import split_pages  # noqa: PLC0415 - loaded with the first document

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
        self,
        place: DocumentPlace,
        query: str,
        name: str = "",
        seen: Mapping[int, int] = NOTHING_SEEN,
    ) -> list[Passage]:
        """Return the passages that fit best."""
        from memory.knowledge.long_documents.search import search_passages  # noqa: PLC0415 - loaded with the first search

        return await search_passages(self._database, self._words, place, query, name, seen)

    async def knows(self, channel: str, message_ids: Sequence[str]) -> bool:
        """Return True if a document is of one of these messages."""
        return bool(await self._database.fetch(KNOWS, _messages(channel, message_ids)))

    async def deleted(self, channel: str, message_ids: Sequence[str]) -> None:
        """Delete the documents of these messages with their text; also that of documents that left
        with the stored messages."""
        await self._database.change(DELETE_OF, _messages(channel, message_ids))
        await self._delete_text()

    async def edited(self, channel: str, message_id: str, names: Sequence[str]) -> None:
        """Delete the documents that an edit took from a message. A file without a name is stored
        under its title, so that all stay."""
        if not all(names):
            return
        params = {
            "channel": storable(channel),
            "message_id": storable(message_id),
            "names": [storable(one[:MAX_NAME]) for one in names],
        }
        if await self._database.change(TAKEN_AWAY, params):
            await self._delete_text()

    async def clean(self) -> int:
        """Delete what nothing refers to any more."""
        rows = await deleted_orphans(self._database, self._clock.now() - UNSTORED_FOR)
        rows += await self._database.run(lambda: deleted_text(self._words))
        return rows or await MERGING.run(self._database)

    async def export(self, tenant: str, persons: Sequence[str]) -> list[dict[str, object]]:
        """Return the names and the pages of the documents that these people showed: their text is
        that of the files."""
        rows = await self._database.fetch(EXPORTED, _people(tenant, persons))
        return [
            {
                "table": TABLE,
                "conversation": conversation,
                "message_id": message_id,
                "name": name,
                "pages": total,
                "at": time_of(at).timestamp(),
            }
            for conversation, message_id, name, total, at in rows
        ]

    async def count(self, tenant: str, persons: Sequence[str]) -> list[tuple[str, int]]:
        """Return the number of these documents."""
        ((count,),) = await self._database.fetch(COUNTED, _people(tenant, persons))
        return [(TABLE, int(count))] if count else []

    async def erase(self, tenant: str, persons: Sequence[str], turn_id: str = "") -> int:
        """Delete these documents with their text; return how many they were. The text of documents
        whose messages are erased already is deleted too."""
        erased = await self._database.change(ERASE, _people(tenant, persons))
        await self._delete_text()
        return erased

    async def _delete_text(self) -> None:
        for _ in range(MAX_STEPS):
            if not await self._database.run(lambda: deleted_text(self._words)):
                return


def _people(tenant: str, persons: Sequence[str]) -> dict[str, object]:
    return {"tenant": storable(tenant), "persons": [storable(one) for one in persons if one]}


def _messages(channel: str, message_ids: Sequence[str]) -> dict[str, object]:
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
