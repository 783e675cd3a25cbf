"""Display names of people, which anybody can choose, for texts that other people read."""

import unicodedata
from typing import Final

from safety.unicode import safe_unicode

MAX_NAME: Final = 60
"""Characters of a shown name."""
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories of invisible characters, and of those that change others."""


def shown_name(name: str, most: int = MAX_NAME) -> str:
    """Return a display name in one line, without invisible characters or those that change the
    direction of text, at most `most` characters."""
    seen = "".join(
        " " if unicodedata.category(char) in _HIDDEN else char
        for char in safe_unicode(name[: most * 4])
    )
    return " ".join(seen.split())[:most].rstrip()
