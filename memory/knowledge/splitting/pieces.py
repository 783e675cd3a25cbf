"""Cutting lines into chunks of a bounded size.

Everything here works on sections: consecutive lines that begin where something new begins. The
chunks of a text cover it without gaps: joined in order, they are the text.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from memory.knowledge.model import Chunk

TARGET: Final = 1_500
"""Characters up to which small sections are joined."""
MOST: Final = 3_000
"""Characters of a chunk, unless a file would have more than `MAX_CHUNKS` of them."""
MAX_CHUNKS: Final = 4_000
"""Chunks of a file. A larger file has larger chunks."""
MAX_SYMBOLS: Final = 400
"""Characters of the names of a chunk."""
MAX_LINE: Final = 400
"""Characters of a line that are looked at."""
TAB: Final = 4
"""Columns of a tab."""


class FileSection(Struct, frozen=True):
    """Lines from `first` (from 0) to the next section, with the name or heading that begins it."""

    first: int
    symbol: str = ""
    heading: str = ""


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends; only a line feed ends a line, as in git."""
    lines = text.split("\n")
    whole = [f"{line}\n" for line in lines[:-1]]
    return [*whole, lines[-1]] if lines[-1] else whole


def chunks_of(
    lines: Sequence[str], sections: Sequence[FileSection], full: int = TARGET
) -> tuple[Chunk, ...]:
    """Cut lines at sections, of which the first begins at line 0. Small neighbours become one chunk
    of up to `TARGET` characters, which ends at the next section once it has `full` of them."""
    total = sum(map(len, lines))
    scale = max(1.0, 2 * total / MAX_CHUNKS / TARGET)
    most, target = int(MOST * scale), int(TARGET * scale)
    chunks: list[Chunk] = []
    joined: list[_LinePiece] = []
    size = 0
    for piece in _pieces(lines, sections, target, most):
        if joined and (size + len(piece.text) > target or size >= full * scale):
            chunks.append(_chunk(joined))
            joined, size = [], 0
        joined.append(piece)
        size += len(piece.text)
    if joined:
        chunks.append(_chunk(joined))
    return tuple(chunks)


class _LinePiece(Struct, frozen=True):
    first: int
    last: int
    text: str
    symbol: str
    heading: str


def _pieces(
    lines: Sequence[str], sections: Sequence[FileSection], target: int, most: int
) -> Iterator[_LinePiece]:
    ends = [section.first for section in sections[1:]] + [len(lines)]
    for section, end in zip(sections, ends, strict=True):
        first = section.first
        while first < end:
            last, size = _reach(lines, first, end, target, most)
            text = "".join(lines[first : last + 1])
            if size <= most:
                yield _LinePiece(first, last, text, section.symbol, section.heading)
            else:  # one long line
                for begin in range(0, len(text), most):
                    part = text[begin : begin + most]
                    yield _LinePiece(first, last, part, section.symbol, section.heading)
            first = last + 1


def _reach(lines: Sequence[str], first: int, end: int, target: int, most: int) -> tuple[int, int]:
    """The last line of the piece that begins at `first`, and its size: the whole rest if it fits,
    else up to the best place to part."""
    size, last = len(lines[first]), first
    best, best_size, best_mark = first, size, -1
    while last + 1 < end and size + len(lines[last + 1]) <= most:
        last += 1
        size += len(lines[last])
        mark = _parting(lines, last + 1) if target // 2 < size and last + 1 < end else -1
        if mark >= best_mark and (size <= target or best_mark < 0):
            best, best_size, best_mark = last, size, mark
    return (last, size) if last + 1 == end else (best, best_size)


def _parting(lines: Sequence[str], before: int) -> int:
    """The rank of a split before a line: after an empty line best, then by indentation."""
    if not lines[before - 1].strip():
        return 1_000 - min(indentation(lines[before]), 400)
    return 400 - min(indentation(lines[before]), 400)


def _chunk(pieces: Sequence[_LinePiece]) -> Chunk:
    names = dict.fromkeys(piece.symbol for piece in pieces if piece.symbol)
    return Chunk(
        pieces[0].first + 1,
        pieces[-1].last + 1,
        " ".join(names)[:MAX_SYMBOLS],
        next((piece.heading for piece in pieces if piece.heading), ""),
        "".join(piece.text for piece in pieces),
    )


def indentation(line: str) -> int:
    """The column of the first sign, at most `MAX_LINE`."""
    column = 0
    for sign in line[:MAX_LINE]:
        if sign == "\t":
            column += TAB
        elif sign == " ":
            column += 1
        else:
            break
    return column
