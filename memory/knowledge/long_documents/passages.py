"""Splitting a document into passages, each within one page, with the headings above it."""

import hashlib
from collections.abc import Iterator
from itertools import islice
from typing import Final

from msgspec import Struct

from gateway.documents.model import DocumentPage, ReadDocument
from gateway.ports.long_documents import MAX_CHARACTERS, MAX_STORED
from memory.knowledge.long_documents.words import DocumentWords
from memory.knowledge.splitting.documents import (
    DocumentHeading,
    headings_in,
    split_document,
    under,
)
from memory.knowledge.splitting.pieces import lines_of
from memory.knowledge.words import FiledWords
from safety.secret_detection.detect import redact_secrets
from safety.unicode import safe_unicode

MAX_HEADING: Final = 200
MAX_LABEL: Final = 80


class SplitPassage(Struct, frozen=True):
    """A passage before it is stored. It has no secrets and no hidden characters."""

    page: int
    label: str
    heading: str
    text: str


class SplitDocument(Struct, frozen=True):
    """The passages of a document with their words, in order. `digest` is that of the text."""

    passages: tuple[SplitPassage, ...]
    words: tuple[FiledWords, ...]
    language: str
    digest: str

    @property
    def characters(self) -> int:
        """The length of all passages."""
        return sum(len(one.text) for one in self.passages)


def split_pages(document: ReadDocument) -> SplitDocument:
    """Split a document. Takes a second for each million characters: not on the event loop."""
    passages = tuple(islice(_passages(document), MAX_STORED))
    texts = [f"{one.heading}\n{one.text}" for one in passages]
    words = DocumentWords(texts)
    digest = hashlib.sha256("\x1f".join(texts).encode("utf-8", "replace")).hexdigest()
    return SplitDocument(passages, tuple(map(words.filed, texts)), words.language, digest)


def _passages(document: ReadDocument) -> Iterator[SplitPassage]:
    left = MAX_CHARACTERS
    above: list[DocumentHeading] = []
    for page in document.pages:
        if left <= 0:
            return
        text = _clean(page, left)
        left -= len(text)
        lines = lines_of(text)
        headings = headings_in("markdown", lines)
        for chunk in split_document(lines, headings, above):
            if chunk.text.strip():
                heading = chunk.heading[-MAX_HEADING:]
                yield SplitPassage(page.number, page.label[:MAX_LABEL], heading, chunk.text.strip())
        for one in headings:
            above = under(above, one)


def _clean(page: DocumentPage, left: int) -> str:
    return redact_secrets(safe_unicode(page.text[:left])).text
