"""Shortens a text without splitting a visible character."""

import re
import unicodedata
from typing import Final

REDACTED: Final = "[SECRET_REDACTED]"
"""The text that replaces a secret."""
MAX_BACK: Final = 64
"""Characters that a cut may move back; a longer unit is not a letter."""

_EXTENDING: Final = frozenset("\u200c\u200d\u20e3")
_FLAG: Final = re.compile("[\U0001f1e6-\U0001f1ff]")


def cut(text: str, max_length: int) -> str:
    """Return at most `max_length` characters from the beginning of a text.

    A letter with its marks, an emoji of several characters, a flag, a line end of two characters
    and the marker of a removed secret are kept or removed as a whole. Raises `ValueError` below 0.
    """
    if max_length < 0:
        raise ValueError(f"a length of {max_length}; it must be 0 or more")
    if len(text) <= max_length:
        return text
    end = _before_marker(text, max_length)
    least = max(0, end - MAX_BACK)
    while end > least and _is_inside(text, end):
        end -= 1
    return text[:end]


def _before_marker(text: str, end: int) -> int:
    begin = max(0, end - len(REDACTED) + 1)
    marker = text.find(REDACTED, begin, end + len(REDACTED) - 1)
    return marker if 0 <= marker < end else end


def _is_inside(text: str, end: int) -> bool:
    """Return True if `end` falls between two characters that a person sees as one."""
    before, after = text[end - 1], text[end]
    if after in _EXTENDING or before == "\u200d" or "\ufe00" <= after <= "\ufe0f":
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0100" <= after <= "\U000e01ef":
        return True
    if unicodedata.category(after).startswith("M"):
        return True
    if "\ud800" <= before <= "\udbff" or (before == "\r" and after == "\n"):
        return True
    return bool(_FLAG.match(after)) and _flags_before(text, end) % 2 == 1


def _flags_before(text: str, end: int) -> int:
    """Return the number of consecutive flag letters before `end`, at most `MAX_BACK`."""
    start, least = end, max(0, end - MAX_BACK)
    while start > least and _FLAG.match(text, start - 1):
        start -= 1
    return end - start
