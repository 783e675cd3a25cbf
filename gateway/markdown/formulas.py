"""Finds LaTeX formulas in Markdown, so that nothing in them is read as Markdown.

`$…$`, `$$…$$`, `\\(…\\)`, `\\[…\\]` and `\\begin{…}…\\end{…}` are formulas, and so are commands of
LaTeX without any of these around them. Prices, variables of a shell and escaped brackets are none.
"""

import re
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

from gateway.markdown import latex
from gateway.markdown.latex import MAX_DEPTH

MAX_ARGUMENT: Final = 2_000
"""Characters of an argument of a command that stands in prose. Ours."""

INLINE: Final = "formula"
BLOCK: Final = "formula_block"

_SEARCHED: Final = "formulas_searched_in"
_NEXT: Final = "ends_of_formulas"
_ABSENT_LINES: Final = "formula_blocks_not_ended"

ENDS: Final = re.compile(r"\$(?:(?:th|st|nd|rd|s)\b|(?![A-Za-z0-9]))")
"""A dollar sign that may end a formula: a text without any, and without a backslash, has none."""

_ENVIRONMENT_NAMES: Final = "|".join(sorted(latex.ENVIRONMENTS | latex.OTHER_ENVIRONMENTS))
_BEGIN: Final = re.compile(rf"\\begin\{{({_ENVIRONMENT_NAMES})(\*?)\}}")
_DOLLAR: Final = re.compile(r"\\[^\n]|\$|`|\n[ \t]*\n")
_QUOTED: Final = re.compile(r"\$`([^`\n]{1,2000})`\$")
_BLANK_LINE: Final = re.compile(r"\n[ \t]*\n")
_AFTER: Final = re.compile(r"(?:th|st|nd|rd|s)\b|(?![A-Za-z0-9_{$])")
_PART: Final = re.compile(r"(?:[_^](?:\{[^{}]*\}|[A-Za-z0-9]+|\\[A-Za-z]+))+")
"""A raised or lowered part of a word outside of the formula: H$_2$O."""
_UNIT: Final = re.compile(r"[A-Za-z]")
_COMMAND: Final = re.compile(r"\\([A-Za-z]+)")
_CALL: Final = re.compile(r"\\([A-Za-z]{2,})(?![A-Za-z])")
_BRACED: Final = re.compile(r"[{}]|\\[^A-Za-z]")
_SCRIPT: Final = re.compile(r"[_^](?:\\[A-Za-z]+|[A-Za-z0-9])")
_ESCAPE: Final = re.compile(r"\\[^A-Za-z]")
_MAY_PRECEDE_COMMAND: Final = re.compile(r"[^A-Za-z:/\\._~-]|\Z")
_ALONE: Final = frozenset((*latex.SYMBOLS, *latex.SPACED, *latex.FUNCTIONS))
"""Commands that are a formula without arguments."""
_IN_ROW: Final = re.compile(r"\$[^$`]+\$|(?<!\\)\\\((?:[^\\\n]|\\[^()\n])*+\\\)")
_BAR: Final = re.compile(r"(?<!\\)\|")
_ARGUMENTS: Final = 4
_END: Final = re.compile(r"\s*+[.,;:!?。，]?+\s*+")


