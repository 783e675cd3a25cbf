"""Reads a text as a person does, with the source position of each character: decoded, or without
hidden characters.

Decoded are entities of HTML, percent escapes, backslash escapes of JSON, JavaScript and CSS, octal
ones of brackets, and compatibility characters such as fullwidth letters, up to `LEVELS` times over
each other; escapes of the escape itself (`&amp;amp;lt;`, `%2525`) count once. Hidden characters are
ignored.

Hidden characters inside a token, and its letters in full width, would hide it from every pattern.
"""

import re
import unicodedata
from functools import cache
from html import unescape
from typing import Final
from urllib.parse import unquote

from msgspec import Struct

from safety.unicode import HIDDEN

LEVELS: Final = 3
"""The levels of nested escapes: `%2526lt%253B` takes two."""

_ESCAPE: Final = re.compile(
    r"&(?:amp;){0,20}(?:#[0-9]{1,9}|#[xX][0-9a-fA-F]{1,8}|[A-Za-z][A-Za-z0-9]{1,30});?"
    r"|%(?:25){0,20}(?:[2-6][0-9a-fA-F]|7[0-9a-eA-E]|0[09a-dA-D])|%u00[2-7][0-9a-fA-F]"
    r"|%[c-fC-F][0-9a-fA-F](?:%[89abAB][0-9a-fA-F]){1,3}"
    r"|\\(?:074|076|057|133|135|140|174|7[46](?![0-9a-fA-F]))"
    r"|\\(?:u00[2-7][0-9a-fA-F]|u\{0{0,4}[2-7][0-9a-fA-F]\}|x[2-7][0-9a-fA-F])"
    r"|\\0{0,4}[2-7][0-9a-fA-F][ ]?"
    # Letters with a compatibility form: fullwidth, mathematical, circled, superscript and others.
    r"|[\xaa\xba\u017f\u02b0-\u02b8\u02e0-\u02e4\u1d2c-\u1d6a\u2070-\u209c\u2100-\u214f\u2460-\u24ff"
    "\ufe13-\ufe19\ufe30-\ufe6f\uff01-\uff5e\U0001d400-\U0001d7ff\U0001f110-\U0001f189]"
    # A bar that is none, a bracket struck through, and what stands on top of one.
    "|[\u01c0\u2223\u226e\u226f\u23d0\u2502\u2503\u2758\uffe8]"
    r"|(?<=[<>|/\[\]])[\u0300-\u036f\u20d0-\u20ff]+"
    f"|[{HIDDEN}]+"
)
_OCTAL: Final = re.compile(r"\\0?(7[46]|133|135|140|174|57)\Z")
_ALIKE: Final = dict.fromkeys("\u01c0\u2223\u23d0\u2502\u2503\u2758\uffe8", "|") | {
    "\u226e": "<",
    "\u226f": ">",
}
_STACKED: Final = re.compile(r"&(?:amp;)+")
_MARKS: Final = re.compile(r"[\u0300-\u036f\u20d0-\u20ff]+")
_HIDDEN: Final = re.compile(f"[{HIDDEN}]")
_PLAIN: Final = re.compile(r"[\t\n\r -$'-\[\]-~]*\Z")
"""Characters that are not part of an escape: all visible ASCII except `%`, `&` and `\\`."""


class Decoded(Struct, frozen=True):
    """A decoded text.

    `view` is its content; character `i` of it begins at `starts[i]` of the source. `starts` has one
    entry more than `view`, the length of the source.
    """

    view: str
    starts: tuple[int, ...] | range

    def span(self, begin: int, end: int) -> tuple[int, int]:
        """Return the part of the source that corresponds to `view[begin:end]`."""
        return self.starts[begin], self.starts[end]


def decoded(text: str) -> Decoded:
    """Return the text, decoded until nothing changes, at most `LEVELS` times."""
    result = Decoded(text, range(len(text) + 1))
    if _PLAIN.match(text):
        return result
    for _ in range(LEVELS):
        inner = _once(result.view)
        if inner.view == result.view:
            break
        result = Decoded(inner.view, tuple(result.starts[i] for i in inner.starts))
    return result


