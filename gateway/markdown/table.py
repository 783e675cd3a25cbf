"""Tables as aligned text, for places without tables."""

import unicodedata
from collections.abc import Sequence

from gateway.markdown.tree import COLUMN_WIDTH, Align, Block, Inline, Paragraph, Run, Table


def aligned(table: Table) -> str:
    """Return header, separator and rows in columns of a fixed-width font."""
    rows = [[cell_text(cell) for cell in row] for row in (table.header, *table.rows)]
    widths = [
        min(max(width(row[column]) for row in rows), COLUMN_WIDTH)
        for column in range(len(table.header))
    ]
    lines = [_line(row, widths, table.aligns) for row in rows]
    lines.insert(1, "─┼─".join("─" * size for size in widths))
    return "\n".join(lines)


def cell_text(cell: Inline) -> str:
    """Return a cell without styles, with its addresses."""
    return "".join(
        run.text if not run.link or run.is_bare_link else f"{run.text} ({run.link})" for run in cell
    ).replace("\n", " ")


def as_paragraphs(table: Table) -> tuple[Block, ...]:
    """Return a paragraph per row and a line per cell, which begins with the column's name: for
    very long cells."""
    blocks: list[Block] = [Paragraph(_joined(table.header))] if not table.rows else []
    for row in table.rows:
        runs: list[Run] = []
        for name, cell in zip(table.header, row, strict=True):
            if runs:
                runs.append(Run("\n"))
            label = cell_text(name)
            runs += [Run(f"{label}: " if label else ""), *cell]
        blocks.append(Paragraph(tuple(run for run in runs if run.text)))
    return tuple(blocks)


def width(text: str) -> int:
    """Return the columns that a text occupies in a fixed-width font."""
    if text.isascii():
        return len(text)
    return sum(_char_width(char) for char in text)


def _char_width(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def _line(cells: Sequence[str], widths: Sequence[int], aligns: Sequence[Align]) -> str:
    padded = map(_pad, cells, widths, aligns)
    return " │ ".join(padded).rstrip()


def _pad(cell: str, size: int, align: Align) -> str:
    free = max(size - width(cell), 0)
    if align == "right":
        return " " * free + cell
    if align == "center":
        return " " * (free // 2) + cell + " " * (free - free // 2)
    return cell + " " * free


def _joined(cells: Sequence[Inline]) -> Inline:
    runs: list[Run] = []
    for cell in cells:
        runs += [Run("\n"), *cell] if runs else cell
    return tuple(runs)
