"""Output of commands: no text can steer the terminal on which it appears."""

import json
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final, TextIO

KEPT: Final = frozenset("\n\t")
BLANK: Final = "Zs"


def print_json(values: Sequence[Mapping[str, object]]) -> None:
    """Print one object a line, in ASCII."""
    for value in values:
        sys.stdout.write(json_line(value))


def json_line(value: Mapping[str, object]) -> str:
    """An object as a line of JSON, in ASCII."""
    return json.dumps(value, separators=(",", ":")) + "\n"


def print_text(text: str, stream: TextIO | None = None) -> None:
    """Print lines of text, which may contain names that somebody else chose."""
    (stream or sys.stdout).write(escaped(text))


def escaped(text: str) -> str:
    """A text whose control characters and other signs that are not printed, but for new lines, tabs
    and blanks of all widths, are replaced by their escapes, such as `\\x1b`."""
    if text.isprintable():
        return text
    return "".join(sign if _is_harmless(sign) else ascii(sign)[1:-1] for sign in text)


def _is_harmless(sign: str) -> bool:
    return sign.isprintable() or sign in KEPT or unicodedata.category(sign) == BLANK


def printable(text: str) -> str:
    """A text with blanks in place of control characters."""
    return "".join(c if c.isprintable() else " " for c in text)