def _once(text: str) -> Decoded:
    pieces: list[str] = []
    starts: list[int] = []
    end = 0
    for match in _ESCAPE.finditer(text):
        char, length = _meaning(match[0])
        if char is None:
            continue
        pieces.append(text[end : match.start()])
        starts.extend(range(end, match.start()))
        pieces.append(char)
        starts.extend([match.start()] * len(char))
        end = match.start() + length
    pieces.append(text[end:])
    starts.extend(range(end, len(text) + 1))
    return Decoded("".join(pieces), tuple(starts))


@cache
def _folded(char: str) -> str | None:
    plain = unicodedata.normalize("NFKC", char)
    return plain if len(plain) == 1 and plain.isascii() else None


def _meaning(escape: str) -> tuple[str | None, int]:
    """Return the character, empty for a hidden one, None if it is not an escape; and the length of
    the escape."""
    if escape[0] == "&":
        return _entity(escape)
    return _one_sign(escape), len(escape)


def _one_sign(escape: str) -> str | None:
    if escape[0] == "%":
        return _percent(escape)
    if octal := _OCTAL.match(escape):
        return chr(int(octal[1], 8))
    if escape[0] == "\\":
        return chr(int(escape.strip("\\ux{} "), 16))
    if _HIDDEN.match(escape) or _MARKS.match(escape):
        return ""
    return _ALIKE.get(escape) or _folded(escape)


def _percent(escape: str) -> str | None:
    if escape.count("%") > 1:
        plain = unquote(escape, errors="replace")
        return plain if len(plain) == 1 and plain != "\ufffd" else None
    plain = chr(int(escape[-2:], 16))
    return "" if plain == "\0" else plain


def _entity(escape: str) -> tuple[str | None, int]:
    """As browsers read it: `&ltb` is `<b`, because the first entities need no semicolon."""
    stacked = _STACKED.match(escape)
    bare = escape if stacked is None else "&" + escape[stacked.end() :]
    plain = unescape(bare)
    rest = plain[1:]
    if plain == bare or not bare.endswith(rest):
        return (None, len(escape)) if stacked is None else ("&", stacked.end())
    char = plain[:1]
    hidden = not char or _HIDDEN.match(char)
    return "" if hidden else char, len(escape) - len(rest)


_ASCII_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_WIDE: Final = "\uff01-\uff5e"
_UNSEEN: Final = re.compile(f"[{HIDDEN}\u180b-\u180f\u200c\u200d\ufe00-\ufe0f]")
_CHANGED: Final = re.compile(f"[{HIDDEN}\u180b-\u180f\u200c\u200d\ufe00-\ufe0f{_WIDE}]")
_MAY_CHANGE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uff01-\uff5e\uffa0]"
)
"""The characters of `_CHANGED` that Unicode counts as printable."""
_FULL_WIDTH: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F) if code != 0xFF1A}
"""Full-width forms of ASCII (Unicode's block U+FF00); the colon is one of them."""


class Visible(Struct, frozen=True):
    """A text as it is read. `places` has, for each of its characters and for its end, the position
    in the given text; None if both are the same."""

    text: str
    places: tuple[int, ...] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the given text that is read from `start` to `end`."""
        if self.places is None or start >= end:
            return start, end
        return self.places[start], self.places[end - 1] + 1


def visible(text: str) -> Visible:
    """Return the text without hidden characters, with full-width ASCII as ASCII."""
    if is_visible(text):
        return Visible(text)
    hidden = _ASCII_CONTROLS if text.isascii() else _UNSEEN
    places = [place for place, char in enumerate(text) if hidden.match(char) is None]
    read = "".join(text[place] for place in places).translate(_FULL_WIDTH)
    return Visible(read, (*places, len(text)))


def is_visible(text: str) -> bool:
    """Return True if the text has neither hidden characters nor full-width forms of ASCII."""
    ascii_only = text.isascii()
    # Python's own test of a whole string costs a tenth of a search for so large a set.
    if text.replace("\n", " ").isprintable() and (ascii_only or not _MAY_CHANGE.search(text)):
        return True
    return (_ASCII_CONTROLS if ascii_only else _CHANGED).search(text) is None
