"""The parser's rule for bare web addresses."""

import re
from typing import Final

from markdown_it.rules_inline import StateInline

from gateway.markdown.characters import UNSPACED, WIDE_PUNCTUATION, kind

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
