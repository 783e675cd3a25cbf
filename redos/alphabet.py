"""Character sets of a pattern as bit masks over the classes of characters that it tells apart.

The sets are asked by running them, one character wide, over samples from all of Unicode, so `\\w`,
`\\d`, `\\s` and case-insensitive letters mean exactly what `re` makes of them.
"""

import functools
import importlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

parser: Final[Any] = importlib.import_module("re._parser")
_compiler: Final[Any] = importlib.import_module("re._compiler")

_LAST: Final = 0x3FFFF
_MORE: Final = (0xE0001, 0xE0020, 0xE0100, 0xE01EF, 0xF0000, 0x10FFFF)
_BLOCK: Final = 128
_OF_CHARACTERS: Final = re.IGNORECASE | re.DOTALL | re.ASCII | re.UNICODE
WORD: Final = "\\w"


@functools.cache
def _samples() -> str:
    """All of Latin, and of each block of 128 code points one character of each general category."""
    kept: dict[tuple[int, str], str] = {}
    for code in (*range(0x250, _LAST), *_MORE):
        kept.setdefault((code // _BLOCK, unicodedata.category(chr(code))), chr(code))
    return "".join((*map(chr, range(0x250)), *kept.values()))


@dataclass(frozen=True)
class Leaf:
    """One character of a pattern: an item of the parse tree and the flags in force there."""

    item: tuple[Any, Any]
    flags: int

    @property
    def key(self) -> tuple[str, int]:
        """Equal for leaves that match the same characters."""
        return repr(self.item), self.flags & _OF_CHARACTERS


def _matcher(leaf: Leaf) -> re.Pattern[str]:
    state = parser.State()
    state.flags = leaf.flags & _OF_CHARACTERS
    if not state.flags & (re.ASCII | re.UNICODE):
        state.flags |= re.UNICODE
    compiled: re.Pattern[str] = _compiler.compile(parser.SubPattern(state, [leaf.item]))
    return compiled


def _edges(item: tuple[Any, Any]) -> Iterable[int]:
    """Code points at which membership may change."""
    name = str(item[0])
    if name in ("LITERAL", "NOT_LITERAL"):
        yield from (item[1] - 1, item[1], item[1] + 1)
    elif name == "RANGE":
        yield from (item[1][0] - 1, item[1][0], sum(item[1]) // 2, item[1][1], item[1][1] + 1)
    elif name == "IN":
        for part in item[1]:
            yield from _edges(part)


def _variants(code: int) -> Iterable[str]:
    if 0 <= code <= 0x10FFFF:
        char = chr(code)
        yield from (form for form in (char, char.lower(), char.upper()) if len(form) == 1)


class Alphabet:
    """The classes of characters that a pattern's leaves tell apart, as bits.

    One more bit stands for the beginning of the text (as a previous character) and its end (as a
    next one).
    """

    def __init__(self, leaves: Sequence[Leaf]) -> None:
        different = {leaf.key: leaf for leaf in leaves}
        changes = {code for leaf in different.values() for code in _edges(leaf.item)}
        text = "".join(dict.fromkeys((*_samples(), *(v for c in changes for v in _variants(c)))))
        members = [frozenset(_matcher(leaf).findall(text)) for leaf in different.values()]
        words = frozenset(re.findall(r"\w", text))
        classes: dict[tuple[bool, ...], list[str]] = {}
        for char in text:
            signature = (char in words, *(char in chars for chars in members))
            classes.setdefault(signature, []).append(char)
        self.letters = tuple(min(chars, key=_plainness) for chars in classes.values())
        self.edge = 1 << len(classes)
        """Bit of the beginning or the end of the text."""
        self.any = self.edge - 1
        self.word = sum(1 << bit for bit, sign in enumerate(classes) if sign[0])
        self._line = sum(1 << bit for bit, chars in enumerate(classes.values()) if "\n" in chars)
        self._masks = {
            key: sum(1 << bit for bit, sign in enumerate(classes) if sign[index + 1])
            for index, key in enumerate(different)
        }

    def mask(self, leaf: Leaf) -> int:
        """The classes that a leaf matches."""
        return self._masks[leaf.key]

    @property
    def line(self) -> int:
        """The class of the line feed."""
        return self._line

    def letter(self, mask: int) -> str:
        """A character of one of these classes, the plainest."""
        chars = [char for bit, char in enumerate(self.letters) if mask >> bit & 1]
        return min(chars, key=_plainness)


def _plainness(char: str) -> tuple[bool, bool, bool, int]:
    return not char.isascii(), not char.isprintable(), not char.isalnum(), ord(char)
