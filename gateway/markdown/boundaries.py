"""Where a text may be cut: never inside a character, best at a line, a sentence, a word."""

import re
import unicodedata
from collections.abc import Callable
from typing import Final

_SENTENCE: Final = re.compile(r"[.!?…。！？][\"'”’)\]]{0,3}(?=\s|$)|[。！？]")
_SPACE: Final = re.compile(r"\s+")
_MAX_CLUSTER: Final = 32
_JOINER: Final = "\u200d"


def units(text: str) -> int:
    """UTF-16 code units of a text."""
    if text.isascii():
        return len(text)
    return len(text) + sum(1 for char in text if char > "\uffff")


def longest(total: int, fits: Callable[[int], bool]) -> int:
    """The largest number from 0 to `total` that fits, when everything below one that fits does."""
    low, high = 0, total
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def best_cut(text: str, end: int) -> int:
    """The best place at or before `end` to cut `text`; above 0 when `end` is.

    A place counts only in the later half, so that no message is cut short for a tidy end.
    """
    if end >= len(text):
        return len(text)
    earliest = end // 2
    newline = text.rfind("\n", earliest, end + 1)
    if newline > 0:
        return newline
    return _last_match(_SENTENCE, text, earliest, end) or word_cut(text, end)


def line_cut(text: str, end: int) -> int:
    """Like `best_cut` for code: at a line, else anywhere between characters."""
    if end >= len(text):
        return len(text)
    newline = text.rfind("\n", 0, end + 1)
    return newline if newline > 0 else character_cut(text, end)


def word_cut(text: str, end: int) -> int:
    """The last gap between words at or before `end`, else a gap between characters."""
    for index in range(end, end // 2, -1):
        if text[index].isspace():
            return index
    return character_cut(text, end)


def character_cut(text: str, end: int) -> int:
    """The last place at or before `end` that leaves every visible character whole.

    A cluster longer than 32 code points is cut all the same.
    """
    for index in range(end, max(end - _MAX_CLUSTER, 0), -1):
        if not _joined(text, index):
            return index
    return end


def skip_space(text: str, start: int) -> int:
    """Where the text goes on after the space at `start`."""
    match = _SPACE.match(text, start)
    return match.end() if match else start


def _last_match(pattern: re.Pattern[str], text: str, start: int, end: int) -> int:
    last = 0
    for match in pattern.finditer(text, start, end):
        last = match.end()
    return last if last < end or text[end : end + 1].isspace() else 0


def _joined(text: str, index: int) -> bool:
    """True when the characters around `index` are shown as one."""
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
    """How many halves of flags stand right before `index`, as far as a cluster may reach."""
    count = 0
    while count < min(_MAX_CLUSTER, index) and _is_flag_half(text[index - 1 - count]):
        count += 1
    return count
