"""Renders blocks as lines of text, the base of all platforms with text messages."""

import re
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias, assert_never

from gateway.markdown import inline, split, table, tree
from gateway.markdown.boundaries import units
from gateway.markdown.inline import Mark
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
    """See `inline.Marker`."""

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
        return inline.lines(runs, self)

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
