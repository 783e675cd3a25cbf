"""A text as a person reads it, with the positions in the given text.

Hidden characters inside a token, and its letters in full width, would hide it from every pattern.
"""

import re
from typing import Final

from msgspec import Struct

from safety.unicode import HIDDEN

_ASCII_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_WIDE: Final = "\uff01-\uff5e"
_HIDDEN: Final = re.compile(f"[{HIDDEN}\u180b-\u180f\u200c\u200d\ufe00-\ufe0f]")
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
    hidden = _ASCII_CONTROLS if text.isascii() else _HIDDEN
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
