"""Sanitises every text before it is stored."""

from typing import Final

from safety.cut import cut
from safety.sanitize import sanitize
from safety.unicode import safe_unicode

MAX_LENGTH: Final = 10_000
"""Characters of a SOUL or BIBLE; memories are shorter (sources 000)."""
_PASSES: Final = 4


def sanitize_brain_content(text: str, max_length: int = MAX_LENGTH) -> str:
    """The text with safe Unicode, sanitised as a whole, then cut to `max_length` and stripped.

    Never longer than `max_length` characters; doing it twice changes nothing. May be empty. What
    the cut brings to life is sanitised away as well; should it never come to rest, nothing is
    left. Raises `ValueError` for a negative length.
    """
    for _ in range(_PASSES):
        before = text
        text = sanitize(safe_unicode(text)).strip()
        text = cut(text, max_length).strip()
        if text == before:
            return text
    return text if _clean(text, max_length) == text else ""


def _clean(text: str, max_length: int) -> str:
    return cut(sanitize(safe_unicode(text)).strip(), max_length).strip()
