"""The index of long documents: those parts of a conversation's documents that fit into no prompt.

A document belongs to the conversation in which it was shown and to the message that shows it. It
can be found as long as that message is stored, and nowhere else.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Protocol

from msgspec import Struct

from gateway.documents.model import ReadDocument

MAX_DOCUMENTS: Final = 20
"""Documents of one conversation; a further one takes the place of the oldest."""
MAX_DOCUMENTS_OF_PERSON: Final = 200
"""Documents that one person shows in all conversations of a tenant; likewise."""
MAX_CHARACTERS: Final = 5_000_000
"""Characters of one document; the rest is left out."""
MAX_CHARACTERS_OF_ALL: Final = 20_000_000
"""Characters of all documents of one conversation; the oldest of more are deleted."""
MAX_STORED: Final = 20_000
"""Passages of one document. One of 5 million characters has about 5,000; one of a million pages is
not searched to its end."""
MAX_QUERY: Final = 500
"""Characters of a question."""
MAX_PASSAGES: Final = 6
"""Passages that one search finds."""
NOTHING_SEEN: Final[Mapping[int, int]] = {}


class DocumentPlace(Struct, frozen=True):
    """The conversation whose documents are meant. `current` are the ids of the messages that are
    answered at this moment, which are not stored yet."""

    tenant: str
    conversation: str
    """A `str(ConversationKey)`."""
    channel: str
    """The channel within which ids of messages are unique, as `SpokenRef.channel`."""
    current: tuple[str, ...] = ()


class DocumentSource(Struct, frozen=True):
    """A document as a message shows it. `ref` tells the files of one message apart."""

    message_id: str
    ref: str
    person: str
    """The author of the message, a `str(PersonId)`."""
    name: str
    """The name of the file, without secrets."""
    at: datetime
    """The time of the message."""
    origin_id: str = ""
    """The id of the message that has the file, where another one replies to it; empty if that is
    the same."""


class LongDocument(Struct, frozen=True):
    """A document that can be searched. `number` is its number in the index."""

    number: int
    name: str
    total: int
    """Pages of the whole document."""
    searchable: int
    """The last page that can be searched; less than `total` while the index is made, and where a
    limit was reached."""
    characters: int
    """Characters that can be searched."""
    complete: bool
    """False while the index is made."""


class Passage(Struct, frozen=True):
    """A part of a page that a search found. It is text of others, never of the person who asks."""

    document: LongDocument
    page: int
    """The number of its page, from 1."""
    label: str
    """The name of the page, as `DocumentPage.label`."""
    heading: str
    """The headings above it, joined by " > "."""
    text: str
    share: float
    """The share of the question's words that it has, weighted by their rarity: 0 to 1."""

    @property
    def citation(self) -> str:
        """The page as an answer cites it: "page 31 of 80", "sheet Budget"; empty in a document
        without parts."""
        numbered = self.label.endswith(f" {self.page}")
        return f"{self.label} of {self.document.total}" if numbered else self.label


class LongDocumentIndex(Protocol):
    """Stores and searches long documents. Everything raises `StoreUnavailable`."""

    async def keep(
        self, place: DocumentPlace, source: DocumentSource, document: ReadDocument
    ) -> LongDocument | None:
        """Store a document. It is stored once for a message and a `ref`; where an earlier process
        ended in the middle, this goes on. None if it was deleted meanwhile."""
        ...

    async def listed(self, place: DocumentPlace) -> list[LongDocument]:
        """Return the documents of a conversation, the latest first."""
        ...

    async def search(
        self,
        place: DocumentPlace,
        query: str,
        name: str = "",
        seen: Mapping[int, int] = NOTHING_SEEN,
    ) -> list[Passage]:
        """Return the passages that fit a question best, best first, at most `MAX_PASSAGES`, of all
        documents or of those whose name contains `name`. `seen` are numbers of documents with the
        last page that is left out, and all before it."""
        ...

    async def knows(self, channel: str, message_ids: Sequence[str]) -> bool:
        """Return True if one of these messages of a channel shows or has a document."""
        ...

    async def deleted(self, channel: str, message_ids: Sequence[str]) -> None:
        """Delete the documents that these messages show or have, with their text."""
        ...

    async def edited(self, channel: str, message_id: str, names: Sequence[str]) -> None:
        """Delete the documents of a message that an edit took from it: it has files of these names
        now, an empty one for a file without a name."""
        ...

    async def clean(self) -> int:
        """Delete some documents that no stored message shows, and what is left of deleted ones;
        return how many rows, 0 at the end."""
        ...


class NoLongDocuments:
    """Implements `LongDocumentIndex` without a store."""

    async def keep(
        self, place: DocumentPlace, source: DocumentSource, document: ReadDocument
    ) -> LongDocument | None:
        return None

    async def listed(self, place: DocumentPlace) -> list[LongDocument]:
        return []

    async def search(
        self,
        place: DocumentPlace,
        query: str,
        name: str = "",
        seen: Mapping[int, int] = NOTHING_SEEN,
    ) -> list[Passage]:
        return []

    async def knows(self, channel: str, message_ids: Sequence[str]) -> bool:
        return False

    async def deleted(self, channel: str, message_ids: Sequence[str]) -> None:
        return None

    async def edited(self, channel: str, message_id: str, names: Sequence[str]) -> None:
        return None

    async def clean(self) -> int:
        return 0