def add_to(md: MarkdownIt) -> None:
    """Let a parser find formulas. Raises nothing."""
    md.block.ruler.before(
        "fence", BLOCK, _block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    md.inline.ruler.before("escape", INLINE, _inline)


def _inline(state: StateInline, silent: bool) -> bool:
    char = state.src[state.pos]
    if char == "$":
        return _dollars(state, silent)
    if char != "\\":
        return False
    following = state.src[state.pos + 1 : state.pos + 2]
    if following == "(":
        return _bracketed(state, silent, r"\)")
    if following == "[":
        return _bracketed(state, silent, r"\]")
    if begin := _BEGIN.match(state.src, state.pos):
        end = _find(state, f"\\end{{{begin[1]}{begin[2]}}}", begin.end())
        if end >= 0:
            end += len(begin[1]) + len(begin[2]) + 6
            return _emit(state, silent, state.src[state.pos : end], end)
        return False
    return _command(state, silent)


def _emit(state: StateInline, silent: bool, source: str, end: int) -> bool:
    if not silent:
        state.push(INLINE, "", 0).content = source.strip()
    state.pos = end
    return True


def _find(state: StateInline, closing: str, start: int) -> int:
    """Return where a formula ends, -1 if it does not. No part of a text is searched twice."""
    if state.env.get(_SEARCHED) is not state.src:
        state.env[_SEARCHED], state.env[_NEXT] = state.src, {}
    known: dict[str, tuple[int, int]] = state.env[_NEXT]
    searched, end = known.get(closing, (len(state.src) + 1, 0))
    if start < searched or 0 <= end < start:
        end = state.src.find(closing, start)
        known[closing] = start, end
    return end if end + len(closing) <= state.posMax else -1


def _dollars(state: StateInline, silent: bool) -> bool:
    start = state.pos
    run = len(state.src[start : start + 3]) - len(state.src[start : start + 3].lstrip("$"))
    if run > 2:
        return _literal_dollars(state, silent)
    if quoted := _QUOTED.match(state.src, start, state.posMax):
        return _emit(state, silent, quoted[1], quoted.end())
    before, after = state.src[start - 1 : start], state.src[start + run : start + run + 1]
    attached = before.isascii() and before.isalnum()
    if attached and (run == 2 or after not in ("_", "^")):
        return False
    end = _closing_dollar(state, start + run, run)
    if end < 0:
        return False
    source = state.src[start + run : end]
    if run == 1 and not (_PART.fullmatch(source) if attached else _ends_well(state, source, end)):
        return False
    return is_formula(source) and _emit(state, silent, source, end + run)


def _ends_well(state: StateInline, source: str, end: int) -> bool:
    """Return True if the sign at `end` may end a formula that begins with one dollar sign."""
    padded = source[0].isspace(), source[-1].isspace()
    followed = not _AFTER.match(state.src, end + 1)
    if padded[0] != padded[1] or (followed and not _UNIT.match(state.src, end + 1)):
        return False
    if followed and not _COMMAND.search(source):
        return False
    return not padded[0] or has_latex(source)


def _literal_dollars(state: StateInline, silent: bool) -> bool:
    end = state.pos
    while end < state.posMax and state.src[end] == "$":
        end += 1
    if not silent:
        state.append_pending(state.src[state.pos : end])
    state.pos = end
    return True


def _closing_dollar(state: StateInline, start: int, run: int) -> int:
    for match in _DOLLAR.finditer(state.src, start, state.posMax):
        if match[0] == "$":
            follows = state.src.startswith("$", match.end())
            if match.start() == start or (run == 2) != follows:
                return -1
            return match.start()
        if match[0][0] in "`\n":
            return -1
    return -1


def _bracketed(state: StateInline, silent: bool, closing: str) -> bool:
    start = state.pos + 2
    end = _find(state, closing, start)
    if end < 0:
        return False
    if state.src.find(state.src[state.pos : start], start, end) >= 0:
        return False
    source = state.src[start:end]
    if _BLANK_LINE.search(source) or not is_formula(source):
        return False
    bare = _ESCAPE.sub(" ", source)
    if not has_latex(bare) and not has_operator(bare):
        before = state.src[state.pos - 1 : state.pos]
        if closing == r"\]" or (before.isascii() and before.isalnum()):
            return False
    return _emit(state, silent, source, end + 2)


def with_escaped_bars(row: str) -> str:
    """Return a row of a table whose formulas do not divide it into cells."""
    return _IN_ROW.sub(_escape_bars, row)


def _escape_bars(match: re.Match[str]) -> str:
    source = match[0].strip("$") if match[0][0] == "$" else match[0][2:-2]
    return _BAR.sub(r"\\|", match[0]) if is_formula(source) else match[0]


def _command(state: StateInline, silent: bool) -> bool:
    """Read commands that stand in prose, with their arguments."""
    start = end = state.pos
    if not _MAY_PRECEDE_COMMAND.match(state.src[start - 1 : start] if start else ""):
        return False
    while name := _CALL.match(state.src, end, state.posMax):
        after = _arguments(state, name.end())
        if name[1] not in _ALONE and after == name.end():
            break
        end = after
    if end == start or state.src.startswith("\\", end):
        return False
    return _emit(state, silent, state.src[start:end], end)


def _arguments(state: StateInline, position: int) -> int:
    """Return the end of the groups and scripts at a position."""
    for _ in range(_ARGUMENTS):
        following = state.src[position : position + 2]
        script = _SCRIPT.match(state.src, position, state.posMax)
        if script:
            position = script.end()
            continue
        skip = 1 if following in ("_{", "^{") else 0
        if following[skip : skip + 1] != "{":
            break
        end = _group_end(state, position + skip)
        if end < 0:
            break
        position = end
    return position


def _group_end(state: StateInline, position: int) -> int:
    depth = 0
    last = min(position + MAX_ARGUMENT, state.posMax)
    for match in _BRACED.finditer(state.src, position, last):
        depth += (match[0] == "{") - (match[0] == "}")
        if not depth:
            return match.end()
        if depth > MAX_DEPTH:
            break
    return -1


def _block(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """Read a formula of several lines, whatever its lines begin with."""
    begin = state.bMarks[start_line] + state.tShift[start_line]
    if state.src[begin : begin + 1] not in ("$", "\\") or state.is_code_block(start_line):
        return False
    opening = _opening(state.src, begin, state.eMarks[start_line])
    if opening is None:
        return False
    closing, content, alone = opening
    if closing in state.src[content : state.eMarks[start_line]]:
        return False
    line = _closing_line(state, (start_line + 1, end_line), closing, alone)
    if line < 0:
        return False
    last = state.getLines(line, line + 1, 0, False)
    inside, _, rest = last.partition(closing)
    if not _END.fullmatch(rest):
        return False
    keeps = closing.startswith("\\end")
    body = state.getLines(start_line, line, state.blkIndent, False).lstrip()
    body = body if keeps else body[2:]
    if not f"{body}{inside}".strip():
        return False
    if not silent:
        tail = f"{inside}{closing}" if keeps else inside
        token = state.push(BLOCK, "", 0)
        token.content = f"{body}\n{tail}{rest.strip()}".strip("\n")
        token.map = [start_line, line + 1]
    state.line = line + 1
    return True


def _opening(src: str, begin: int, end: int) -> tuple[str, int, bool] | None:
    """Return the closing sign, where the content begins, and whether the sign stands alone."""
    if src.startswith("$$", begin):
        closing, content = "$$", begin + 2
    elif src.startswith("\\[", begin):
        closing, content = "\\]", begin + 2
    elif environment := _BEGIN.match(src, begin, end):
        closing, content = f"\\end{{{environment[1]}{environment[2]}}}", environment.end()
    else:
        return None
    return closing, content, not src[content:end].strip() or closing.startswith("\\end")


def _closing_line(state: StateBlock, lines: tuple[int, int], closing: str, alone: bool) -> int:
    """Return the line with the closing sign, -1 if there is none. Each sign is searched once."""
    known: dict[str, int] = state.env.setdefault(_ABSENT_LINES, {})
    key = f"{closing} {lines[1]} {state.blkIndent}"
    if known.get(key, lines[1]) <= lines[0]:
        return -1
    again = (r"\[", closing.replace("end", "begin"))
    for line in range(*lines):
        blank = state.isEmpty(line)
        if (blank and not alone) or (not blank and state.sCount[line] < state.blkIndent):
            return -1
        if closing in state.src[state.bMarks[line] : state.eMarks[line]]:
            return line
        begin = state.bMarks[line] + state.tShift[line]
        if line > lines[0] and state.src.startswith(again, begin):
            return -1
    known[key] = lines[0]
    return -1


_NAME: Final = re.compile(r"\\[A-Za-z]+\*?")
_TEXTS: Final = re.compile(r"\\(?:text\w*|mbox|operatorname|math\w+)\s*\{[^{}]*\}")
_WORDS: Final = re.compile(r"[^\W\d_]{2,}")
_PROSE: Final = re.compile(
    r"(?<![^\W\d_])[^\W\d_]{2,}+[,.;:!?]?\s++(?:[^\W\d_]{2,}|\d|[^\W\d_]\s++[^\W\d_]{2,})"
    r"|[\d)][,.;:]?\s++[^\W\d_]{2,}"
)
_LATEX: Final = re.compile(r"\\[A-Za-z{}|,;!%]|[\^]|[A-Za-z0-9)}\]]_[A-Za-z0-9{\\]")
_MARKDOWN_ESCAPE: Final = re.compile(r"(?<!\\)\\[*.+\-<>@?~`]")
"""Escapes of Markdown that mean nothing in a formula: what holds one is text."""
_RELATION: Final = re.compile(r"[=<>≤≥≠≈∈→±×·⋅+*/^]|(?<=\w)\s*[-−]\s*(?=\w)")
_OPERAND: Final = re.compile(r"\w")
_DANGLING: Final = re.compile(r"^\s*(?:[)\]*/,;.]|\|[^|]*$)|[-+*/=<>,;:(\[]\s*$")
_SHORT: Final = re.compile(r"\s*[A-Za-z]{1,2}'*\s*|\s*[A-Z]{3}\s*")
_NUMBER: Final = re.compile(r"\s*[-+]?\d[\d.,]*\s*")


def is_formula(source: str) -> bool:
    """Return True if the text between two signs is a formula rather than prose or a price."""
    bare = _NAME.sub(" ", _TEXTS.sub(" ", source))
    if not source.strip() or _PROSE.search(bare) or _MARKDOWN_ESCAPE.search(source):
        return False
    if _LATEX.search(source):
        return True
    if not _OPERAND.search(source) or _DANGLING.search(source) or not _balanced(source):
        return False
    if any(len(word) > 3 for word in _WORDS.findall(bare)):
        return bool(_RELATION.search(source))
    return bool(
        _SHORT.fullmatch(source)
        or _NUMBER.fullmatch(source)
        or _RELATION.search(source)
        or not _WORDS.search(bare)
    )


def has_latex(source: str) -> bool:
    """Return True for commands, raised and lowered parts."""
    return bool(_LATEX.search(source))


def has_operator(source: str) -> bool:
    """Return True for a sign of calculation or comparison."""
    return bool(_RELATION.search(source))


def _balanced(source: str) -> bool:
    return source.count("(") + source.count("[") == source.count(")") + source.count("]")
