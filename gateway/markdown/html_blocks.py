"""The parser's rule for lines that begin with HTML.

Elements that contain lines are rewritten as Markdown, which is then parsed: lists, tables,
headings, quotes, code. A tag without a meaning for text, as `<div>`, is left out.
"""

import bisect
import html
import re
from typing import Final

from markdown_it.rules_block import StateBlock

from gateway.markdown.html_tags import BLOCKS, OPENED_BLOCKS, TAG, attribute

MAX_DEPTH: Final = 8
"""Levels of lists within lists, and of quotes within quotes, that are kept. Ours."""
MAX_NESTED: Final = 4
"""Elements within the text of an element that are read as such; deeper ones are text. Ours."""

_SHAPED: Final = frozenset(
    ("ul", "ol", "dl", "table", "blockquote", "pre", "h1", "h2", "h3", "h4", "h5", "h6")
)
"""Elements that are read as a whole, to their end."""
_HALVES: Final = {name: re.compile(rf"<(/?){name}[\s>]", re.IGNORECASE) for name in sorted(_SHAPED)}
_CODE: Final = r"(?P<code>(?<!`)(?P<fence>`++)[^`]{1,500}(?P=fence)(?!`))"
_PIECE: Final = re.compile(f"{_CODE}|{TAG.pattern}")
_COMMENT: Final = re.compile(f"{_CODE}|<!--")
_BEGIN: Final = re.compile(r"<(?:!--|/?[A-Za-z])")
_CLOSED: Final = "html_blocks_closed"
_NESTED: Final = "html_blocks_nested"
_COMMENT_END: Final = "html_comment_end"
_LANGUAGE: Final = re.compile(r"(?:language|lang)-(\S+)")
_BLANK_LINES: Final = re.compile(r"\n{3,}")
_START: Final = re.compile(r"[0-9]{1,9}")
"""The first number of a list, as Markdown takes it."""


