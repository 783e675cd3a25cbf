"""Text as somebody may read it who decodes it first, and where each character of that came from.

Entities of HTML, percent escapes, backslash escapes of JSON, JavaScript and CSS, and compatibility
characters such as fullwidth letters are looked through, up to `LEVELS` times over each other.
Hidden characters count as nothing.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from html import unescape
from typing import Final

from safety.unicode import HIDDEN

LEVELS: Final = 3
"""How often one escape may hide in another: `%2526lt%253B` takes three."""

_ESCAPE: Final = re.compile(
    r"&(?:#[0-9]{1,9}|#[xX][0-9a-fA-F]{1,8}|[A-Za-z][A-Za-z0-9]{1,30});?"
    r"|%(?:[2-6][0-9a-fA-F]|7[0-9a-eA-E]|0[09a-dA-D])|%u00[2-7][0-9a-fA-F]"
    r"|\\(?:u00[2-7][0-9a-fA-F]|u\{0{0,4}[2-7][0-9a-fA-F]\}|x[2-7][0-9a-fA-F])"
    r"|\\0{0,4}[2-7][0-9a-fA-F][ ]?"
    # Letters with a compatibility form: fullwidth, mathematical, circled, superscript and others.
    r"|[\xaa\xba\u017f\u02b0-\u02b8\u02e0-\u02e4\u1d2c-\u1d6a\u2070-\u209c\u2100-\u214f\u2460-\u24ff"
    "\ufe13-\ufe19\ufe30-\ufe6f\uff01-\uff5e\U0001d400-\U0001d7ff\U0001f110-\U0001f189]"
    f"|[{HIDDEN}]+"
)
_HIDDEN: Final = re.compile(f"[{HIDDEN}]")
_PLAIN: Final = re.compile(r"[\t\n\r -$'-\[\]-~]*\Z")
"""Characters of which no escape is made: all of ASCII that is seen, but `%`, `&` and `\\`."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """`view` is what may be read; character `i` of it begins at `starts[i]` of the source.

    `starts` has one entry more than `view`, the length of the source.
    """

    view: str
    starts: tuple[int, ...] | range

    def span(self, begin: int, end: int) -> tuple[int, int]:
        """The part of the source that `view[begin:end]` comes from."""
        return self.starts[begin], self.starts[end]


def decoded(text: str) -> Decoded:
    """The text decoded as often as there is something to decode, at most `LEVELS` times."""
    found = Decoded(text, range(len(text) + 1))
    if _PLAIN.match(text):
        return found
    for _ in range(LEVELS):
        inner = _once(found.view)
        if inner.view == found.view:
            break
        found = Decoded(inner.view, tuple(found.starts[i] for i in inner.starts))
    return found


def _once(text: str) -> Decoded:
    pieces: list[str] = []
    starts: list[int] = []
    end = 0
    for match in _ESCAPE.finditer(text):
        char = _meaning(match[0])
        if char is None:
            continue
        pieces.append(text[end : match.start()])
        starts.extend(range(end, match.start()))
        pieces.append(char)
        starts.extend([match.start()] * len(char))
        end = match.end()
    pieces.append(text[end:])
    starts.extend(range(end, len(text) + 1))
    return Decoded("".join(pieces), tuple(starts))


@cache
def _folded(char: str) -> str | None:
    plain = unicodedata.normalize("NFKC", char)
    return plain if len(plain) == 1 and plain.isascii() else None


def _meaning(escape: str) -> str | None:
    """One character, nothing for hidden ones, None where it is no escape."""
    if escape[0] == "&":
        return _entity(escape)
    if escape[0] == "%":
        plain = chr(int(escape.lstrip("%u"), 16))
        return "" if plain == "\0" else plain
    if escape[0] == "\\":
        return chr(int(escape.strip("\\ux{} "), 16))
    if _HIDDEN.match(escape):
        return ""
    return _folded(escape)


def _entity(escape: str) -> str | None:
    plain = unescape(escape)
    if plain == escape or len(plain) > 1:
        return None
    return "" if plain == "" or _HIDDEN.match(plain) else plain
