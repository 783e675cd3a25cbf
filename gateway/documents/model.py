"""A document that was read: its pages with their text. Imported by the reading process too, so it
needs nothing of the program."""

from typing import Final, Literal, TypeAlias

from msgspec import Struct

DocumentFormat: TypeAlias = Literal[
    "pdf", "docx", "xlsx", "pptx", "epub", "html", "csv", "tsv", "text"
]
LeftOut: TypeAlias = Literal["macros", "files", "references", "comments"]
"""Parts that are passed over: programs in a document, files in it, and addresses that it wants to
be fetched. `comments` are remarks beside the text."""

UnreadableReason: TypeAlias = Literal[
    "encrypted",
    "damaged",
    "empty",
    "too_large",
    "expands_too_much",
    "too_slow",
    "too_much_memory",
    "unsafe",
    "unsupported",
    "library_missing",
    "broke_down",
    "busy",
]

MB: Final = 1024 * 1024


class DocumentLimits(Struct, frozen=True):
    """The limits of one document and of the process that reads it."""

    bytes: int = 32 * MB
    """Of the file."""
    pages: int = 1_000
    """Pages, slides, sheets or chapters that are read; the document may have more."""
    characters: int = 2_000_000
    """Of the text of all pages."""
    picture_pages: int = 20
    """Pages without text that are kept as a PDF for models that see pages."""
    picture_bytes: int = 4 * MB
    """Of that PDF: one request may have 32 MB, which pictures share."""
    unpacked_bytes: int = 256 * MB
    """Of everything in an archive, counted while it is unpacked."""
    entries: int = 10_000
    """Files in an archive."""
    seconds: float = 20.0
    """Of processor time."""
    wall_seconds: float = 40.0
    memory: int = 1024 * MB
    """Address space."""


class DocumentPage(Struct, frozen=True):
    """A part of a document that can be cited."""

    number: int
    """From 1, in the order of the document."""
    label: str
    """Its name in a citation: "page 4", "sheet Budget", "slide 3"; empty in a document without
    parts."""
    text: str
    """Markdown: headings as `#`, tables as tables."""
    picture: bool = False
    """True if it shows something and has no text: a scanned page."""


class ReadDocument(Struct, frozen=True):
    """A document and its text as far as the limits allow."""

    format: DocumentFormat
    pages: tuple[DocumentPage, ...]
    """The pages that were read, in order."""
    total: int
    """Pages of the whole document."""
    title: str = ""
    """The title that the document gives itself."""
    cut: bool = False
    """True if pages, or parts of them, were left out because of a limit."""
    left_out: tuple[LeftOut, ...] = ()
    """Parts of the document that were passed over."""
    picture_pdf: bytes = b""
    """The pages that are pictures as a PDF of their own; empty if there are none, or none fit."""
    pictured: tuple[int, ...] = ()
    """The numbers of the pages in `picture_pdf`, in order."""

    @property
    def characters(self) -> int:
        """The length of the text of all pages."""
        return sum(len(page.text) for page in self.pages)


class CannotRead(Exception):
    """The document cannot be read. Raised by the readers of formats."""

    def __init__(self, reason: UnreadableReason) -> None:
        super().__init__(reason)
        self.reason: UnreadableReason = reason


class Refused(Struct, frozen=True, tag="refused"):
    """The answer of the reading process about a document that it cannot read."""

    reason: UnreadableReason


class Read(Struct, frozen=True, tag="read"):
    """The answer of the reading process with the document."""

    document: ReadDocument


class ReadRequest(Struct, frozen=True):
    """The first line for the reading process; the bytes of the document follow."""

    family: Literal["pdf", "zip", "html", "csv", "tsv"]
    """The kind as the bytes and the name show it. The reading process finds out what a zip is."""
    limits: DocumentLimits
