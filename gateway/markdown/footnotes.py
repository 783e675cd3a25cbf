"""The parser's rules for footnotes: `[^1]` is shown as `[1]`, where it is used and at its text."""

import re
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline

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
