"""Collects the pages of a document within its limits, and writes tables as Markdown."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from gateway.documents.model import (
    DocumentFormat,
    DocumentLimits,
    DocumentPage,
    LeftOut,
    ReadDocument,
)

MAX_COLUMNS: Final = 50
MAX_CELL: Final = 500
"""Characters of one cell."""
MAX_LABEL: Final = 80
MAX_TITLE: Final = 200
ROWS: Final = 200
"""Rows of a long table that make up one page."""
_SPACES: Final = re.compile(r"[ \t\xa0]+")
_LINES: Final = re.compile(r"\n{3,}")


class Pages:
    """The pages so far. `full` becomes true at a limit; nothing is added after that."""

    def __init__(self, limits: DocumentLimits) -> None:
        self._most = limits.pages
        self._left = limits.characters
        self._pages: list[DocumentPage] = []
        self.full = False

    def __len__(self) -> int:
        return len(self._pages)

    def add(self, label: str, text: str, *, picture: bool = False) -> None:
        """Add a page, or the part of it that fits."""
        if self.full or len(self._pages) >= self._most:
            self.full = True
            return
        text = tidy(text)
        kept = text[: self._left]
        self._left -= len(kept)
        self.full = len(kept) < len(text)
        number = len(self._pages) + 1
        self._pages.append(DocumentPage(number, one_line(label, MAX_LABEL), kept, picture))

    def document(
        self,
        format_: DocumentFormat,
        *,
        total: int | None = None,
        title: str = "",
        left_out: Iterable[LeftOut] = (),
    ) -> ReadDocument:
        """Return the document. `total` is the number of all its pages, if more than these."""
        pages, found = tuple(self._pages), sorted(set(left_out))
        count = max(len(pages), total or 0)
        cut = self.full or count > len(pages)
        return ReadDocument(
            format_, pages, count, one_line(title, MAX_TITLE), cut=cut, left_out=tuple(found)
        )


def tidy(text: str) -> str:
    """Return text with single empty lines, without spaces at the ends of lines."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = (line.rstrip() for line in text.split("\n"))
    return _LINES.sub("\n\n", "\n".join(lines)).strip("\n")


def one_line(text: str, most: int) -> str:
    """Return text in one line of at most `most` characters."""
    return " ".join(text[: 4 * most].split())[:most].rstrip()


def spaced(text: str) -> str:
    """Return text with single spaces; line breaks stay."""
    return _SPACES.sub(" ", text)


def cell(text: str) -> str:
    """Return the text of a cell as Markdown takes it: in one line, bounded."""
    shown = " ".join(text[: 4 * MAX_CELL].split()).replace("|", "\\|")
    return shown if len(shown) <= MAX_CELL else f"{shown[: MAX_CELL - 1]}…"


def table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a Markdown table whose first row is the heading; empty for no text. Columns
    and rows that are empty throughout are left out, and columns beyond `MAX_COLUMNS`."""
    cells = [[cell(one) for one in row[:MAX_COLUMNS]] for row in rows]
    width = max(map(len, cells), default=0)
    filled = [any(len(row) > at and row[at] for row in cells) for at in range(width)]
    kept = [
        [row[at] if len(row) > at else "" for at in range(width) if filled[at]]
        for row in cells
        if any(row)
    ]
    if not kept:
        return ""
    heading, *others = (f"| {' | '.join(row)} |" for row in kept)
    line = f"|{' --- |' * len(kept[0])}"
    return "\n".join((heading, line, *others))


def add_rows(pages: Pages, label: str, rows: Iterable[Sequence[str]]) -> None:
    """Add a table as one page, or `ROWS` rows a page under the heading. Rows are numbered as they
    come, from 1, the heading included."""
    heading: Sequence[str] = ()
    block: list[Sequence[str]] = []
    first = number = 1

    def flush(*, last: bool) -> None:
        whole = last and first == 1
        part = "" if whole else f"rows {first} to {first + len(block) - 1}"
        shown = table(block if first == 1 else [heading, *block])
        if shown or whole:
            pages.add(", ".join(filter(None, (label, part))), shown)

    for number, row in enumerate(rows, 1):
        heading = heading if number > 1 else row
        if len(block) == ROWS:
            flush(last=False)
            if pages.full:
                return
            block, first = [], number
        block.append(row)
    flush(last=True)
