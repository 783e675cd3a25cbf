"""Puts the pieces of text of a page into the order in which people read them: columns one after
the other, rows of tables kept together."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Final

from msgspec import Struct

from gateway.documents.pages import cell

_SAME_LINE: Final = 0.5
"""The share of the lower of two pieces that overlaps vertically when they stand on one line."""
_SPACE: Final = 0.15
"""The gap between two words, and below that between two cells, in heights of the letters."""
_WIDE: Final = 1.2
_PARAGRAPH: Final = 1.9
"""The distance of two lines that do not belong to one paragraph, in heights of the letters."""
_SENTENCE_ENDS: Final = (".", ",", ";", ":")
_LEAST_LINES: Final = 4
_LEAST_LETTERS: Final = 18
"""Lines of a column of text, and the median length of its lines: those of tables are shorter."""
_LARGER: Final = 1.15
"""The size of a heading in sizes of the usual text."""
_LONGEST_HEADING: Final = 120
_MAX_DEPTH: Final = 8


class Run(Struct, frozen=True):
    """A piece of text on a page. The origin is the lower left corner; in points."""

    left: float
    bottom: float
    right: float
    top: float
    text: str
    size: float

    @property
    def height(self) -> float:
        """At least 1."""
        return max(1.0, self.top - self.bottom)


class Line(Struct, frozen=True):
    """The pieces of one line, from left to right."""

    runs: tuple[Run, ...]

    @property
    def left(self) -> float:
        return self.runs[0].left

    @property
    def top(self) -> float:
        return max(run.top for run in self.runs)

    @property
    def bottom(self) -> float:
        return min(run.bottom for run in self.runs)

    @property
    def size(self) -> float:
        """The size of its largest letters."""
        return max(run.size for run in self.runs)

    @property
    def cells(self) -> list[Run]:
        """The line divided at wide gaps."""
        cells: list[Run] = []
        for run in self.runs:
            if cells and run.left - cells[-1].right < _WIDE * run.height:
                cells[-1] = _joined(cells[-1], run)
            else:
                cells.append(run)
        return cells


def laid_out(runs: Sequence[Run]) -> str:
    """Return the text of a page as Markdown."""
    if not runs:
        return ""
    usual = _usual_size(runs)
    return "\n\n".join(_block(block, usual) for block in _blocks(runs, _MAX_DEPTH))


def _usual_size(runs: Sequence[Run]) -> float:
    """Return the size in which most letters of a page are."""
    letters: dict[float, int] = {}
    for run in runs:
        size = round(run.size, 1)
        letters[size] = letters.get(size, 0) + len(run.text)
    return max(letters, key=lambda size: letters[size])


def _blocks(runs: Sequence[Run], depth: int) -> list[list[Line]]:
    """Divide runs into columns, and into the parts of the page above and below these."""
    lines = _lines(runs)
    gutter = _gutter(runs, lines) if depth and len(lines) >= _LEAST_LINES else None
    if gutter is None:
        return [lines]
    blocks: list[list[Line]] = []
    band: list[Line] = []
    whole: list[Line] = []
    for line in [*lines, None]:
        crosses = line is not None and _crosses(line, gutter)
        if whole and not crosses:
            blocks.append(whole)
            whole = []
        if band and (crosses or line is None):
            for side in filter(None, _sides(band, gutter)):
                blocks += _blocks(side, depth - 1)
            band = []
        if line is not None:
            (whole if crosses else band).append(line)
    return blocks


def _sides(band: Sequence[Line], gutter: float) -> tuple[list[Run], list[Run]]:
    runs = [run for line in band for run in line.runs]
    left = [run for run in runs if (run.left + run.right) / 2 < gutter]
    return left, [run for run in runs if (run.left + run.right) / 2 >= gutter]


def _crosses(line: Line, gutter: float) -> bool:
    return any(run.left < gutter - 1 and run.right > gutter + 1 for run in line.runs)


def _gutter(runs: Sequence[Run], lines: Sequence[Line]) -> float | None:
    """Return the place between two columns of text; None where there are none, or a table."""
    left, right = min(run.left for run in runs), max(run.right for run in runs)
    if right - left < 100:
        return None
    best: tuple[int, float] | None = None
    middle = (left + right) / 2
    for place in _candidates(lines, left, right):
        band = [line for line in lines if not _crosses(line, place)]
        sides = _sides(band, place)
        if not all(_is_column(side) for side in sides):
            continue
        score = (len(band), -abs(place - middle))
        if best is None or score > (best[0], -abs(best[1] - middle)):
            best = (len(band), place)
    return best[1] if best is not None and best[0] * 2 > len(lines) else None


def _candidates(lines: Sequence[Line], left: float, right: float) -> list[float]:
    """Return the middles of gaps within lines, and the left edges of lines further right, that are
    common; at most 20."""
    counts: dict[int, int] = {}
    for line in lines:
        edges = {round((run.left - 4) / 6) for run in line.runs if run.left > left + 40}
        edges |= {
            round((one.right + two.left) / 12)
            for one, two in pairwise(line.runs)
            if two.left - one.right > 6
        }
        for edge in edges:
            counts[edge] = counts.get(edge, 0) + 1
    common = sorted(counts, key=lambda edge: -counts[edge])[:20]
    return [edge * 6.0 for edge in common if left + 40 < edge * 6.0 < right - 40]


def _is_column(runs: Sequence[Run]) -> bool:
    if not runs:
        return False
    lines = _lines(runs)
    if len(lines) < _LEAST_LINES:
        return False
    return median(sum(len(run.text) for run in line.runs) for line in lines) >= _LEAST_LETTERS


def _lines(runs: Sequence[Run]) -> list[Line]:
    """Group runs that stand on one line, from the top."""
    groups: list[list[Run]] = []
    for run in sorted(runs, key=lambda one: (-(one.top + one.bottom), one.left)):
        last = groups[-1][0] if groups else None
        if last is not None:
            overlap = min(run.top, last.top) - max(run.bottom, last.bottom)
            if overlap >= _SAME_LINE * min(run.height, last.height):
                groups[-1].append(run)
                continue
        groups.append([run])
    return [Line(tuple(sorted(group, key=lambda one: one.left))) for group in groups]


def _block(lines: Sequence[Line], usual: float) -> str:
    """Return lines as Markdown: tables, headings and paragraphs."""
    out: list[str] = []
    at = 0
    while at < len(lines):
        rows = _table_at(lines, at)
        if len(rows) > 1:
            shown = [f"| {' | '.join(row)} |" for row in rows]
            out += ["", shown[0], f"|{' --- |' * len(rows[0])}", *shown[1:], ""]
            at += len(rows)
            continue
        line = lines[at]
        if at and _apart(lines[at - 1], line):
            out.append("")
        out.append(_line(line, usual))
        at += 1
    return "\n".join(out)


def _apart(above: Line, line: Line) -> bool:
    """Return True if there is more room between two lines than within a paragraph."""
    return above.bottom - line.bottom > _PARAGRAPH * max(line.size, line.top - line.bottom)


def _line(line: Line, usual: float) -> str:
    text = " ".join(" ".join(one.text.split("\n")) for one in line.cells).strip()
    larger = line.size > _LARGER * usual and any(map(str.isalpha, text))
    if larger and len(text) <= _LONGEST_HEADING and not text.endswith(_SENTENCE_ENDS):
        rank = 1 if line.size > 1.6 * usual else 2
        return f"\n{'#' * rank} {text}\n"
    return text


def _table_at(lines: Sequence[Line], at: int) -> list[list[str]]:
    """Return the rows of a table that begins at a line: lines with the same number of cells, of
    which each stands below the one above."""
    first = lines[at].cells
    if len(first) < 2:
        return []
    rows, above = [[cell(one.text) for one in first]], first
    for line in lines[at + 1 :]:
        cells = line.cells
        if len(cells) != len(first) or not all(map(_below, above, cells)):
            break
        rows.append([cell(one.text) for one in cells])
        above = cells
    return rows


def _below(above: Run, run: Run) -> bool:
    """Return True if two pieces stand in one column: they overlap, or have an edge in common."""
    overlap = min(above.right, run.right) - max(above.left, run.left)
    return overlap > 0 or abs(above.left - run.left) < 3 or abs(above.right - run.right) < 3


def _joined(one: Run, other: Run) -> Run:
    gap = other.left - one.right > _SPACE * other.height
    spaced = gap and not one.text.endswith(" ") and not other.text.startswith(" ")
    text = f"{one.text}{' ' if spaced else ''}{other.text}"
    size = max(one.size, other.size)
    bottom, top = min(one.bottom, other.bottom), max(one.top, other.top)
    return Run(one.left, bottom, max(one.right, other.right), top, text, size)
