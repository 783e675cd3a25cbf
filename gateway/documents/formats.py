"""The format of a file, from its bytes. The name decides only between formats of plain text."""

import re
from pathlib import PurePosixPath
from typing import Final, Literal, TypeAlias

from gateway.documents.model import CannotRead

Family: TypeAlias = Literal["pdf", "zip", "html", "csv", "tsv", "text"]

ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""The container of the Office formats before 2007, and of encrypted ones of today."""
_ENCRYPTED: Final = "EncryptedPackage".encode("utf-16-le")
_HEAD: Final = 1_024
"""Bytes within which a PDF has to begin (ISO 32000, Annex H), and markup its first tag."""
_HTML: Final = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}>\s*)?<(?:!doctype\s+html|html)\b", re.IGNORECASE
)
_BY_ENDING: Final[dict[str, Family]] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
}
_BY_MIME: Final[dict[str, Family]] = {
    "text/csv": "csv",
    "application/csv": "csv",
    "text/tab-separated-values": "tsv",
    "text/html": "html",
    "application/xhtml+xml": "html",
}
_ENDINGS: Final = frozenset(
    {
        *(".pdf", ".docx", ".docm", ".dotx", ".dotm", ".xlsx", ".xlsm", ".xltx", ".xltm"),
        *(".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm", ".epub"),
        *(".doc", ".xls", ".ppt"),  # for the sentence that says why they are not read
    }
)
_MIMES: Final = (
    "application/pdf",
    "application/x-pdf",
    "application/epub+zip",
    "application/msword",
    "application/vnd.ms-",
    "application/vnd.openxmlformats-officedocument.",
)


def looks_like_document(name: str, mime: str) -> bool:
    """Return True if the name or the media type promises a document with a format of its own."""
    mime = bare(mime)
    return PurePosixPath(name.lower()).suffix in _ENDINGS or mime.startswith(_MIMES)


def family_of(data: bytes, name: str, mime: str) -> Family:
    """Return the family of formats. Raises `CannotRead` for what is no document."""
    if not data:
        raise CannotRead("empty")
    if b"%PDF-" in data[:_HEAD]:
        return "pdf"
    if data.startswith(ZIP):
        return "zip"
    if data.startswith(_OLE):
        raise CannotRead("encrypted" if _ENCRYPTED in data else "unsupported")
    ending = PurePosixPath(name.lower()).suffix
    named = named_family(name, mime)
    if named is None and ending in _ENDINGS:
        # What is named like a document and begins like none was cut at the front, or overwritten.
        raise CannotRead("damaged")
    if named is None and _HTML.match(data[:_HEAD].removeprefix(b"\xef\xbb\xbf")):
        return "html"
    return named or "text"


def bare(mime: str) -> str:
    """Return a media type without its parameters, in lower case."""
    return mime.partition(";")[0].strip().lower()


def named_family(name: str, mime: str) -> Family | None:
    """Return the format of plain text that a name or a media type promises, None for none."""
    return _BY_ENDING.get(PurePosixPath(name.lower()).suffix) or _BY_MIME.get(bare(mime))
