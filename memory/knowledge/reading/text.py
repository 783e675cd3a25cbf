"""Turns the bytes of a file into text, or into the reason for which it is not indexed."""

import codecs
from typing import Final

from msgspec import Struct

from memory.knowledge.model import SkipReason
from safety.secret_detection.detect import REDACTED, Level, find_secrets

LFS: Final = b"version https://git-lfs.github.com/spec/"
MAX_LFS_POINTER: Final = 1_024
"""Bytes of a pointer file of Git LFS."""
LONG_LINE: Final = 5_000
"""Characters; a file that is mostly longer lines is minified or generated."""
MOST_LONG: Final = 0.5
"""The share of a file in long lines from which it is skipped."""
BINARY_SAMPLE: Final = 0.1
"""The share of control characters from which a text in no known encoding is binary."""
MOST_SECRET: Final = 0.5
"""The share of a file in secrets from which it is skipped instead of redacted."""
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROL: Final = bytes(set(range(32)) - {9, 10, 12, 13, 27}) + b"\x7f"


class FileText(Struct, frozen=True):
    """The text of a file without secrets, with lines that end with a line feed."""

    text: str
    redacted: int = 0
    """Secrets that were replaced."""
    guessed: bool = False
    """The encoding is not UTF-8 and not declared; Latin-1 is taken."""


def text_of(content: bytes, *, skip_binary: bool = True) -> FileText | SkipReason:
    """Return the text of a file's bytes, or the reason for which it is skipped."""
    if not content.strip():
        return SkipReason.EMPTY
    if len(content) <= MAX_LFS_POINTER and content.startswith(LFS):
        return SkipReason.LFS_POINTER
    decoded, guessed = _decoded(content, skip_binary)
    if isinstance(decoded, SkipReason):
        return decoded
    text = decoded.replace("\r\n", "\n").replace("\r", "\n")
    long = sum(len(line) for line in text.split("\n") if len(line) > LONG_LINE)
    if long > MOST_LONG * len(text):
        return SkipReason.MINIFIED
    return _without_secrets(text, guessed)


def _decoded(content: bytes, skip_binary: bool) -> tuple[str | SkipReason, bool]:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            text = content[len(mark) :].decode(encoding, "replace")
            return (text if "\0" not in text else SkipReason.BINARY), False
    if b"\0" in content:
        if skip_binary:
            return SkipReason.BINARY, False
        return content.decode("utf-8", "replace").replace("\0", ""), True
    try:
        return content.decode(), False
    except UnicodeDecodeError:
        controls = len(content) - len(content.translate(None, _CONTROL))
        if skip_binary and controls > BINARY_SAMPLE * len(content):
            return SkipReason.BINARY, False
        return content.decode("latin-1"), True


def _without_secrets(text: str, guessed: bool) -> FileText | SkipReason:
    """Replace definite and probable secrets; the number of lines stays."""
    found = [one for one in find_secrets(text) if one.kind.level is not Level.POSSIBLE]
    if not found:
        return FileText(text, 0, guessed)
    if sum(one.end - one.start for one in found) > MOST_SECRET * len(text.strip()):
        return SkipReason.SECRET
    parts, done = [], 0
    for one in found:
        lines = text.count("\n", one.start, one.end)
        parts += [text[done : one.start], REDACTED, "\n" * lines]
        done = one.end
    redacted = "".join((*parts, text[done:]))
    if any(one.kind.level is Level.DEFINITE for one in find_secrets(redacted)):
        return SkipReason.SECRET
    return FileText(redacted, len(found), guessed)
