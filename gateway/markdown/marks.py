"""The parser's rules for bold, italic, strikethrough and spoilers."""

from typing import Final

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Delimiter

from gateway.markdown.flanking import flanks

_EMPHASIS: Final = "*_"
_PAIRED: Final = "~|"
_BAR: Final = ord("|")


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
            if opening.marker == _BAR and opening.end != -1:
                closing = delimiters[opening.end]
                _become(state, opening.token, "spoiler_open", 1)
                _become(state, closing.token, "spoiler_close", -1)


def _become(state: StateInline, index: int, kind: str, nesting: int) -> None:
    token = state.tokens[index]
    token.type, token.content = kind, ""
    token.nesting = 1 if nesting > 0 else -1
