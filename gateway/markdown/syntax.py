"""What we add to CommonMark: spoilers, bare addresses, images as links, bounded nesting."""

import re
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline, link
from markdown_it.rules_inline.state_inline import Delimiter

from gateway.markdown.limits import MAX_CONTAINERS
from gateway.markdown.table_syntax import read_table

_PIPE: Final = ord("|")
_SCHEMES: Final = ("https", "http")
_ADDRESS: Final = re.compile(r"://[^\s<>\"`|\\\[\]]{1,2000}")
_TRAILING: Final = ".,;:!?'*_~"


def parser(*, links: bool = True) -> MarkdownIt:
    """CommonMark with tables, strikethrough and the rules here; HTML stays text."""
    # maxNesting also bounds brackets within brackets; above it the parser drops text, so our own
    # rule for blocks has to be reached first.
    options = {"html": False, "maxNesting": MAX_CONTAINERS + 4, "inline_definitions": True}
    md = MarkdownIt("commonmark", options).enable(["table", "strikethrough"])
    md.block.ruler.before("table", "too_deep", _too_deep)
    md.block.ruler.at("table", read_table, {"alt": ["paragraph", "reference"]})
    md.inline.ruler.at("image", _image)
    md.inline.ruler.before("strikethrough", "bare_address", _bare_address)
    md.inline.ruler.before("strikethrough", "spoiler", _spoiler)
    md.inline.ruler2.before("strikethrough", "spoiler", _pair_spoilers)
    md.inline.add_terminator_char("|")
    return md if links else md.disable(["link", "image"])


def _too_deep(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    if silent or state.level < MAX_CONTAINERS:
        return False
    token = state.push("fence", "code", 0)
    token.content = state.getLines(start_line, end_line, 0, False)
    token.meta["literal"] = True
    state.line = end_line
    return True


def _image(state: StateInline, silent: bool) -> bool:
    """Read `![text](address)` as a link; its text is read once, whatever it nests."""
    start = state.pos
    if not state.src.startswith("![", start):
        return False
    state.pos = start + 1
    if link(state, silent):
        return True
    state.pos = start
    return False


def _bare_address(state: StateInline, silent: bool) -> bool:
    if state.linkLevel > 0 or not state.src.startswith("://", state.pos):
        return False
    scheme = next((s for s in _SCHEMES if state.pending.endswith(s)), "")
    before = state.pending[: -len(scheme)][-1:] if scheme else ""
    match = _ADDRESS.match(state.src, state.pos, state.posMax)
    if not scheme or before.isalnum() or match is None:
        return False
    rest = _without_punctuation(match.group())
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


def _without_punctuation(address: str) -> str:
    """Leave a sentence's own punctuation, and a bracket that was opened before it, outside."""
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


def _spoiler(state: StateInline, silent: bool) -> bool:
    if silent or not state.src.startswith("||", state.pos):
        return False
    scanned = state.scanDelims(state.pos, True)
    pairs, odd = divmod(scanned.length, 2)
    if odd:
        state.push("text", "", 0).content = "|"
    for _ in range(pairs):
        state.push("text", "", 0).content = "||"
        state.delimiters.append(
            Delimiter(
                marker=_PIPE,
                length=0,
                token=len(state.tokens) - 1,
                end=-1,
                open=scanned.can_open,
                close=scanned.can_close,
            )
        )
    state.pos += scanned.length
    return True


def _pair_spoilers(state: StateInline) -> None:
    groups = [state.delimiters]
    groups += [meta["delimiters"] for meta in state.tokens_meta if meta and "delimiters" in meta]
    for delimiters in groups:
        for opening in delimiters:
            if opening.marker == _PIPE and opening.end != -1:
                closing = delimiters[opening.end]
                _become(state, opening.token, "spoiler_open", 1)
                _become(state, closing.token, "spoiler_close", -1)


def _become(state: StateInline, index: int, kind: str, nesting: int) -> None:
    token = state.tokens[index]
    token.type, token.content = kind, ""
    token.nesting = 1 if nesting > 0 else -1
