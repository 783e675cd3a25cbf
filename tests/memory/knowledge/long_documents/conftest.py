"""The index of long documents with stored conversations, on both databases."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from gateway.conversation import ConversationKey
from gateway.documents.model import DocumentPage, ReadDocument
from gateway.ports.conversations import StoredTurn
from gateway.ports.long_documents import DocumentPlace, DocumentSource, LongDocument, Passage
from gateway.stores.conversations import Conversations
from memory.knowledge.long_documents.index import SqlLongDocuments
from tests.support.clock import FakeClock
from tests.support.databases import Engine

AT = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
DIRECT = ConversationKey("default", "slack", "main", "T1", "D1")
ROOM = ConversationKey("default", "slack", "main", "T1", "C1")
ANNA = "slack:main:U1"


def document(*texts: str, total: int = 0) -> ReadDocument:
    """A document with these pages."""
    pages = tuple(
        DocumentPage(number, f"page {number}", text) for number, text in enumerate(texts, 1)
    )
    return ReadDocument("pdf", pages, total or len(pages))


@dataclass
class Library:
    """Conversations with documents."""

    database: Engine
    clock: FakeClock = field(default_factory=FakeClock)
    index: SqlLongDocuments = field(init=False)
    conversations: Conversations = field(init=False)

    def __post_init__(self) -> None:
        self.index = SqlLongDocuments(self.database, self.clock)
        self.conversations = Conversations(self.database)

    async def say(self, message_id: str, key: ConversationKey = DIRECT, person: str = ANNA) -> None:
        """Store a message and its answer."""
        turns = [
            StoredTurn(message_id, "user", "see the file", AT, person, "Anna"),
            StoredTurn(message_id, "assistant", "I see it", AT),
        ]
        await self.conversations.append(key, turns)

    async def keep(
        self,
        message_id: str,
        shown: ReadDocument,
        key: ConversationKey = DIRECT,
        *,
        ref: str = "f1",
        name: str = "contract.pdf",
        origin_id: str = "",
        person: str = ANNA,
        stored: bool = True,
    ) -> LongDocument | None:
        """Store a document of a message, and the message."""
        source = DocumentSource(message_id, ref, person, name, AT, origin_id)
        kept = await self.index.keep(place_of(key, (message_id,)), source, shown)
        if stored:
            await self.say(message_id, key, person)
        return kept

    async def find(
        self, query: str, key: ConversationKey = DIRECT, current: Sequence[str] = (), name: str = ""
    ) -> list[Passage]:
        """Search the documents of a conversation."""
        return await self.index.search(place_of(key, current), query, name)


def place_of(key: ConversationKey, current: Sequence[str] = ()) -> DocumentPlace:
    """The documents of a conversation while these messages are answered."""
    return DocumentPlace(key.tenant, str(key), key.channel_name, tuple(current))


@pytest.fixture
def library(engine: Engine) -> Library:
    return Library(engine)
