"""Parses Markdown into the tree; only this module knows the parser's tokens."""

import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from gateway.immutable import replace
from gateway.markdown import formulas, latex, syntax
from gateway.markdown.link_texts import with_true_addresses
from gateway.markdown.tree import (
    MAX_BRACKETS,
    MAX_SOURCE,
    Align,
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

# A line that begins with a letter and has none of these characters is plain text in every Markdown,
# and so are several with empty lines between them.
_SIGNS: Final = r"\\`*_~|<>\[\]&\0\ud800-\udfff"
_LINE: Final = rf"[^\W\d_](?:[^{_SIGNS}\r\n]*[^{_SIGNS}\s])?"
_ORDINARY: Final = re.compile(rf"{_LINE}(?:\n\n{_LINE})*")
_SURROGATES: Final = re.compile(r"[\ud800-\udfff]")
_TASK: Final = re.compile(r"\[([ xX])\](?:\s+|$)")
_ALERT: Final = re.compile(r"\[!([^\W\d_]{1,20})\][+-]?[ \t]*")
_PARAMETERS: Final = re.compile(r"\{|[A-Za-z][\w-]*=|[\w.+#-]{1,32}[,:{/]\S")
"""The language of a code block with parameters, or these alone: `{.py}`, `title="x"`, `py:a.py`."""
_LANGUAGE: Final = re.compile(r"\.?[A-Za-z0-9_][A-Za-z0-9_+\-.#]{0,31}")
_STYLES: Final = {
    "strong": "bold",
    "em": "italic",
    "s": "strike",
    "spoiler": "spoiler",
    "underline": "underline",
}


def parse(markdown: str) -> Document:
    """Parse a text. Never fails: anything that is not Markdown is text.

    A text of more than `MAX_SOURCE` characters is shown literally.
    """
    text = markdown.rstrip(" \n").lstrip("\n")
    if _ORDINARY.fullmatch(text) and "://" not in text and not formulas.ENDS.search(text):
        return tuple(Paragraph((Run(line),)) for line in text.split("\n\n"))
    if _SURROGATES.search(markdown):
        markdown = _SURROGATES.sub("\ufffd", markdown)
    if len(markdown) > MAX_SOURCE:
        return literally(markdown)
    links = markdown.count("[") <= MAX_BRACKETS
    return _TreeBuilder().build(_parser(links).parse(markdown))


@functools.cache
def _parser(links: bool) -> MarkdownIt:
    return syntax.parser(links=links)


def literally(text: str) -> Document:
    """Return the paragraphs of a text as they are written."""
    text = _SURROGATES.sub("\ufffd", text)
    parts = (part.strip("\n") for part in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n")))
    return tuple(Paragraph((Run(part),)) for part in parts if part.strip())


@dataclass(slots=True)
class _TableRows:
    """The rows of a table so far."""

    aligns: list[Align] = field(default_factory=list)
    rows: list[list[Inline]] = field(default_factory=list)

    def finish(self) -> Table:
        header, *rows = [tuple(row) for row in self.rows]
        return Table(tuple(self.aligns), header, tuple(rows))


class _TreeBuilder:
    """Converts the parser's flat tokens to blocks, with a stack instead of recursion."""

    def __init__(self) -> None:
        self._open: list[list[Block]] = [[]]
        self._items: list[list[Item]] = []
        self._numbers: list[int | None] = []
        self._written: list[int | None] = []
        self._table = _TableRows()
        self._used: frozenset[str] = frozenset()

    def build(self, tokens: Sequence[Token]) -> Document:
        if any(token.type == "definition" for token in tokens):
            self._used = frozenset(_addresses(tokens))
        for index, token in enumerate(tokens):
            if token.type == "inline":
                self._inline(tokens[index - 1], token)
            elif token.type in ("bullet_list_open", "ordered_list_open", "list_item_open"):
                self._open_list(token)
            elif token.type in ("bullet_list_close", "ordered_list_close", "list_item_close"):
                self._close_list(token)
            else:
                self._other(token)
        return tuple(self._open[0])

    def _add(self, block: Block) -> None:
        self._open[-1].append(block)

    def _inline(self, parent: Token, token: Token) -> None:
        runs = inline_runs(token.children or ())
        if parent.type in ("th_open", "td_open"):
            self._table.rows[-1].append(runs)
        elif not runs:
            return
        elif parent.type == "heading_open":
            self._add(Heading(int(parent.tag[1:]), runs))
        else:
            self._add(Paragraph(runs))

    def _open_list(self, token: Token) -> None:
        if token.type == "list_item_open":
            self._open.append([])
            if token.info.isdecimal() and int(token.info) != self._written[-1]:
                # Numbers are left out on purpose; the same one for each item counts up.
                self._numbers[-1] = self._written[-1] = int(token.info)
            return
        self._items.append([])
        ordered = token.type == "ordered_list_open"
        self._numbers.append(int(token.attrs.get("start", 1)) if ordered else None)
        self._written.append(self._numbers[-1])

    def _close_list(self, token: Token) -> None:
        if token.type != "list_item_close":
            self._numbers.pop()
            self._written.pop()
            self._add(ItemList(tuple(self._items.pop())))
            return
        number = self._numbers[-1]
        self._items[-1].append(_item(self._open.pop(), number))
        if number is not None:
            self._numbers[-1] = number + 1

    def _other(self, token: Token) -> None:
        match token.type:
            case "fence" | "code_block":
                self._code(token)
            case formulas.BLOCK:
                self._formula(token.content)
            case "hr":
                self._add(ThematicBreak())
            case "blockquote_open":
                self._open.append([])
            case "blockquote_close":
                self._quote(self._open.pop())
            case "table_open":
                self._table = _TableRows()
            case "tr_open":
                self._table.rows.append([])
            case "th_open":
                self._table.aligns.append(_align(token))
            case "table_close":
                self._add(self._table.finish())
            case "definition":
                self._definition(token)

    def _quote(self, blocks: list[Block]) -> None:
        if blocks:
            self._add(QuoteBlock((*_labelled(blocks[0]), *blocks[1:])))

    def _code(self, token: Token) -> None:
        text, info = token.content.removesuffix("\n"), token.info.strip()
        language = _LANGUAGE.fullmatch(info.partition(" ")[0])
        if token.meta.get("literal"):
            self._add(Paragraph((Run(text.strip()),)))
            return
        if info and not (language or _PARAMETERS.match(info)):
            # Words where the language belongs were meant to be read.
            self._add(Paragraph((Run(info),)))
        elif " " in info and not text.strip():
            self._add(Paragraph((Run(info),)))
        if text.strip() and info == "math":
            self._formula(text)
        elif text.strip():
            self._add(CodeBlock(text, language.group() if language else ""))

    def _formula(self, source: str) -> None:
        text = latex.as_text(source, lines=True)
        self._add(Paragraph((Run(text),)) if text else CodeBlock(source, "latex"))

    def _definition(self, token: Token) -> None:
        address = str(token.meta["url"])
        if address in self._used:
            return
        title = f' "{token.meta["title"]}"' if token.meta["title"] else ""
        label, link = Run(f"[{token.meta['label']}]: "), Run(address, link=address)
        self._add(Paragraph((label, link, Run(title)) if title else (label, link)))


def _labelled(block: Block) -> Document:
    """Write the label of an alert, `[!NOTE]` at the beginning of a quote, as a word."""
    first = block.runs[0] if isinstance(block, Paragraph) else Run("")
    label = None if first.code or first.link else _ALERT.match(first.text)
    if label is None or not isinstance(block, Paragraph):
        return (block,)
    rest = first.text[label.end() :]
    if rest.strip() or block.runs[1:]:
        rest = rest if rest.startswith("\n") else f": {rest}"
    runs = (Run(label[1].capitalize(), bold=True), replace(first, text=rest), *block.runs[1:])
    return (Paragraph(tuple(run for run in runs if run.text)),)


def _addresses(tokens: Iterable[Token]) -> Iterable[str]:
    for token in tokens:
        for child in token.children or ():
            if child.type == "link_open":
                yield str(child.attrs.get("href", ""))


def _align(token: Token) -> Align:
    style = str(token.attrs.get("style", ""))
    if style.endswith("right"):
        return "right"
    return "center" if style.endswith("center") else "left"


def _item(blocks: list[Block], number: int | None) -> Item:
    first = blocks[0] if blocks else None
    if not isinstance(first, Paragraph) or first.runs[0].code:
        return Item(tuple(blocks), number)
    box = _TASK.match(first.runs[0].text)
    if box is None:
        return Item(tuple(blocks), number)
    lead = replace(first.runs[0], text=first.runs[0].text[box.end() :])
    runs = (lead, *first.runs[1:]) if lead.text else first.runs[1:]
    rest = (Paragraph(runs), *blocks[1:]) if runs else tuple(blocks[1:])
    return Item(rest, number, checked=box.group(1) != " ")


def inline_runs(children: Iterable[Token]) -> Inline:
    """Return the flat runs of a block's inline tokens; adjacent runs of one style are joined."""
    runs = _Runs()
    for token in children:
        kind, _, side = token.type.rpartition("_")
        if token.type in ("softbreak", "hardbreak"):
            runs.add("\n")
        elif token.type in ("break", "edge"):
            runs.break_line(at_edge=token.type == "edge")
        elif token.type == "link_open":
            runs.open_link(_address(token))
        elif token.type == "link_close":
            runs.close_link()
        elif kind in _STYLES:
            runs.change(_STYLES[kind], 1 if side == "open" else -1)
        elif token.type == formulas.INLINE:
            shown = latex.as_text(token.content)
            runs.add(shown or " ".join(token.content.split()), code=shown is None)
        else:
            runs.add(token.content, code=token.type == "code_inline")
    return with_true_addresses(runs.finish())


class _Runs:
    """Collects runs with the currently open styles."""

    def __init__(self) -> None:
        self._done: list[Run] = []
        self._texts: list[str] = []
        self._style = Run("")
        self._depth = dict.fromkeys(_STYLES.values(), 0)
        self._links: list[str] = []
        self._written = 0
        self._breaks = 0

    def add(self, text: str, *, code: bool = False) -> None:
        """Add text in the current style."""
        if self._breaks:
            text = "\n" * self._breaks + text.lstrip(" \n") if text.strip(" \n") else ""
            self._breaks = 0 if text else self._breaks
        if not text:
            return
        style = {name: depth > 0 for name, depth in self._depth.items()}
        run = Run("", **style, code=code, link=self._links[0] if self._links else "")
        if run != self._style:
            self._flush()
            self._style = run
        self._texts.append(text)
        self._written += 1

    def break_line(self, *, at_edge: bool) -> None:
        """Begin a new line before the next text; two breaks leave a blank line, two edges of
        elements none."""
        if self._texts or self._done:
            self._breaks = max(self._breaks, 1) if at_edge else min(self._breaks + 1, 2)

    def change(self, style: str, by: int) -> None:
        """Begin or end a style."""
        self._depth[style] += by

    def open_link(self, address: str) -> None:
        """Begin a link; of nested links the outer one counts."""
        self._links.append(address)
        self._written = 0

    def close_link(self) -> None:
        """End a link; without a text it shows its address."""
        if not self._written:
            self.add(self._links[-1])
        self._links.pop()

    def finish(self) -> Inline:
        self._flush()
        return tuple(self._done)

    def _flush(self) -> None:
        if self._texts:
            self._done.append(replace(self._style, text="".join(self._texts)))
        self._texts = []


def _address(token: Token) -> str:
    return str(token.attrs.get("href", ""))
