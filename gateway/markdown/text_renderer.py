"""Renders blocks as lines of text, the base of all platforms with text messages; runs become lines
with properly nested marks."""

import re
from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeAlias, assert_never

from msgspec import Struct

from gateway.markdown import split, table, tree
from gateway.markdown.split import units
from gateway.markdown.tree import (
    Block,
    CodeBlock,
    Document,
    Heading,
    Inline,
    Item,
    ItemList,
    Paragraph,
    QuoteBlock,
    Run,
    Table,
    ThematicBreak,
)
from gateway.message import Part

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


def marked_lines(runs: Inline, marker: Marker) -> list[str]:
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


Renderer: TypeAlias = Callable[[Document], list[Part]]
"""Writes a tree as the messages of one platform.

Each part fits the platform's limit; `Part.payload` is what the adapter's `send` takes. The list is
empty where there is nothing to see. A renderer does no I/O and may run in any thread."""

RULE = "─" * 12
BULLET = "• "
BOXES = {True: "☑ ", False: "☐ "}
BREAK = "\u200b"
"""A zero-width space: invisible, but it separates the characters around it."""
_FENCE = re.compile("`{3,}")


def without_fences(code: str) -> str:
    """Return code whose backticks cannot close the fence around it.

    The spaces between them are visible: whoever copies the code sees that they do not belong to it.
    """
    return _FENCE.sub(lambda run: " ".join(run[0]), code)


class TextRenderer:
    """Renders a tree as plain text; a platform overrides what it renders differently.

    Every method returns lines without newlines.
    """

    bullet = BULLET
    """The marker of an item without a number."""

    dot = ". "
    """The end of the marker of an item with a number."""

    code_gap = ""
    """See `Marker`."""

    def document(self, blocks: Sequence[Block]) -> str:
        """Return the whole text; a blank line between blocks, none after a heading."""
        out: list[str] = []
        for index, block in enumerate(blocks):
            if index and not isinstance(blocks[index - 1], Heading):
                out.append("")
            out.extend(self.block(block))
        return "\n".join(out)

    def block(self, block: Block, indent: str = "") -> list[str]:
        """Return the lines of a block, indented unless they must start at the margin."""
        match block:
            case Paragraph():
                return [indent + line for line in self.inline(block.runs)]
            case Heading():
                return [indent + line for line in self.heading(block)]
            case ItemList():
                return [line for item in block.items for line in self.item(item, indent)]
            case CodeBlock():
                return self.code_block(block)
            case QuoteBlock():
                return self.quote(block)
            case Table():
                return self.table(block)
            case ThematicBreak():
                return [indent + RULE]
        assert_never(block)

    def inline(self, runs: Inline) -> list[str]:
        """Return the lines of inline text."""
        return marked_lines(runs, self)

    def heading(self, heading: Heading) -> list[str]:
        """A heading."""
        return self.inline(heading.runs)

    def code_block(self, code: CodeBlock) -> list[str]:
        """Return preformatted text."""
        return code.text.split("\n")

    def table(self, block: Table) -> list[str]:
        """Return an aligned table, as code where the platform has code, or a list of records."""
        return self.document(table.as_text((block,))).split("\n")

    def quote(self, quote: QuoteBlock) -> list[str]:
        """Return a quote: "> " before each line."""
        return [f"> {line}" for line in self.document(quote.blocks).split("\n")]

    def item(self, item: Item, indent: str) -> list[str]:
        """Return a list item; code, quotes and tables below its marker start at the margin."""
        marker = self.bullet if item.number is None else f"{item.number}{self.dot}"
        below = indent + " " * len(marker)
        lead = below if item.continued else indent + marker
        if item.checked is not None and not item.continued:
            lead += BOXES[item.checked]
        out: list[str] = []
        for block in item.blocks or (Paragraph((Run(""),)),):
            written = self.block(block, below) or [below]
            if not isinstance(block, CodeBlock | QuoteBlock | Table):
                written[0] = lead + written[0][len(below) :]
            elif lead.strip():
                out.append(lead.rstrip())
            out += written
            lead = below
        return out

    def marks(self, run: Run) -> tuple[Mark, ...]:
        """Plain text shows addresses only."""
        return (("link", run.link),) if run.link and not run.is_bare_link else ()

    def pair(self, mark: Mark, inner: str, before: str, after: str) -> tuple[str, str]:
        del inner, before, after
        return ("", f" ({tree.shown_address(mark[1])})") if mark[0] == "link" else ("", "")

    def text(self, text: str, *, line_start: bool) -> str:
        del line_start
        return text

    def code(self, text: str) -> str:
        return text

    def address(self, address: str, *, alone: bool) -> str:
        del alone
        return address


PLAIN: Final = TextRenderer()
"""Text without any markup: the fallback of every part."""


def plain_parts(blocks: Document) -> list[Part]:
    """The messages for a platform without a renderer of its own."""
    return text_parts(blocks, PLAIN, tree.PLAIN_MESSAGE)


def text_parts(blocks: Document, writer: TextRenderer, limit: int) -> list[Part]:
    """The messages that `writer` makes of a tree. Payload and text of each are at most `limit`
    UTF-16 units long."""
    shown = table.as_text(blocks)
    whole, plain = writer.document(shown), PLAIN.document(shown)
    if max(units(whole), units(plain)) <= limit:
        return _visible([(whole, plain)])

    def measure(block: Block) -> int:
        return max(units("\n".join(form.block(block))) for form in (writer, PLAIN))

    groups = split.pack(table.wide_as_records(blocks), limit, measure)
    return _visible([(writer.document(group), PLAIN.document(group)) for group in groups])


def _visible(written: Sequence[tuple[str, str]]) -> list[Part]:
    parts = (Part(payload, text) for payload, text in written)
    return [part for part in parts if part.text.strip() and str(part.payload).strip()]
