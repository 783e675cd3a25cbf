"""Output of commands: no text can steer the terminal on which it appears."""

import json
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, TextIO

KEPT: Final = frozenset("\n\t")
BLANK: Final = "Zs"
WIDTH: Final = 160
"""Characters of a text of a person on one line."""
Values = Mapping[str, object]


def show(values: Iterable[Values], lines: Iterable[str], *, as_json: bool) -> None:
    """Print the values as JSON, or the lines for people."""
    if as_json:
        print_json(values)
    else:
        print_lines(lines)


def show_rows(
    values: Iterable[Values],
    names: Sequence[str],
    rows: Iterable[Sequence[str]],
    nothing: str,
    *,
    as_json: bool = False,
) -> None:
    """Print the values as JSON; for people the rows, as a table on a terminal and as plain lines
    elsewhere, or `nothing`."""
    if as_json:
        print_json(values)
        return
    listed = list(rows)
    if not listed or not sys.stdout.isatty():
        print_lines(["  ".join(row) for row in listed] or [nothing])
        return
    from rich.console import Console  # noqa: PLC0415 - only where there is a terminal
    from rich.table import Table  # noqa: PLC0415 - loaded only where it is needed
    from rich.text import Text  # noqa: PLC0415 - loaded only where it is needed

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in names:
        table.add_column(name, overflow="fold", no_wrap=name == "since")
    for row in listed:
        table.add_row(*(Text(escaped(cell)) for cell in row))  # markup in a memory is no markup
    Console().print(table)


def print_lines(lines: Iterable[str]) -> None:
    """Print lines, which may contain names that somebody else chose."""
    for line in lines:
        print_text(f"{line}\n")


def print_json(values: Iterable[Values]) -> None:
    """Print one object a line, in ASCII; times in ISO 8601."""
    for value in values:
        sys.stdout.write(json_line(value))


def json_line(value: Values) -> str:
    """An object as a line of JSON, in ASCII; times in ISO 8601."""
    return json.dumps(value, separators=(",", ":"), default=datetime.isoformat) + "\n"


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


def plain(text: str, most: int = WIDTH) -> str:
    """A text in one line of about `most` characters, without control characters. A longer one says
    how many follow."""
    line = " ".join(printable(text).split())
    return line if len(line) <= most else f"{line[:most]}… ({len(line) - most:,} more)"


def second_of(at: datetime) -> str:
    """A time to the second."""
    return at.strftime("%Y-%m-%d %H:%M:%S UTC")


def printable(text: str) -> str:
    """A text with blanks in place of control characters."""
    return "".join(c if c.isprintable() else " " for c in text)
