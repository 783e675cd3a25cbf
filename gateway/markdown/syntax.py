"""Extensions of CommonMark: images as links, bounded nesting, tables that keep every cell, bold,
italic and spoilers as a reader of prose sees them, footnotes, and bare web addresses.

A footnote `[^1]` is shown as `[1]`, where it is used and at its text.
"""

import re
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_block.table import escapedSplit, getLine
from markdown_it.rules_inline import StateInline, link
from markdown_it.rules_inline.state_inline import Delimiter

from gateway.markdown import formulas
from gateway.markdown.characters import UNSPACED, WIDE_PUNCTUATION, kind
from gateway.markdown.flanking import flanks
from gateway.markdown.html_blocks import html_block
from gateway.markdown.html_tags import html_inline
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


_SCHEMES: Final = ("https", "http")
_NEVER: Final = rf"\s<>\"`|\\\[\]{WIDE_PUNCTUATION}«»“”„‟…—،؛؟।॥"
"""Characters at which an address ends; a browser writes them encoded."""
_ADDRESS: Final = re.compile(rf"://(?:(?!\*\*)[^{_NEVER}]){{1,2000}}")
_PROSE: Final = re.compile(rf"(?<=[A-Za-z0-9])[{UNSPACED}]")
"""Prose after an address without a space: `https://example.com/docs了解更多`."""
_TRAILING: Final = ".,;:!?'*_~‘’–"


def bare_address(state: StateInline, silent: bool) -> bool:
    """Read `https://…` as a link.

    It begins at a scheme that is not the end of a longer word; letters of scripts without spaces
    are no part of that word. It ends before space, full-width punctuation, the punctuation of a
    sentence, and where prose of another script follows without a space.
    """
    if state.linkLevel > 0 or not state.src.startswith("://", state.pos):
        return False
    scheme = next((s for s in _SCHEMES if state.pending.endswith(s)), "")
    before = state.pending[: -len(scheme)][-1:] if scheme else ""
    match = _ADDRESS.match(state.src, state.pos, state.posMax)
    if not scheme or kind(before) in ("letter", "digit") or match is None:
        return False
    rest = _without_punctuation(_without_prose(match.group()))
    if len(rest) <= len("://"):
        return False
    if not silent:
        state.pending = state.pending[: -len(scheme)]
        token = state.push("link_open", "a", 1)
        token.attrs = {"href": scheme + rest}
        token = state.push("text", "", 0)
        token.content = scheme + rest
        state.push("link_close", "a", -1)
    state.pos += len(rest)
    return True


def _without_prose(address: str) -> str:
    """Exclude text of a script without spaces that follows Latin letters directly."""
    prose = None if address.isascii() else _PROSE.search(address)
    return address[: prose.start()] if prose else address


def _without_punctuation(address: str) -> str:
    """Exclude a sentence's punctuation, and a closing bracket without an opening one."""
    excess = address.count(")") - address.count("(")
    end = len(address)
    while end:
        last = address[end - 1]
        if last == ")" and excess > 0:
            excess -= 1
        elif last not in _TRAILING:
            break
        end -= 1
    return address[:end]


_REFERENCE: Final = re.compile(r"\[\^([^\s\[\]^]{1,40})\]")
_DEFINITION: Final = re.compile(r"\[\^([^\s\[\]^]{1,40})\]:[ \t]*+")
_NUMBER: Final = re.compile(r"[1-9]\d{0,2}")
_DEFINED: Final = "footnotes"


def use_footnotes(md: MarkdownIt) -> None:
    """Let a parser read footnotes."""
    md.block.ruler.before("reference", "footnote", _definitions, {"alt": ["paragraph"]})
    md.inline.ruler.before("link", "footnote", _reference)


