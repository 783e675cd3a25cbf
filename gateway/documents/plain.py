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


_BEYOND: Final = bytes(range(0x80, 0x100))
_CYRILLIC: Final = bytes(range(0xC0, 0x100))
"""The letters of Windows-1251, except for two."""
_RUNS: Final = re.compile(rb"[\x80-\xff]{2,}")
_LEAST_BEYOND: Final = 8
_TOGETHER: Final = 0.7
"""The share of bytes beyond ASCII that have a neighbour of their kind; those of Japanese are mixed
with others."""
_MOST: Final = 0.95
_IDEOGRAPHS: Final = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff61-\uff9f]+")
_EAST_ASIAN: Final = (
    ("cp932", re.compile(r"[\u3040-\u30ff]+"), 0.25),
    ("cp949", re.compile(r"[\uac00-\ud7a3]+"), 0.9),
    ("gb18030", re.compile(r"[\u4e00-\u9fff]+"), 0.9),
)
"""Encodings, and the share that the letters of the language have of all their characters."""


def decoded(data: bytes) -> str:
    """Return the text. Raises `CannotRead` for bytes that are no text in a known encoding: UTF-8,
    UTF-16, UTF-32 with a mark, Windows-1252, and those that programs for tables use for Russian,
    Japanese, Korean and Chinese."""
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
        return ("utf-8", *_of_a_script(data[: 16 * _SAMPLE]), "cp1252")
    half = max(1, len(sample) // 2)
    if sample[1::2].count(0) / half > _MOSTLY:
        return ("utf-16-le",)
    if sample[::2].count(0) / half > _MOSTLY:
        return ("utf-16-be",)
    return ()


def _of_a_script(sample: bytes) -> tuple[str, ...]:
    """Return the encoding of a text in Russian, Japanese, Korean or Chinese, as programs for tables
    save it; none for the scripts of Windows-1252, whose letters beyond ASCII mostly stand alone."""
    beyond = len(sample) - len(sample.translate(None, _BEYOND))
    together = sum(map(len, _RUNS.findall(sample)))
    if beyond < _LEAST_BEYOND or together < _TOGETHER * beyond:
        return ()
    if len(sample) - len(sample.translate(None, _CYRILLIC)) > _MOST * beyond:
        return ("cp1251",)
    for encoding, letters, share in _EAST_ASIAN:
        text = sample.decode(encoding, "ignore")
        words = sum(map(len, _IDEOGRAPHS.findall(text)))
        if words and sum(map(len, letters.findall(text))) >= share * words:
            return (encoding,)
    return ()


def read_plain(data: bytes, limits: DocumentLimits) -> ReadDocument:
    """Return a text as a document of one page. Raises `CannotRead`."""
    text = decoded(data)
    kept = text[: limits.characters]
    return ReadDocument("text", (DocumentPage(1, "", kept),), 1, cut=len(kept) < len(text))
