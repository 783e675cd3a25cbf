"""Tables as GFM has them, but no cell of a row is lost, and empty ones are bounded."""

from typing import Final

from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_block.table import escapedSplit, getLine

from gateway.markdown.limits import MAX_FILLED_CELLS

_FILLED: Final = "filled_cells"


def read_table(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Read a table: the header is the parser's matter, the rows are read here.

    GFM drops the cells that a row has beyond its header; they stay in its last cell, with their
    bars. Empty cells for what rows lack are added up to `MAX_FILLED_CELLS` in the whole text; a
    shorter row than that allows ends its table and is text.
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
    while state.line < end_line and not _ends(state, end_line):
        cells = _cells(getLine(state, state.line).strip(), columns)
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
    """True where a line is no row any more: blank, further out, code, or another block."""
    line = state.line
    if state.isEmpty(line) or state.sCount[line] < state.blkIndent or state.is_code_block(line):
        return True
    rules = state.md.block.ruler.getRules("blockquote")
    return any(rule(state, line, end_line, True) for rule in rules)


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
