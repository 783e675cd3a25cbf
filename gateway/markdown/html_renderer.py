"""Writes safe HTML for a browser: every character is escaped, every tag is ours."""

import re
from collections.abc import Sequence
from html import escape
from typing import Final, assert_never

from gateway.markdown.text_renderer import BOXES, Mark, marked_lines
from gateway.markdown.tree import (
    Block,
    CodeBlock,
    Heading,
    Inline,
    Item,
    ItemList,
    Paragraph,
    QuoteBlock,
    Run,
    Table,
    ThematicBreak,
    shown_address,
)

_LINKABLE: Final = re.compile(r"(https?://|mailto:)[^\s<>\"]+", re.IGNORECASE)


def document(blocks: Sequence[Block]) -> str:
    """Return the HTML of some blocks."""
    return "".join(map(_block, blocks))


class _HtmlMarker:
    """Writes inline text as HTML; see `Marker`."""

    code_gap = ""

    def marks(self, run: Run) -> tuple[Mark, ...]:
        """See `Marker`."""
        tags = (
            ('span class="spoiler"', run.spoiler),
            ("strong", run.bold),
            ("em", run.italic),
            ("u", run.underline),
            ("s", run.strike),
            ("code", run.code),
        )
        link = (("a", run.link),) if run.link else ()
        return (*link, *((tag, "") for tag, is_set in tags if is_set))

    def pair(self, mark: Mark, inner: str, before: str, after: str) -> tuple[str, str]:
        """See `Marker`."""
        tag, address = mark
        if tag != "a":
            return f"<{tag}>", f"</{tag.partition(' ')[0]}>"
        if _LINKABLE.fullmatch(address):
            return f'<a href="{escape(address)}" target="_blank" rel="noopener noreferrer">', "</a>"
        return "", "" if inner == address else f" ({escape(shown_address(address))})"

    def text(self, text: str, *, line_start: bool) -> str:
        """See `Marker`."""
        return escape(text)

    def code(self, text: str) -> str:
        """See `Marker`."""
        return escape(text)

    def address(self, address: str, *, alone: bool) -> str:
        """See `Marker`."""
        return escape(address)


_MARKER: Final = _HtmlMarker()


def _block(block: Block) -> str:
    match block:
        case Paragraph():
            return f"<p>{_inline(block.runs)}</p>"
        case Heading():
            return f"<h{block.level}>{_inline(block.runs)}</h{block.level}>"
        case CodeBlock():
            kind = f' class="language-{escape(block.language)}"' if block.language else ""
            return f"<pre><code{kind}>{escape(block.text)}</code></pre>"
        case QuoteBlock():
            return f"<blockquote>{document(block.blocks)}</blockquote>"
        case ItemList():
            return _list(block)
        case Table():
            return _table(block)
        case ThematicBreak():
            return "<hr>"
    assert_never(block)


def _inline(runs: Inline) -> str:
    return "<br>".join(marked_lines(runs, _MARKER))


def _list(items: ItemList) -> str:
    start = items.items[0].number
    tag = "ul" if start is None else "ol"
    opening = f'<ol start="{start}">' if start not in (None, 1) else f"<{tag}>"
    return f"{opening}{''.join(map(_item, items.items))}</{tag}>"


def _item(item: Item) -> str:
    box = "" if item.checked is None else BOXES[item.checked]
    # A paragraph alone in its item needs no distance to its neighbours.
    first = item.blocks[0] if item.blocks else None
    if isinstance(first, Paragraph):
        return f"<li>{box}{_inline(first.runs)}{document(item.blocks[1:])}</li>"
    return f"<li>{box}{document(item.blocks)}</li>"


def _table(table: Table) -> str:
    header = _row("th", table.header, table)
    rows = "".join(_row("td", row, table) for row in table.rows)
    return f"<table><thead>{header}</thead><tbody>{rows}</tbody></table>"


def _row(tag: str, cells: Sequence[Inline], table: Table) -> str:
    shown = (
        f'<{tag} class="{align}">{_inline(cell)}</{tag}>'
        for align, cell in zip(table.aligns, cells, strict=True)
    )
    return f"<tr>{''.join(shown)}</tr>"
