"""Text patterns that also find a possible *beginning* of a match, which a filter on a stream needs.

A pattern is a sequence of character sets with bounded counts. So it has a longest match, its search
is linear in the text, and the same sequence gives two expressions: one for a whole match, one for a
beginning that more text may complete.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final, TypeAlias

Element: TypeAlias = tuple[str, int, int]
"""One character as a regular expression, with its minimum and maximum count."""

_PARTING: Final = (*filter(str.isspace, map(chr, range(0x3001))), "é", "й", "密")
"""Spaces of every kind, and samples of characters outside ASCII."""


def literal(text: str) -> tuple[Element, ...]:
    """Return the elements of a fixed text."""
    return tuple((re.escape(char), 1, 1) for char in text)


def some(characters: str, least: int, most: int) -> tuple[Element, ...]:
    """Return an element of `least` to `most` characters of a set."""
    return ((characters, least, most),)


@cache  # 876 patterns with few sets are asked at the start
def _parts_words(characters: str) -> bool:
    return any(re.match(characters, char) for char in _PARTING)


@dataclass(frozen=True)
class Pattern:
    """A sequence of elements; `anchor` is a text that every match contains, empty for none."""

    elements: tuple[Element, ...]
    anchor: str = ""
    ignore_case: bool = False

    @property
    def longest(self) -> int:
        """Characters of the longest match."""
        return sum(most for _, _, most in self.elements)

    @property
    def shortest(self) -> int:
        """Characters of the shortest match."""
        return sum(least for _, least, _ in self.elements)

    @property
    def in_one_word(self) -> bool:
        """Return True if every match is a run of visible ASCII."""
        return not any(_parts_words(chars) for chars, _, _ in self.elements)

    @cached_property
    def whole(self) -> re.Pattern[str]:
        """Matches the pattern."""
        source = "".join(f"{chars}{{{least},{most}}}" for chars, least, most in self.elements)
        return re.compile(source, self._flags)

    @cached_property
    def beginning(self) -> re.Pattern[str]:
        """Matches, at the end of a text, a beginning that more text may complete."""
        first, *rest = self.elements
        source = r"\Z"
        for chars, least, most in reversed(rest):
            ends_here = rf"{chars}{{0,{most}}}\Z" if most > 1 else r"\Z"
            source = f"(?:{ends_here}|{chars}{{{least},{most}}}{source})"
        # The first character stands in front, so that the search can skip to it.
        chars, least, most = first
        if (least, most) == (1, 1):
            return re.compile(f"{chars}{source}", self._flags)
        whole = f"{chars}{{{least},{most}}}{source}"
        return re.compile(rf"(?:{chars}{{1,{most}}}\Z|{whole})", self._flags)

    def find(self, text: str) -> re.Match[str] | None:
        """Return the first match."""
        return self.whole.search(text) if self.anchor in text else None

    @property
    def _flags(self) -> re.RegexFlag:
        return re.IGNORECASE if self.ignore_case else re.NOFLAG


class AnyOf:
    """Several patterns together, for many short texts."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        patterns = tuple(patterns)
        self._patterns = patterns
        self._longest = max(pattern.longest for pattern in patterns)
        self._beginning = re.compile("|".join(_by_first_character(patterns)))

    def matches(self, text: str) -> bool:
        """Return True if one of them matches anywhere."""
        # One by one is faster than all in one expression: most anchors are not there at all.
        return any(pattern.find(text) for pattern in self._patterns)

    def may_begin(self, text: str) -> int:
        """Return the position in `text` of a possible match that needs more text; its length if
        there is none."""
        match = self._beginning.search(text, max(len(text) - self._longest, 0))
        return match.start() if match else len(text)


def _by_first_character(patterns: Iterable[Pattern]) -> Iterable[str]:
    """Return expressions for beginnings; those with the same first character are joined, so that
    fewer are tried."""
    groups: dict[tuple[str, bool], list[str]] = {}
    for pattern in patterns:
        chars, least, most = pattern.elements[0]
        first = chars if (least, most) == (1, 1) else ""
        rest = pattern.beginning.pattern.removeprefix(first)
        groups.setdefault((first, pattern.ignore_case), []).append(rest)
    for (first, ignore_case), rests in groups.items():
        yield f"(?{'i' if ignore_case else ''}:{first}(?:{'|'.join(rests)}))"
