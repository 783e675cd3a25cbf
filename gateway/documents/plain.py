"""Plain text and source code: the encodings in which people have them."""

import codecs
import re
from typing import Final

from gateway.documents.model import CannotRead, DocumentLimits, DocumentPage, ReadDocument

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins like the mark of UTF-16
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BINARY: Final = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f]")
"""Control characters that texts do not have; files of other kinds do."""
_SAMPLE: Final = 4_096
_MOSTLY: Final = 0.4
"""The least share of zero bytes in every other place that shows UTF-16 without a mark: text of
Latin letters."""


def decoded(data: bytes) -> str:
    """Return the text. Raises `CannotRead` for bytes that are no text in a known encoding: UTF-8,
    UTF-16, UTF-32 with a mark, and Windows-1252."""
    for encoding in _encodings(data):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if not _BINARY.search(text):
            return text
    raise CannotRead("unsupported")


def _encodings(data: bytes) -> tuple[str, ...]:
    """Return the encodings to try, the likeliest first."""
    marked = next((name for mark, name in _BOMS if data.startswith(mark)), "")
    if marked:
        return (marked,)
    sample = data[:_SAMPLE]
    if b"\x00" not in sample:
        return ("utf-8", "cp1252")
    half = max(1, len(sample) // 2)
    if sample[1::2].count(0) / half > _MOSTLY:
        return ("utf-16-le",)
    if sample[::2].count(0) / half > _MOSTLY:
        return ("utf-16-be",)
    return ()


def read_plain(data: bytes, limits: DocumentLimits) -> ReadDocument:
    """Return a text as a document of one page. Raises `CannotRead`."""
    text = decoded(data)
    kept = text[: limits.characters]
    return ReadDocument("text", (DocumentPage(1, "", kept),), 1, cut=len(kept) < len(text))