def html_block(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Read the lines of an element, or one line of tags."""
    start, last = state.bMarks[start_line] + state.tShift[start_line], state.eMarks[start_line]
    if state.is_code_block(start_line) or not _BEGIN.match(state.src, start, last):
        return False
    if state.src.startswith("<!--", start):
        end, shown = _end_of_comment(state, start_line, end_line, start), False
    else:
        end, shown = _end_of_element(state, start_line, end_line, start), True
    if end <= start_line or state.env.get(_NESTED, 0) >= MAX_NESTED:
        return False
    if not silent:
        if shown:
            _parse_inside(state, start_line, end)
        state.line = end
    return True


def _parse_inside(state: StateBlock, start_line: int, end: int) -> None:
    """Parse what an element contains, in place of the element."""
    lines = _without_comments(state.getLines(start_line, end, state.blkIndent, False))
    markdown = _BLANK_LINES.sub("\n\n", Rewriter().rewrite(lines)).strip("\n")
    if not markdown.strip():
        return
    state.env[_NESTED] = state.env.get(_NESTED, 0) + 1
    state.md.block.parse(markdown, state.md, state.env, state.tokens)
    state.env[_NESTED] -= 1


def _without_comments(source: str) -> str:
    # What follows the last end holds no whole comment; to look there would take quadratic time.
    whole, shown, at = source.rfind("-->") + 3, list[str](), 0
    begun = 0
    while piece := _COMMENT.search(source, at, whole):
        at = piece.end()
        if piece["code"] is None and (end := source.find("-->", at)) >= 0:
            shown.append(source[begun : piece.start()])
            begun = at = end + 3
    return "".join((*shown, source[begun:]))


def _end_of_comment(state: StateBlock, start_line: int, end_line: int, start: int) -> int:
    """Return the line after a comment that nothing follows, or 0."""
    end = _comment_end(state, start + len("<!--"))
    line = bisect.bisect_right(state.bMarks, end) - 1
    if end < 0 or line >= end_line or state.src[end + len("-->") : state.eMarks[line]].strip():
        return 0
    return line + 1


def _comment_end(state: StateBlock, begin: int) -> int:
    """Return where the first end of a comment from a position on is, -1 for nowhere; no part of a
    text is searched twice."""
    known: tuple[str, int, int] = state.env.get(_COMMENT_END, ("", 0, -1))
    if known[0] is state.src and known[1] <= begin and not 0 <= known[2] < begin:
        return known[2]
    end = state.src.find("-->", begin)
    state.env[_COMMENT_END] = (state.src, begin, end)
    return end


def _end_of_element(state: StateBlock, start_line: int, end_line: int, start: int) -> int:
    """Return the line after the element or the tags that begin a line; 0 where they are text."""
    line_text = state.src[start : state.eMarks[start_line]]
    tag = TAG.match(line_text)
    if tag is None or tag["name"].lower() not in BLOCKS:
        return 0
    pieces = list(_PIECE.finditer(line_text))
    blocks = [one for one in pieces if (one["name"] or "").lower() in BLOCKS]
    inside = sum(len(one[0]) for one in blocks)
    if inside < len(line_text.rstrip()) and not _is_closed_later(state, start_line, tag):
        return 0
    opened: set[str] = state.env.setdefault(OPENED_BLOCKS, set())
    shaped = next(
        (one for one in blocks if one["name"].lower() in _SHAPED and not one["close"]), None
    )
    opened.update(one["name"].lower() for one in blocks)
    if shaped is None:
        return start_line + 1
    return _end_of_shaped(state, start_line, end_line, shaped["name"].lower())


def _end_of_shaped(state: StateBlock, start_line: int, end_line: int, name: str) -> int:
    """Return the line after the end of an element; of one that is not balanced, the last end in the
    text; without any, the next blank line."""
    half = _HALVES[name]
    last = _closed(state, f"</{name}>")
    depth, line = 0, start_line
    while line < end_line:
        text = state.src[state.bMarks[line] : state.eMarks[line]]
        if last < start_line and not text.strip():
            return line
        line += 1
        depth += sum(-1 if tag[1] else 1 for tag in half.finditer(f"{text}\n"))
        if depth <= 0 or line > last >= start_line:
            break
    return line


def _is_closed_later(state: StateBlock, line: int, tag: re.Match[str]) -> bool:
    name = tag["name"].lower()
    if tag["close"]:
        return name in state.env.get(OPENED_BLOCKS, ())
    return _closed(state, f"</{name}>") >= line


def _closed(state: StateBlock, ending: str) -> int:
    """Return the last line with an ending, -1 for none; looked for once in a text."""
    known: dict[tuple[str, str], int] = state.env.setdefault(_CLOSED, {})
    key = (state.src, ending)
    if key not in known:
        position = state.src.lower().rfind(ending)
        known[key] = state.src.count("\n", 0, position) if position >= 0 else -1
    return known[key]


def _first_number(tag: re.Match[str]) -> int:
    start = attribute(tag, "start")
    return int(start) if _START.fullmatch(start) else 1


class Rewriter:
    """Writes HTML as Markdown; tags within lines stay, as the rule for paragraphs reads them."""

    def __init__(self) -> None:
        self._out: list[str] = []
        self._text: list[str] = []
        self._lists: list[int | None] = []
        self._quotes = 0
        self._rows: list[list[str]] | None = None
        self._in_cell = False
        self._lead = ""

    def rewrite(self, source: str) -> str:
        """Return the Markdown."""
        position = 0
        while piece := _PIECE.search(source, position):
            self._text.append(source[position : piece.start()])
            position = piece.end()
            name = (piece["name"] or "").lower()
            if name == "pre" and not piece["close"]:
                position = self._preformatted(source, piece)
            elif name in BLOCKS or name == "br":
                self._tag(piece, name)
            else:
                self._text.append(piece[0])
        self._text.append(source[position:])
        if self._in_cell:
            self._end_cell()
        self._flush()
        self._table(closes=True)
        return "\n".join(self._out)

    def _tag(self, piece: re.Match[str], name: str) -> None:
        if name == "br" or (self._rows is not None and name not in ("table", "tr", "td", "th")):
            self._text.append(piece[0])
            return
        closes = bool(piece["close"])
        if name in ("td", "th"):
            self._cell(closes)
            return
        if self._in_cell:
            self._end_cell()
        self._flush()
        match name:
            case "ul" | "ol":
                self._list(closes, _first_number(piece) if name == "ol" else None)
            case "li" if not closes:
                self._item()
            case "blockquote":
                self._quotes += -1 if closes else 1
                self._quotes = max(self._quotes, 0)
            case "table":
                self._table(closes)
            case "tr" if self._rows is not None and not closes:
                self._rows.append([])
            case "summary" | "dt" | "caption" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" if (
                not closes
            ):
                self._lead = f"{'#' * int(name[1])} " if name[0] == "h" else "<b>"
            case "hr":
                self._write("---")
        if not self._lists:
            self._write("")

    def _flush(self) -> None:
        text = " ".join("".join(self._text).split())
        self._text.clear()
        lead, self._lead = self._lead, ("" if text else self._lead)
        if text:
            self._write(f"{lead}{text}{'</b>' if lead == '<b>' else ''}")

    def _write(self, line: str) -> None:
        depth = min(self._quotes, MAX_DEPTH)
        self._out.append(("> " * depth + line).rstrip(" ") if depth else line)

    def _list(self, closes: bool, number: int | None) -> None:
        if closes and self._lists:
            self._lists.pop()
        elif not closes and len(self._lists) < MAX_DEPTH:
            self._lists.append(number)

    def _item(self) -> None:
        depth = max(len(self._lists) - 1, 0)
        number = self._lists[-1] if self._lists else None
        marker = "- " if number is None else f"{number}. "
        if number is not None:
            self._lists[-1] = number + 1
        self._lead = "    " * depth + marker

    def _table(self, closes: bool) -> None:
        rows, self._rows = self._rows, None if closes else []
        rows = [row for row in rows or () if row]
        if not rows:
            return
        columns = max(map(len, rows))
        lines = [f"| {' | '.join(row + [''] * (columns - len(row)))} |" for row in rows]
        for line in (lines[0], f"|{'---|' * columns}", *lines[1:], ""):
            self._write(line)

    def _cell(self, closes: bool) -> None:
        """Begin or end a cell; `</td>` may be missing, and the whole table around one."""
        if self._rows is None:
            self._flush()
        elif closes or self._in_cell:
            self._end_cell()
        else:
            self._flush()
        self._in_cell = self._rows is not None and not closes

    def _end_cell(self) -> None:
        text = " ".join("".join(self._text).split())
        self._text.clear()
        self._in_cell = False
        if self._rows is not None:
            if not self._rows:
                self._rows.append([])
            self._rows[-1].append(text.replace("|", "\\|"))

    def _preformatted(self, source: str, opening: re.Match[str]) -> int:
        """Write code as a fence and return the position after it."""
        self._flush()
        end = source.lower().find("</pre>", opening.end())
        inside = source[opening.end() : end if end >= 0 else len(source)].strip("\n")
        tag = TAG.match(inside)
        language = ""
        if tag and tag["name"].lower() == "code":
            named = _LANGUAGE.search(attribute(tag, "class"))
            language = named[1] if named else ""
            inside = inside[tag.end() :].removesuffix("</code>")
        fence = "~" * max(3, *(len(run) + 1 for run in re.findall("~+", inside)), 3)
        for line in (
            f"{fence}{language}",
            *html.unescape(inside).strip("\n").split("\n"),
            fence,
            "",
        ):
            self._write(line)
        return end + len("</pre>") if end >= 0 else len(source)
