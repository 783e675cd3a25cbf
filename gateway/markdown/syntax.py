"""Extensions of CommonMark: images as links, bounded nesting, and tables that keep every cell."""

import re
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_block.table import escapedSplit, getLine
from markdown_it.rules_inline import StateInline, link

from gateway.markdown import formulas
from gateway.markdown.addresses import bare_address
from gateway.markdown.footnotes import use_footnotes
from gateway.markdown.html_blocks import html_block
from gateway.markdown.html_tags import html_inline
from gateway.markdown.marks import use_marks
from gateway.markdown.tree import MAX_CONTAINERS, MAX_FILLED_CELLS

_DRIVE: Final = re.compile(r"[A-Za-z]:")
_FOLDERS: Final = re.compile(r"\\(?=[^\W_])[^\s`|<>\"\[\]]{1,1000}")
_SHARE: Final = re.compile(r"\\\\[A-Za-z0-9][\w.-]{1,100}\\(?=[^\W_])[^\s`|<>\"\[\]]{1,1000}")
_NO_PATH: Final = re.compile(r"(?!)")
_TICKS: Final = re.compile(r"`+")
_BAR: Final = re.compile(r"(?<!\\)\|")
_FILLED: Final = "filled_cells"


def parser(*, links: bool = True) -> MarkdownIt:
    """Return a parser for CommonMark with tables, strikethrough and these extensions; HTML stays
    text."""
    # maxNesting also bounds brackets within brackets; above it the parser drops text, so our own
    # rule for blocks has to be reached first.
    options = {"html": False, "maxNesting": MAX_CONTAINERS + 4, "inline_definitions": True}
    md = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    md.block.ruler.before("table", "too_deep", _too_deep)
    md.block.ruler.at("table", read_table, {"alt": ["paragraph", "reference"]})
    md.block.ruler.at("html_block", html_block, {"alt": ["paragraph", "reference", "blockquote"]})
    formulas.add_to(md)
    md.inline.ruler.before(formulas.INLINE, "path", _path)
    md.inline.ruler.at("image", _image)
    md.inline.ruler.before("strikethrough", "bare_address", bare_address)
    md.inline.ruler.at("html_inline", html_inline)
    use_footnotes(md)
    use_marks(md)
    return md if links else md.disable(["link", "image"])


def _too_deep(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    if silent or state.level < MAX_CONTAINERS:
        return False
    token = state.push("fence", "code", 0)
    token.content = state.getLines(start_line, end_line, 0, False)
    token.meta["literal"] = True
    state.line = end_line
    return True


def _path(state: StateInline, silent: bool) -> bool:
    """Read a path of Windows, whose backslashes escape nothing."""
    start = state.pos
    if state.src[start] != "\\":
        return False
    drive = start >= 2 and state.src[start - 1] == ":" and _DRIVE.match(state.src, start - 2)
    if drive and start >= 3 and state.src[start - 3].isalnum():
        return False
    share = not start or state.src[start - 1] in " \t\n(\"'"
    path = (_SHARE if share else _FOLDERS if drive else _NO_PATH).match(
        state.src, start, state.posMax
    )
    if path is None:
        return False
    found = path[0].rstrip("*_.,;:!?)~|")
    if not silent:
        state.append_pending(found)
    state.pos += len(found)
    return True


def _image(state: StateInline, silent: bool) -> bool:
    """Read `![text](address)` as a link; its text is read once, however deep it nests."""
    start = state.pos
    if not state.src.startswith("![", start):
        return False
    state.pos = start + 1
    if link(state, silent):
        return True
    state.pos = start
    return False


def read_table(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Read a table; the parser reads the header, this function the rows.

    GFM drops a row's cells beyond the header; here they stay in its last cell, with their bars.
    A line without bars below a framed header is the text after the table.
    Missing cells are added, up to `MAX_FILLED_CELLS` in the whole text; a row that would need more
    ends its table and is text.
    """
    first = len(state.tokens)
    if not table(state, start_line, min(start_line + 2, end_line), silent):
        return False
    if silent:
        return True
    columns = sum(token.type == "th_open" for token in state.tokens[first:])
    closing = state.tokens.pop()
    state.level += 1
    outer, state.parentType = state.parentType, "table"
    framed = columns > 1 and getLine(state, start_line).lstrip().startswith("|")
    while state.line < end_line and not _ends(state, end_line):
        row = getLine(state, state.line).strip()
        if framed and "|" not in row:
            break
        cells = _cells(row, columns)
        if len(cells) > columns:
            cells = _cells(formulas.with_escaped_bars(row), columns)
        if len(cells) > columns:  # a bar in code separates no cells for a reader
            coded = _cells(_with_escaped_bars_in_code(row), columns)
            cells = coded if len(coded) >= columns else cells
        filled = state.env.get(_FILLED, 0) + max(columns - len(cells), 0)
        if filled > MAX_FILLED_CELLS:
            break
        state.env[_FILLED] = filled
        _push_row(state, cells, columns)
        state.line += 1
    state.parentType = outer
    state.level -= 1
    state.tokens.append(closing)
    return True


def _ends(state: StateBlock, end_line: int) -> bool:
    """Return True for a line that is no row: blank, outside the block, code, or another block."""
    line = state.line
    if state.isEmpty(line) or state.sCount[line] < state.blkIndent or state.is_code_block(line):
        return True
    rules = state.md.block.ruler.getRules("blockquote")
    return any(rule(state, line, end_line, True) for rule in rules)


def _with_escaped_bars_in_code(row: str) -> str:
    """Escape the bars between backticks and the next run of as many."""
    ticks = list(_TICKS.finditer(row))
    closing: dict[int, int] = {}
    last: dict[int, int] = {}
    for at in range(len(ticks) - 1, -1, -1):
        length = len(ticks[at][0])
        closing[at], last[length] = last.get(length, -1), at
    out: list[str] = []
    done = at = 0
    while at < len(ticks):
        end = closing[at]
        if end >= 0:
            start, stop = ticks[at].end(), ticks[end].start()
            out += (row[done:start], _BAR.sub(r"\\|", row[start:stop]))
            done, at = stop, end
        at += 1
    return "".join((*out, row[done:]))


def _cells(row: str, columns: int) -> list[str]:
    cells = escapedSplit(row)
    if cells[0] == "":
        cells.pop(0)
    if cells and cells[-1] == "":
        cells.pop()
    while len(cells) > columns and not cells[-1].strip():
        cells.pop()
    return cells


def _push_row(state: StateBlock, cells: list[str], columns: int) -> None:
    state.push("tr_open", "tr", 1)
    for column in range(columns):
        last = column == columns - 1
        state.push("td_open", "td", 1)
        content = "|".join(cells[column:]) if last else "".join(cells[column : column + 1])
        token = state.push("inline", "", 0)
        token.content, token.children = content.strip(), []
        state.push("td_close", "td", -1)
    state.push("tr_close", "tr", -1)
