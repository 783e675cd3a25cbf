"""Tables for places without tables: columns of a fixed-width font, or a list of records."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from gateway.immutable import replace
from gateway.markdown.tree import (
    GRID_LINES,
    GRID_WIDTH,
    Align,
    Block,
    CodeBlock,
    Document,
    Inline,
    Paragraph,
    Run,
    Table,
)

_SEPARATOR: Final = " │ "
_UNDIVIDED: Final = 10
"""The width of cells that are wrapped only where there is no room otherwise."""
_NOTHING: Final = "–"
_JOINER: Final = "\u200d"
_EMOJI_STYLE: Final = "\ufe0f"
_OPENING: Final = "（「『【《〈〔“‘"
_CLOSING: Final = "、。，．：；！？）」』】》〉〕”’ー…々"
_UNSPACED: Final = "\u3041-\u30fa\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD: Final = rf"(?:[{_UNSPACED}]|[^\s{_UNSPACED}{_OPENING}{_CLOSING}]++)"
_PIECE: Final = re.compile(rf"[{_OPENING}]++(?:{_WORD}[{_CLOSING}]*+)?|{_WORD}[{_CLOSING}]*+|\S")
"""What stays on one line: a word, or a character of a script without spaces and its punctuation."""
_RIGHT_TO_LEFT: Final = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001eeff]"
)
"""Hebrew, Arabic and their like: clients turn the order of columns around, and join letters."""


def grid(table: Table) -> str | None:
    """Return header, separator and rows in columns of a fixed-width font.

    Lines are at most `GRID_WIDTH` wide. Long cells are wrapped in their column. The result is None
    if a word is too long for its column, a row would need more than `GRID_LINES` lines, or a cell
    is written from right to left.
    """
    room = GRID_WIDTH - len(_SEPARATOR) * (len(table.header) - 1)
    if room < len(table.header):
        return None
    rows = [[_lines_of(cell) for cell in row] for row in (table.header, *table.rows)]
    if any(_RIGHT_TO_LEFT.search(line) for row in rows for cell in row for line in cell):
        return None
    widths = _widths(rows, room)
    if widths is None:
        return None
    lines: list[str] = []
    for row in rows:
        wrapped = [list(_wrapped(cell, size)) for cell, size in zip(row, widths, strict=True)]
        height = max(map(len, wrapped))
        if height > GRID_LINES:
            return None
        for index in range(height):
            cells = [cell[index] if index < len(cell) else "" for cell in wrapped]
            lines.append(_line(cells, widths, table.aligns))
        if len(lines) == height:
            lines.append("─┼─".join("─" * size for size in widths))
    return "\n".join(lines)


def as_text(blocks: Document) -> Document:
    """Return the blocks with every table as code or as records."""
    return tuple(block for blocks_of in map(_as_text, blocks) for block in blocks_of)


def wide_as_records(blocks: Document) -> Document:
    """Return the blocks with every table that is no grid as records."""
    shown = ((b, _as_text(b)) if isinstance(b, Table) else (b, (b,)) for b in blocks)
    return tuple(
        part
        for block, parts in shown
        for part in ((block,) if isinstance(parts[0], CodeBlock) else parts)
    )


def _as_text(block: Block) -> tuple[Block, ...]:
    if not isinstance(block, Table):
        return (block,)
    text = grid(block)
    return as_records(block) if text is None else (CodeBlock(text),)


def cell_text(cell: Inline) -> str:
    """Return a cell without styles, with its addresses."""
    return "".join(
        run.text if not run.link or run.is_bare_link else f"{run.text} ({run.link})" for run in cell
    )


def as_records(table: Table) -> tuple[Paragraph, ...]:
    """Return a paragraph per row with a line per cell that is not empty, which begins with the
    column's name. The first one also names the columns without any value."""
    if not table.rows:
        return (Paragraph(_joined(table.header)),)
    names = [" ".join(cell_text(name).split()) for name in table.header]
    first, *rows = table.rows
    columns = zip(*table.rows, strict=True)
    unused = [not any(map(_has_text, column)) for column in columns]
    if any(unused) and any(map(_has_text, first)):
        first = tuple(
            (Run(_NOTHING),) if empty and name else cell
            for name, cell, empty in zip(names, first, unused, strict=True)
        )
    return tuple(Paragraph(_record(names, row)) for row in (first, *rows))


def _has_text(cell: Inline) -> bool:
    return bool(cell_text(cell).strip())


def _record(names: Sequence[str], row: Sequence[Inline]) -> Inline:
    runs: list[Run] = []
    for name, cell in zip(names, row, strict=True):
        if not _has_text(cell):
            continue
        if runs:
            runs.append(Run("\n"))
        if name:
            runs += [Run(f"{name}:", bold=True), Run(" "), *cell]
        else:
            runs += [replace(run, bold=True) for run in cell]
    return tuple(runs) or (Run(_NOTHING),)


def width(text: str) -> int:
    """Return the columns that a text occupies in a fixed-width font."""
    if text.isascii():
        return len(text)
    total, before, last = 0, "", 0
    for char in text:
        size = _char_width(char)
        if before == _JOINER or (last == 2 and "\U0001f3fb" <= char <= "\U0001f3ff"):
            size = 0
        elif char == _EMOJI_STYLE and last == 1:
            size = 1
        total += size
        before, last = char, size or last
    return total


def _char_width(char: str) -> int:
    if "\u1160" <= char <= "\u11ff" or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def _lines_of(cell: Inline) -> list[str]:
    return [" ".join(line.split()) for line in cell_text(cell).split("\n")]


def _widths(rows: Sequence[Sequence[list[str]]], room: int) -> list[int] | None:
    """Return the width of each column, None if the words do not fit."""
    columns = [[line for cell in column for line in cell] for column in zip(*rows, strict=True)]
    natural = [max(map(width, lines)) or 1 for lines in columns]
    if sum(natural) <= room:
        return natural
    least = [max(map(_longest_piece, lines)) or 1 for lines in columns]
    short = [max(size, min(most, _UNDIVIDED)) for size, most in zip(least, natural, strict=True)]
    if sum(short) <= room:
        least = short
    spare = room - sum(least)
    if spare < 0:
        return None
    wanted = [most - least for most, least in zip(natural, least, strict=True)]
    total = sum(wanted)
    return [size + spare * more // total for size, more in zip(least, wanted, strict=True)]


def _longest_piece(line: str) -> int:
    if line.isascii():
        return max(map(len, line.split(" ")))
    return max(map(width, _PIECE.findall(line)), default=0)


def _wrapped(lines: Sequence[str], size: int) -> Iterator[str]:
    """Return lines of at most `size` columns."""
    for line in lines:
        if width(line) <= size:
            yield line
            continue
        held, used, end = "", 0, 0
        for piece in _PIECE.finditer(line):
            gap = " " if held and piece.start() > end else ""
            needed = len(gap) + width(piece[0])
            if held and used + needed > size:
                yield held
                held, used, gap, needed = "", 0, "", needed - len(gap)
            held, used, end = held + gap + piece[0], used + needed, piece.end()
        yield held


def _line(cells: Sequence[str], widths: Sequence[int], aligns: Sequence[Align]) -> str:
    padded = map(_pad, cells, widths, aligns)
    return _SEPARATOR.join(padded).rstrip()


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
