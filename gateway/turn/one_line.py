"""Puts words of people into a sentence of the program."""

from typing import Final

MARKUP: Final = frozenset("\\`*_[]()<>~|#@!")


def in_one_line(words: str) -> str:
    """Return a text in one line, with its markup escaped."""
    return "".join(f"\\{char}" if char in MARKUP else char for char in " ".join(words.split()))
