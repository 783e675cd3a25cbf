"""Positions at which a text may be cut: never inside a character, preferably at a line, a sentence
or a word."""

import re
import unicodedata
from collections.abc import Callable
from typing import Final

_SENTENCE: Final = re.compile(r"[.!?…。！？][\"'”’)\]]{0,3}(?=\s|$)|[。！？]")
_SPACE: Final = re.compile(r"\s+")
_MAX_CLUSTER: Final = 32
_JOINER: Final = "\u200d"


def units(text: str) -> int:
    """Return the UTF-16 code units of a text."""
    if text.isascii():
        return len(text)
    return len(text) + sum(1 for char in text if char > "\uffff")


def longest(total: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number from 0 to `total` that fits, if every smaller one fits too."""
    low, high = 0, total
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def best_cut(text: str, end: int) -> int:
    """Return the best position at or before `end` to cut `text`; above 0 if `end` is.

    Only the second half is searched, so that no message is much shorter than necessary.
    """
    if end >= len(text):
        return len(text)
    earliest = end // 2
    newline = text.rfind("\n", earliest, end + 1)
    if newline > 0:
        return newline
    return _last_match(_SENTENCE, text, earliest, end) or word_cut(text, end)


def line_cut(text: str, end: int) -> int:
    """Like `best_cut` for code: at a line, otherwise between characters."""
    if end >= len(text):
        return len(text)
    newline = text.rfind("\n", 0, end + 1)
    return newline if newline > 0 else character_cut(text, end)


def word_cut(text: str, end: int) -> int:
    """Return the last gap between words at or before `end`, otherwise between characters."""
    for index in range(end, end // 2, -1):
        if text[index].isspace():
            return index
    return character_cut(text, end)


def character_cut(text: str, end: int) -> int:
    """Return the last position at or before `end` that splits no visible character.

    A cluster of more than 32 code points is split.
    """
    for index in range(end, max(end - _MAX_CLUSTER, 0), -1):
        if not _joined(text, index):
            return index
    return end


def skip_space(text: str, start: int) -> int:
    """Return the position after the space at `start`."""
    match = _SPACE.match(text, start)
    return match.end() if match else start


def _last_match(pattern: re.Pattern[str], text: str, start: int, end: int) -> int:
    last = 0
    for match in pattern.finditer(text, start, end):
        last = match.end()
    return last if last < end or text[end : end + 1].isspace() else 0


def _joined(text: str, index: int) -> bool:
    """Return True if the characters around `index` are displayed as one."""
    before, after = text[index - 1], text[index]
    if before.isascii() and after.isascii():
        return before == "\r" and after == "\n"
    if _JOINER in (before, after) or unicodedata.category(after) in ("Mn", "Me", "Mc"):
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":
        return True
    return _is_flag_half(before) and _is_flag_half(after) and _flag_halves(text, index) % 2 == 1


def _is_flag_half(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _flag_halves(text: str, index: int) -> int:
    """Return the number of halves of flags before `index`, within one cluster."""
    count = 0
    while count < min(_MAX_CLUSTER, index) and _is_flag_half(text[index - 1 - count]):
        count += 1
    return count
