"""Converts runs to marked-up lines with properly nested marks."""

from typing import Protocol, TypeAlias

from msgspec import Struct

from gateway.markdown.tree import Inline, Run

Mark: TypeAlias = tuple[str, str]
"""A style with its argument: ("bold", ""), ("link", "https://…")."""


class Marker(Protocol):
    """The inline syntax of a platform."""

    @property
    def code_gap(self) -> str:
        """Separates two adjacent pieces of code."""

    def marks(self, run: Run) -> tuple[Mark, ...]:
        """Return the styles of a run that the platform can show, outermost first."""

    def pair(self, mark: Mark, inner: str, before: str, after: str) -> tuple[str, str]:
        """Return the opening and closing of a mark around the text `inner`.

        `before` and `after` are the adjacent characters, empty at the ends of a line. Two empty
        strings omit the mark.
        """

    def text(self, text: str, *, line_start: bool) -> str:
        """Return literal text."""

    def code(self, text: str) -> str:
        """Return inline code with its fences."""

    def address(self, address: str, *, alone: bool) -> str:
        """Return a web address that is its own text; `alone` if space or nothing follows."""


class _MarkedPiece(Struct, frozen=True):
    text: str
    marks: tuple[Mark, ...]
    code: bool = False
    address: bool = False


def lines(runs: Inline, marker: Marker) -> list[str]:
    """Return the lines of some runs. Marks never span lines or touch a space."""
    if len(runs) == 1 and not (runs[0].code or runs[0].link or marker.marks(runs[0])):
        return [marker.text(line, line_start=True) for line in runs[0].text.split("\n")]
    return [_line(pieces, marker) for pieces in _pieces_by_line(runs, marker)]


def _pieces_by_line(runs: Inline, marker: Marker) -> list[list[_MarkedPiece]]:
    result: list[list[_MarkedPiece]] = [[]]
    for run in runs:
        marks = marker.marks(run)
        for index, text in enumerate(run.text.split("\n")):
            if index:
                result.append([])
            if text:
                address = run.is_bare_link and text.startswith(("http://", "https://"))
                piece = _MarkedPiece(text, marks, run.code, address)
                result[-1].extend(_without_edges(piece))
    return [_space_between(pieces) for pieces in result]


def _without_edges(piece: _MarkedPiece) -> list[_MarkedPiece]:
    """Separate the space at the ends of a piece; in code it stays."""
    text, core = piece.text, piece.text.strip()
    if piece.code or not piece.marks or core == text:
        return [piece]
    if not core:
        return [_MarkedPiece(text, ())]
    lead = text[: len(text) - len(text.lstrip())]
    trail = text[len(text.rstrip()) :]
    parts = (_MarkedPiece(lead, ()), _MarkedPiece(core, piece.marks), _MarkedPiece(trail, ()))
    return [part for part in parts if part.text]


def _space_between(pieces: list[_MarkedPiece]) -> list[_MarkedPiece]:
    """Give space the marks that both neighbours share, so that marks span words."""
    for index in range(1, len(pieces) - 1):
        piece = pieces[index]
        if piece.text.isspace() and not piece.code:
            shared = _shared(pieces[index - 1].marks, pieces[index + 1].marks)
            pieces[index] = _MarkedPiece(piece.text, shared)
    return pieces


def _shared(one: tuple[Mark, ...], other: tuple[Mark, ...]) -> tuple[Mark, ...]:
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return one[:count]


def _line(pieces: list[_MarkedPiece], marker: Marker) -> str:
    out: list[str] = []
    opened: list[tuple[Mark, str]] = []
    for index, piece in enumerate(pieces):
        shared = len(_shared(tuple(mark for mark, _ in opened), piece.marks))
        out.extend(closing for _, closing in reversed(opened[shared:]) if closing)
        del opened[shared:]
        for depth in range(shared, len(piece.marks)):
            opening, closing = _open(pieces, index, depth, marker)
            if opening:
                out.append(opening)
            opened.append((piece.marks[depth], closing))
        written = _written(pieces, index, marker)
        if written.startswith("`") and out and out[-1].endswith("`"):
            out.append(marker.code_gap)
        out.append(written)
    out.extend(closing for _, closing in reversed(opened))
    return "".join(out)


def _written(pieces: list[_MarkedPiece], index: int, marker: Marker) -> str:
    piece = pieces[index]
    if piece.code:
        return marker.code(piece.text)
    if not piece.address:
        return marker.text(piece.text, line_start=not index)
    following = pieces[index + 1] if index + 1 < len(pieces) else _MarkedPiece(" ", ())
    alone = not piece.marks and not following.code and following.text[0].isspace()
    return marker.address(piece.text, alone=alone)


def _open(pieces: list[_MarkedPiece], index: int, depth: int, marker: Marker) -> tuple[str, str]:
    marks = pieces[index].marks[: depth + 1]
    end = index
    while end < len(pieces) and pieces[end].marks[: depth + 1] == marks:
        end += 1
    inner = "".join(piece.text for piece in pieces[index:end])
    before = pieces[index - 1].text[-1] if index else ""
    after = pieces[end].text[0] if end < len(pieces) else ""
    return marker.pair(marks[depth], inner, before, after)
