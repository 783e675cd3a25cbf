"""Slack's Block Kit: headers, rich text, tables; nothing is ever parsed as mrkdwn.

Rich text says bold or code beside the text instead of in it, so that no character needs an escape
and no `<!channel>` in an answer can call anybody.
"""

import json
import re
from collections.abc import Sequence
from typing import Final, TypeAlias, TypeGuard, assert_never

from gateway.immutable import replace
from gateway.markdown import split, table
from gateway.markdown.split import units
from gateway.markdown.text_renderer import BOXES, PLAIN, RULE
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
    inline_text,
    shown_address,
    without_links,
)
from gateway.message import Part

MAX_BLOCKS: Final = 49
"""Blocks of one message: 50 (docs.slack.dev/reference/block-kit/blocks), less one for buttons."""

MAX_HEADER: Final = 150
"""Characters of a header block: docs.slack.dev/reference/block-kit/blocks/header-block."""

MAX_MESSAGE_JSON: Final = 12_000
"""Characters of all blocks of a message as compact JSON. Slack publishes no number; about 13,200
was measured before `msg_blocks_too_long`, structure included (slackapi/bolt-js #2509, #2867)."""

MAX_CAPTION: Final = 150
"""Characters of the caption of a data table. Slack publishes no number; that of a header block."""

MAX_INDENT: Final = 8
"""Deepest `indent` of a rich_text_list that Slack's own composer makes."""

INDENT: Final = "\u2003"
"""Space before the further paragraphs of a list item, for each level: a section has no indent."""

Json: TypeAlias = dict[str, object]

_LINKABLE: Final = re.compile(r"(https?://|mailto:|tel:)[^\s<>]+", re.IGNORECASE)
_STYLES: Final = ("bold", "italic", "strike", "code")
_MARKUP: Final = re.compile(r"[&<>\n]")
_PLAIN: Final = Run("")


def render(blocks: Document) -> list[Part]:
    """The messages, each a dict with `blocks` and `text`, Slack's escaped fallback."""
    groups = split.pack(_arranged(blocks), MAX_MESSAGE_JSON, _size, _may_join)
    return [part for part in map(_part, groups) if part.text.strip()]