def _definitions(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Read footnotes that follow each other as one paragraph."""
    if state.is_code_block(start_line) or _definition(state, start_line) is None:
        return False
    if silent:
        return True
    lines: list[str] = []
    line = start_line
    while line < end_line and not state.isEmpty(line):
        match = _definition(state, line)
        if match:
            state.env.setdefault(_DEFINED, set()).add(match[1])
        elif _begins_block(state, line, end_line):
            break
        text = _text(state, line)
        if match:
            text = f"\\[{match[1]}\\] {state.src[match.end() : state.eMarks[line]]}"
        lines.append(text)
        line += 1
    state.push("paragraph_open", "p", 1)
    token = state.push("inline", "", 0)
    token.content, token.children = "\n".join(lines).strip(), []
    state.push("paragraph_close", "p", -1)
    state.line = line
    return True


def _definition(state: StateBlock, line: int) -> re.Match[str] | None:
    start = state.bMarks[line] + state.tShift[line]
    if state.sCount[line] < state.blkIndent or not state.src.startswith("[^", start):
        return None
    return _DEFINITION.match(state.src, start, state.eMarks[line])


def _text(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _begins_block(state: StateBlock, line: int, end_line: int) -> bool:
    if state.sCount[line] < state.blkIndent:
        return True
    rules = state.md.block.ruler.getRules("paragraph")
    return any(rule(state, line, end_line, True) for rule in rules)


def _reference(state: StateInline, silent: bool) -> bool:
    """Read `[^1]`; a name that is no number needs its text, as `[^a-z]` is a pattern."""
    if not state.src.startswith("[^", state.pos):
        return False
    match = _REFERENCE.match(state.src, state.pos, state.posMax)
    if match is None or state.src.startswith("(", match.end()):
        return False
    if not (_NUMBER.fullmatch(match[1]) or match[1] in state.env.get(_DEFINED, ())):
        return False
    if not silent:
        state.append_pending(f"[{match[1]}]")
    state.pos = match.end()
    return True


_EMPHASIS: Final = "*_"
_PAIRED: Final = "~|"
_SPOILER: Final = ord("|")


def use_marks(md: MarkdownIt) -> None:
    """Let a parser read marks where a reader of prose sees them."""
    md.inline.ruler.at("emphasis", _marks)
    md.inline.ruler.disable("strikethrough")
    md.inline.ruler2.before("strikethrough", "spoiler", _pair_spoilers)
    md.inline.add_terminator_char("|")


def _marks(state: StateInline, silent: bool) -> bool:
    """Read a run of signs: each of `*` and `_`, or each pair of `~` and `|`, may be a mark."""
    text, start = state.src, state.pos
    sign = text[start]
    if silent or not (sign in _EMPHASIS or (sign in _PAIRED and text.startswith(sign * 2, start))):
        return False
    end, last = start + 1, state.posMax
    while end < last and text[end] == sign:
        end += 1
    opens, closes = flanks(text, start, end)
    state.pos = end
    if not (opens or closes):
        state.append_pending(text[start:end])
        return True
    size = 1 if sign in _EMPHASIS else 2
    count, odd = divmod(end - start, size)
    if odd:
        state.append_pending(sign)
    # The length is for the rule of CommonMark on sums that are multiples of 3; 0 switches it off.
    length = count if size == 1 else 0
    for _ in range(count):
        state.push("text", "", 0).content = sign * size
        token = len(state.tokens) - 1
        state.delimiters.append(Delimiter(ord(sign), length, token, -1, opens, closes))
    return True


def _pair_spoilers(state: StateInline) -> None:
    groups = [state.delimiters]
    groups += [meta["delimiters"] for meta in state.tokens_meta if meta and "delimiters" in meta]
    for delimiters in groups:
        for opening in delimiters:
            if opening.marker == _SPOILER and opening.end != -1:
                closing = delimiters[opening.end]
                _become(state, opening.token, "spoiler_open", 1)
                _become(state, closing.token, "spoiler_close", -1)


def _become(state: StateInline, index: int, kind: str, nesting: int) -> None:
    token = state.tokens[index]
    token.type, token.content = kind, ""
    token.nesting = 1 if nesting > 0 else -1
