"""Decodes a text as a reader might, with the source position of each character.

Decoded are entities of HTML, percent escapes, backslash escapes of JSON, JavaScript and CSS, octal
ones of brackets, and compatibility characters such as fullwidth letters, up to `LEVELS` times over
each other; escapes of the escape itself (`&amp;amp;lt;`, `%2525`) count once. Hidden characters are
ignored.
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