def escape(text: str) -> str:
    """A text as mrkdwn shows it literally: docs.slack.dev/messaging/formatting-message-text."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _part(blocks: Document) -> Part:
    text = PLAIN.document(blocks)
    written: list[Json] = []
    seen = False
    for block in blocks:
        first = not seen and isinstance(block, Table) and _is_native(block)
        written.append(_table(block) if first and isinstance(block, Table) else _written(block))
        seen = seen or first
    return Part({"blocks": written, "text": escape(text)}, text)


def _may_join(group: Sequence[Block], block: Block) -> bool:
    """True when a message with the blocks of `group` may hold one more."""
    return len(group) < MAX_BLOCKS and _joins_tables(group, block)


def _size(block: Block) -> int:
    """Characters that Slack counts of a block; too many for a table with too many rows."""
    if _is_native(block):
        return _table_size(block, MAX_MESSAGE_JSON)
    return units(json.dumps(_written(block), ensure_ascii=False, separators=(",", ":")))


def _written(block: Block) -> Json:
    match block:
        case ThematicBreak():
            return {"type": "divider"}
        case Heading() if _is_header(block.runs):
            text = {"type": "plain_text", "text": inline_text(block.runs), "emoji": True}
            return {"type": "header", "text": text}
        case DataTable() if _is_native(block):
            return _data_table(block)
        case Table() if _is_native(block):
            return _table(block)
        case _:
            return {"type": "rich_text", "elements": _elements(block)}


def _is_header(runs: Inline) -> bool:
    """A header block takes one short line without styles; bold says nothing in a heading."""
    text = inline_text(runs)
    plain = all(replace(run, bold=False, text="") == _PLAIN for run in runs)
    return plain and units(text) <= MAX_HEADER and not _MARKUP.search(text)


def _data_table(block: Table) -> Json:
    """A table with pages; its header takes no styles, and it has to have a caption."""
    names = [" ".join(table.cell_text(cell).split()) for cell in block.header]
    header: list[Json] = [{"type": "raw_text", "text": name or " "} for name in names]
    rows = [header, *([_cell(cell) for cell in row] for row in block.rows)]
    caption = ", ".join(filter(None, names))[:MAX_CAPTION] or "–"
    return {"type": "data_table", "caption": caption, "rows": rows, "page_size": len(block.rows)}


def _table(block: Table) -> Json:
    rows = [[_cell(cell) for cell in row] for row in (tuple(map(_bold, block.header)), *block.rows)]
    columns = [{"align": align, "is_wrapped": True} for align in block.aligns]
    return {"type": "table", "rows": rows, "column_settings": columns}


def _cell(runs: Inline) -> Json:
    return {"type": "rich_text", "elements": [_section(runs)]}


def _elements(block: Block) -> list[Json]:
    match block:
        case Paragraph():
            return [_section(block.runs)]
        case Heading():
            return [_section(_bold(block.runs))]
        case CodeBlock():
            return [_code(block)]
        case Table():
            return _table_as_text(block)
        case QuoteBlock():
            return _quote(block)
        case ItemList():
            return _Lists().write(block)
        case ThematicBreak():
            return [_section((Run(RULE),))]
    assert_never(block)


def _table_as_text(block: Table) -> list[Json]:
    """The elements of a table within a quote or list."""
    first, *more = table.as_text((block,))
    if not isinstance(first, Paragraph):
        return _elements(first)
    runs = list(first.runs)
    for record in more:
        runs += [Run("\n\n"), *(record.runs if isinstance(record, Paragraph) else ())]
    return [_section(tuple(runs))]


def _quote(quote: QuoteBlock) -> list[Json]:
    """Quotes with code between them where the quote holds some: a quote holds text only."""
    out: list[Json] = []
    runs: list[Run] = []
    for block in quote.blocks:
        if isinstance(block, CodeBlock | Table):
            out += [*_quoted(runs), *_elements(block)]
            runs = []
            continue
        if runs:
            runs.append(Run("\n"))
        runs += block.runs if isinstance(block, Paragraph) else _as_text(block)
    return [*out, *_quoted(runs)] or _quoted([Run(" ")])


def _quoted(runs: Sequence[Run]) -> list[Json]:
    return [{"type": "rich_text_quote", "elements": _inline(tuple(runs))}] if runs else []


def _as_text(block: Block) -> Inline:
    if isinstance(block, Heading):
        return _bold(block.runs)
    return (Run("\n".join(PLAIN.block(block))),)


class _Lists:
    """Flattens nested lists: Slack takes one list after the other, each with an indent."""

    def __init__(self) -> None:
        self._out: list[Json] = []

    def write(self, items: ItemList, indent: int = 0) -> list[Json]:
        """The elements of a list and of all that is in its items."""
        for item in items.items:
            self._item(item, min(indent, MAX_INDENT))
        return self._out

    def _item(self, item: Item, indent: int) -> None:
        runs: list[Run] = [Run(BOXES[item.checked])] if item.checked is not None else []
        shown = item.continued
        for block in item.blocks:
            if isinstance(block, Paragraph | Heading) and not shown:
                text = block.runs if isinstance(block, Paragraph) else _bold(block.runs)
                runs += [Run("\n"), *text] if runs and not _is_box(runs) else text
                continue
            if not shown:
                self._entry(item, tuple(runs), indent)
                shown = True
            if isinstance(block, ItemList):
                self.write(block, indent + 1)
            elif isinstance(block, Paragraph | Heading):
                text = block.runs if isinstance(block, Paragraph) else _bold(block.runs)
                self._further(_indented(text, INDENT * (indent + 1)))
            else:
                self._out += _elements(block)
        if not shown:
            self._entry(item, tuple(runs), indent)

    def _further(self, runs: Inline) -> None:
        last = self._out[-1] if self._out else {}
        elements = last.get("elements")
        if last.get("type") == "rich_text_section" and isinstance(elements, list):
            elements += _inline((Run("\n"), *runs))
        else:
            self._out.append(_section(runs))

    def _entry(self, item: Item, runs: Inline, indent: int) -> None:
        style = "bullet" if item.number is None else "ordered"
        last = self._out[-1] if self._out else {}
        entries = last.get("elements")
        if (last.get("style"), last.get("indent", 0)) == (style, indent) and isinstance(
            entries, list
        ):
            next_number = int(str(last.get("offset", 0))) + len(entries) + 1
            # Slack shows a list from 0 as one from 1.
            if item.number is None or next_number - item.number in (0, 1):
                entries.append(_section(runs))
                return
        new: Json = {"type": "rich_text_list", "style": style, "elements": [_section(runs)]}
        if indent:
            new["indent"] = indent
        if item.number is not None and item.number > 1:
            new["offset"] = item.number - 1
        self._out.append(new)


def _indented(runs: Inline, indent: str) -> Inline:
    return (
        Run(indent),
        *(replace(run, text=run.text.replace("\n", f"\n{indent}")) for run in runs),
    )


def _is_box(runs: Sequence[Run]) -> bool:
    return len(runs) == 1 and runs[0].text in BOXES.values()


def _code(code: CodeBlock) -> Json:
    element: Json = {
        "type": "rich_text_preformatted",
        "elements": [{"type": "text", "text": code.text}],
    }
    return {**element, "language": code.language} if code.language else element


def _section(runs: Inline) -> Json:
    return {"type": "rich_text_section", "elements": _inline(runs)}


def _inline(runs: Inline) -> list[Json]:
    """Text and link elements; never empty, which Slack refuses."""
    elements = [_element(run) for run in runs if run.text]
    return elements or [{"type": "text", "text": " "}]


def _element(run: Run) -> Json:
    text, element = run.text, dict[str, object]()
    if run.link and _LINKABLE.fullmatch(run.link):
        element = {"type": "link", "url": run.link, "text": text}
    else:
        shown = f"{text} ({shown_address(run.link)})" if run.link and not run.is_bare_link else text
        element = {"type": "text", "text": shown}
    # Rich text has no underline.
    shown_run = replace(run, italic=run.italic or run.underline) if run.underline else run
    style = {name: True for name in _STYLES if getattr(shown_run, name)}
    return {**element, "style": style} if style else element


def _bold(runs: Inline) -> Inline:
    return tuple(replace(run, bold=True) for run in runs)


MAX_TABLE_ROWS: Final = 100
"""Rows of a table, its header included: docs.slack.dev/reference/block-kit/blocks/table-block."""

MAX_TABLE_COLUMNS: Final = 20
"""Cells of a table row: docs.slack.dev/reference/block-kit/blocks/table-block."""

MAX_TABLE_CHARACTERS: Final = 10_000
"""Characters in all cells of a message's tables:
docs.slack.dev/reference/block-kit/blocks/data-table-block."""

_OVERHEAD: Final = 200


class DataTable(Table, frozen=True):
    """A table after the first one of a message, which takes one block of type `table` only
    (`only_one_table_allowed`) and any number of type `data_table`."""


def _arranged(blocks: Document) -> Document:
    """The first table keeps its type, later ones are data tables; wider ones become text."""
    seen = False
    out: list[Block] = []
    for block in blocks:
        if not isinstance(block, Table):
            out.append(block)
        elif not _is_native(block):
            out += table.as_text((block,))
        else:
            later = seen and block.rows
            out.append(DataTable(block.aligns, block.header, block.rows) if later else block)
            seen = True
    return tuple(out)


def _joins_tables(group: Sequence[Block], block: Block) -> bool:
    """Return True if a message with the blocks of `group` may hold this one, if it is a table."""
    held = [other for other in group if _is_native(other)]
    if not held or not _is_native(block):
        return True
    characters = sum(map(_characters, (*held, block)))
    return isinstance(block, DataTable) and characters <= MAX_TABLE_CHARACTERS


def _is_native(block: Block) -> TypeGuard[Table]:
    """Return True for a table that Slack shows as such."""
    return isinstance(block, Table) and len(block.header) <= MAX_TABLE_COLUMNS


def _table_size(block: Table, limit: int) -> int:
    """Return the characters that Slack counts of a table; above `limit` if it has to be split."""
    # The structure around cells cannot count, or no table could have the rows it may have.
    characters = _characters(block)
    fits = len(block.rows) < MAX_TABLE_ROWS and characters <= MAX_TABLE_CHARACTERS
    return characters if fits else max(characters, limit + 1)


def _characters(block: Table) -> int:
    cells = [cell for row in (block.header, *block.rows) for cell in row]
    return sum(units(inline_text(without_links(cell))) or 1 for cell in cells) + _OVERHEAD
