"""The lines of a document: which there are, one of them added, changed or deleted, and the
difference of two versions. All functions are pure."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, Literal

from msgspec import Struct

from gateway.errors import BadInput
from gateway.text import Sentence, text, verbatim
from memory.model.record import MAX_DOCUMENT
from memory.ports.documents import Document
from memory.text.sentences import sentence_ends
from memory.text.similarity import words

MAX_CELLS: Final = 40_000
"""Pairs of lines that one comparison looks at, which takes some milliseconds."""

TOO_LONG: Final[Mapping[str, Sentence]] = {
    "soul": text(
        "The preferences would have {size} of {most} characters. Nothing was changed: shorten or "
        "delete a line first."
    ),
    "bible": text(
        "The project notes would have {size} of {most} characters. Nothing was changed: shorten or "
        "delete a line first."
    ),
}
NO_LINE: Final[Mapping[str, Sentence]] = {
    "soul": text("The preferences have no line {number}."),
    "bible": text("The project notes have no line {number}."),
}
NO_WORDS: Final = text("A line needs a text.")

MAX_DROPPED: Final = 3
"""Lines that a change of a document may drop without a question."""
DROPPED_SHARE: Final = 0.2
"""The share of the lines, or of their characters, from which a whole new text drops much."""
KEPT_WORDS: Final = 0.6
"""The share of a line's words from which a line with them is that line in other words."""

Sign = Literal["same", "added", "removed"]


class DocumentLine(Struct, frozen=True):
    """A line with text. `number` counts all lines of the document from 1, the empty ones too."""

    number: int
    text: str


class DiffLine(Struct, frozen=True):
    """A line of a comparison."""

    sign: Sign
    text: str


def lines_of(content: str) -> tuple[DocumentLine, ...]:
    """Return the lines that have a text."""
    numbered = enumerate(content.split("\n"), 1)
    return tuple(DocumentLine(number, text) for number, text in numbered if text.strip())


def with_line_added(document: Document, content: str, text: str) -> str:
    """Return the content with a line at its end; a text of several lines adds several. Raises
    `BadInput` for a blank text, and above the limit of a document."""
    added = _text_of(text)
    return _checked(document, f"{content}\n{added}" if content.strip() else added)


def with_line_changed(document: Document, content: str, number: int, text: str) -> str:
    """Return the content with another text in one line. Raises `BadInput` for a missing line, a
    blank text, and above the limit of a document."""
    lines = _with_line(document, content, number)
    lines[number - 1] = _text_of(text)
    return _checked(document, "\n".join(lines))


def without_line(document: Document, content: str, number: int) -> str:
    """Return the content without one line. Raises `BadInput` for a missing line."""
    lines = _with_line(document, content, number)
    del lines[number - 1]
    return "\n".join(lines)


def difference(before: str, after: str) -> tuple[DiffLine, ...]:
    """Return the lines of two versions: equal ones once, removed ones before added ones. Where too
    many lines differ, all of these count as removed and added."""
    old, new = before.split("\n") if before else [], after.split("\n") if after else []
    first = _common(old, new)
    last = _common(old[first:][::-1], new[first:][::-1])
    middle = _compared(old[first : len(old) - last], new[first : len(new) - last])
    return (*_all("same", old[:first]), *middle, *_all("same", old[len(old) - last :]))


def dropped_lines(before: str, after: str) -> tuple[str, ...]:
    """Return the lines of `before` that `after` says neither as they are nor in other words: no
    line of it has most of their words. Of a line with several sentences each counts as a line.
    Where too many lines differ, reworded ones count as dropped."""
    old, new = _said_by(before), _said_by(after)
    same = {*new.values()}
    left = {line: said for line, said in old.items() if said not in same}
    others = [said for said in dict.fromkeys(new.values()) if said not in {*old.values()}]
    if len(left) * len(others) > MAX_CELLS:
        return tuple(left)
    return tuple(
        line
        for line, said in left.items()
        if not any(len(said & other) >= KEPT_WORDS * len(said) for other in others)
    )


def drops_much(before: str, after: str) -> bool:
    """Return True if a whole new text drops more than `MAX_DROPPED` lines, or more than
    `DROPPED_SHARE` of the lines or of their characters."""
    dropped, old = dropped_lines(before, after), _said_by(before)
    characters = sum(map(len, dropped))
    return (
        len(dropped) > MAX_DROPPED
        or len(dropped) > DROPPED_SHARE * len(old)
        or characters > DROPPED_SHARE * sum(map(len, old))
    )


def number_of(content: str, line: str) -> int:
    """Return the number of the only line that reads `line`, but for its spaces and the mark of a
    list; 0 if there is none, or more than one."""
    sought = _bare(line)
    found = [one.number for one in lines_of(content) if _bare(one.text) == sought]
    return found[0] if len(found) == 1 else 0


def _bare(line: str) -> str:
    return " ".join(line.strip().lstrip("-*+•–").split()).casefold()


def _said_by(content: str) -> dict[str, frozenset[str]]:
    """Return the different lines of a text, each with its words; marks alone say nothing. Each
    sentence of a line counts as a line."""
    said = (sentence for line in lines_of(content) for sentence in _sentences(line.text))
    return {one: words(one) for one in said if any(map(str.isalnum, one))}


def _sentences(line: str) -> tuple[str, ...]:
    ends = sentence_ends(line)
    return tuple(line[begin:end].strip() for begin, end in pairwise(ends))


def _text_of(text: str) -> str:
    lines = [line.strip() for line in text.splitlines()]
    kept = "\n".join(line for line in lines if line)
    if not kept:
        raise BadInput(NO_WORDS)
    return kept


def _with_line(document: Document, content: str, number: int) -> list[str]:
    lines = content.split("\n")
    if not 1 <= number <= len(lines):
        raise BadInput(NO_LINE[document].of(number=verbatim(str(number))))
    return lines


def _checked(document: Document, content: str) -> str:
    if len(content) > MAX_DOCUMENT:
        raise BadInput(TOO_LONG[document].of(size=len(content), most=MAX_DOCUMENT))
    return content


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """Return the number of equal lines at the beginning."""
    pairs = enumerate(zip(old, new, strict=False))
    different = (number for number, (one, other) in pairs if one != other)
    return next(different, min(len(old), len(new)))


def _all(sign: Sign, lines: Sequence[str]) -> tuple[DiffLine, ...]:
    return tuple(DiffLine(sign, line) for line in lines)


def _compared(old: Sequence[str], new: Sequence[str]) -> tuple[DiffLine, ...]:
    """Compare by the longest common subsequence, in time of the number of pairs; the matcher of
    `difflib` has no such bound."""
    if len(old) * len(new) > MAX_CELLS:
        return (*_all("removed", old), *_all("added", new))
    longest = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for row in range(len(old) - 1, -1, -1):
        for column in range(len(new) - 1, -1, -1):
            longest[row][column] = (
                longest[row + 1][column + 1] + 1
                if old[row] == new[column]
                else max(longest[row + 1][column], longest[row][column + 1])
            )
    diff: list[DiffLine] = []
    row = column = 0
    while row < len(old) or column < len(new):
        if row < len(old) and column < len(new) and old[row] == new[column]:
            diff.append(DiffLine("same", old[row]))
            row, column = row + 1, column + 1
        elif column == len(new) or (
            row < len(old) and longest[row + 1][column] >= longest[row][column + 1]
        ):
            diff.append(DiffLine("removed", old[row]))
            row += 1
        else:
            diff.append(DiffLine("added", new[column]))
            column += 1
    return tuple(diff)
