"""The documents of people: fetched and read, and written into the prompt as far as they fit."""

from typing import Final

from msgspec import Struct

from gateway.documents.formats import bare, looks_like_document, named_family
from gateway.documents.model import DocumentPage, LeftOut, ReadDocument
from gateway.documents.problems import UnreadableDocument
from gateway.documents.reader import DocumentReader
from gateway.immutable import replace
from gateway.message import Attachment, image_mime
from gateway.policy.history_redaction import redact_for_history
from gateway.ports import CanFetchFiles, DocumentBlock
from safety.unicode import safe_unicode

_UNITS: Final = frozenset({"page", "slide", "sheet", "chapter", "section"})
"""The first words of labels that count the parts of a document."""
_ROWS: Final = ", rows "
_LEFT_OUT: Final[dict[LeftOut, str]] = {
    "macros": "macros",
    "files": "other files within it",
    "references": "references to addresses",
    "comments": "comments beside the text",
}
_UNKNOWN_MIMES: Final = frozenset({"", "application/octet-stream", "binary/octet-stream"})
LEAST_OF_PAGE: Final = 200
"""Characters of a page that are worth showing as its beginning."""


class FetchedDocument(Struct, frozen=True):
    """The result of reading a document: the document, or the reason why there is none. `data` are
    the bytes where they are of use beside the text."""

    document: ReadDocument | None = None
    problem: str = ""
    data: bytes | None = None


class ShownPart(Struct, frozen=True):
    """The part of a document that fits into the prompt."""

    heading: str
    """The line above it: the file, and the pages that are shown."""
    text: str
    characters: int
    """Of the pages, without their marks."""


def may_be_document(attachment: Attachment) -> bool:
    """Return True for a file that is worth reading as a document. A file without a known kind is
    one too, if its platform takes it for a document: its bytes decide."""
    name, mime = attachment.name, attachment.mime
    if looks_like_document(name, mime) or named_family(name, mime):
        return True
    unknown = bare(mime) in _UNKNOWN_MIMES and "." not in name
    return attachment.kind == "document" and unknown


async def read_attached(
    files: CanFetchFiles, attachment: Attachment, reader: DocumentReader, short: int
) -> FetchedDocument:
    """Fetch and read a document. A picture stays as it is, and HTML of at most `short` bytes,
    because its author may ask about the markup. Raises what fetching raises."""
    name, mime = attachment.name, attachment.mime
    plain = named_family(name, mime)
    data = b""
    try:
        async with reader.holding():
            data = await files.fetch(attachment, reader.limits.bytes)
            if image_mime(data) or (plain == "html" and len(data) <= short):
                return FetchedDocument(data=data)
            return FetchedDocument(await reader.read(data, name, mime))
    except UnreadableDocument as unreadable:
        pdf = unreadable.reason == "library_missing" and len(data) <= reader.limits.picture_bytes
        keeps = plain is not None or (pdf and b"%PDF-" in data[:1_024])
        return FetchedDocument(None, str(unreadable), data if keeps else None)


def without_secrets(document: ReadDocument) -> ReadDocument:
    """Return a document of people who did not address the assistant."""
    pages = tuple(replace(page, text=redact_for_history(page.text)) for page in document.pages)
    return replace(document, title=redact_for_history(document.title), pages=pages)


def part_of(document: ReadDocument, most: int) -> ShownPart:
    """Return the beginning of a document, of at most about `most` characters, its pages marked."""
    blocks: list[str] = []
    shown = 0
    last: DocumentPage | None = None
    partly = False
    pictures: list[DocumentPage] = []
    for page in document.pages:
        left = most - shown
        if left <= 0 or (len(page.text) > left < LEAST_OF_PAGE and last is not None):
            break
        last = page
        if page.picture and not page.text.strip():
            pictures.append(page)
            continue
        blocks += _pictures(pictures)
        pictures = []
        text = page.text[:left]
        shown += len(text)
        blocks.append(f"--- {page.label} ---\n{text}" if page.label else text)
        partly = len(text) < len(page.text)
        if partly:
            break
    blocks += _pictures(pictures)
    return ShownPart(
        _heading(document, last, shown, partly=partly), safe_unicode("\n\n".join(blocks)), shown
    )


def _pictures(pages: list[DocumentPage]) -> list[str]:
    if not pages:
        return []
    first, last = pages[0].label, pages[-1].label
    named = first if len(pages) == 1 else f"{first} to {last}"
    return [f"--- {named}: no text, only a picture ---"]


def _heading(document: ReadDocument, last: DocumentPage | None, shown: int, *, partly: bool) -> str:
    """Say which part of the document follows, and what it has besides."""
    unit, total = _unit_of(document), document.total
    facts = [document.format.upper()] if document.format != "text" else []
    if total > 1 or document.format == "pdf":
        facts.append(f"{total:,} {unit}{'s' if total > 1 else ''}")
    if document.title:
        facts.append(f'titled "{safe_unicode(document.title)}"')
    described = f" ({', '.join(facts)})" if facts else ""
    whole = shown >= document.characters and not document.cut
    if not whole and last is not None:
        if last.label:
            first = document.pages[0].label
            several = last.number > 1
            upto = f"{first} to {last.label} follow" if several else f"{first} follows"
            cut = (", the last one in part" if several else " in part") if partly else ""
            described = f"{described}, of which {upto}{cut}"
        else:
            described = f"{described} (its first {shown:,} of {document.characters:,} characters)"
    if document.left_out:
        besides = " and ".join(_LEFT_OUT[one] for one in document.left_out)
        described = f"{described}; its {besides} were not read"
    return described


def _unit_of(document: ReadDocument) -> str:
    """Return the word that counts the parts of a document: "page" where all of them are pages."""
    words = {page.label.partition(" ")[0] for page in document.pages}
    divided = any(_ROWS in page.label for page in document.pages)
    return next(iter(words)) if len(words) == 1 and words <= _UNITS and not divided else "part"


def pictures_of(document: ReadDocument, name: str) -> DocumentBlock | None:
    """Return the pages that are pictures, for models that see pages; None without any."""
    numbers = document.pictured
    if not document.picture_pdf or not numbers:
        return None
    shown = ", ".join(map(str, numbers[:30]))
    instead = f"Pages {shown} of the file {name} are pictures without text, which you do not see."
    return DocumentBlock(
        f"pages {shown} of {name}"[:200], document.picture_pdf, len(numbers), instead
    )
