"""HTML tags that models write, and the parser's rule for those within a paragraph.

A tag is read by its meaning where it is one: its name is known, its attributes have values, and its
other half is in the same text. Everything else in angle brackets is text: `List<String>`,
`<your-name>`, `a <b and c> d`.
"""

import html
import re
from collections.abc import Mapping
from typing import Final

from markdown_it.rules_inline import StateInline

from gateway.markdown.latex import LOWERED, RAISED


def raised(text: str) -> str:
    """Return a text in raised characters, `^(text)` where one has none."""
    return _shifted(text, RAISED, "^")


def lowered(text: str) -> str:
    """Return a text in lowered characters, `_(text)` where one has none."""
    return _shifted(text, LOWERED, "_")


def _shifted(text: str, table: Mapping[str, str], sign: str) -> str:
    text = text.replace("\u2212", "-")
    if all(char in table or char in " ." for char in text):
        return "".join(table.get(char, char) for char in text)
    return f"{sign}{text}" if len(text) == 1 else f"{sign}({text})"


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


BREAKS: Final = _names(
    "p div ul ol dl table tr blockquote h1 h2 h3 h4 h5 h6 pre summary details section article "
    "header footer center figure figcaption dt dd caption li hr"
)
"""Elements that begin on a new line."""
BLOCKS: Final = BREAKS | _names("thead tbody tfoot td th main nav aside address")
"""Elements that contain lines."""

_NOTHING: Final = _names("span font small big label abbr time nobr bdi bdo ruby rt rp")
_STYLES: Final = {
    **dict.fromkeys(("b", "strong"), "strong"),
    **dict.fromkeys(("i", "em", "cite", "dfn"), "em"),
    **dict.fromkeys(("s", "del", "strike"), "s"),
    **dict.fromkeys(("u", "ins", "mark"), "underline"),
}
_CODE: Final = frozenset(("code", "kbd", "samp", "tt", "var"))
_SHIFTED: Final = {"sup": raised, "sub": lowered}
ELEMENTS: Final = frozenset((*_STYLES, *_NOTHING, *BLOCKS, *_CODE, *_SHIFTED)) | {"a"}
"""Elements with a beginning and an end."""
_ALONE: Final = frozenset(("br", "hr", "img", "wbr"))
MAX_TAG: Final = 2_000
"""Characters of a tag or a comment; a longer one is text. Ours: the filter of answers looks as far
behind one for the rest of a secret."""
_QUOTED: Final = r"\"[^\"<>]{0,2000}\"|'[^'<>]{0,2000}'|[^\s\"'=<>`]{1,200}"
_SWITCHES: Final = r"(?:open|reversed|nowrap|hidden|noshade|compact)(?![\w:=-])"
_ATTRIBUTES: Final = rf"(?:\s+(?:{_SWITCHES}|[A-Za-z][\w:-]{{0,40}}=(?:{_QUOTED}))){{0,12}}"
TAG: Final = re.compile(
    rf"<(?P<close>/?)(?=[^<>]{{0,{MAX_TAG}}}>)(?P<name>[A-Za-z][A-Za-z0-9]{{0,10}})"
    rf"(?P<attributes>{_ATTRIBUTES})\s{{0,8}}/?>"
)
"""A tag. Attributes have values, or are words of HTML, so that `a <b and c> d` is none."""
_LONGEST_ELEMENT: Final = 2_000
"""Characters of code, or of raised text, in one element."""
_MOST_OPEN: Final = 8
_VALUE: Final = re.compile(r"(?<![\w:-])([\w:-]++)=(?:\"([^\"]*)\"|'([^']*)'|(\S+))")
_OPENED: Final = "html_opened"
OPENED_BLOCKS: Final = "html_opened_blocks"
"""Key of the names of elements that began on lines before, in the parser's environment."""


def attribute(tag: re.Match[str], name: str) -> str:
    """Return the value of an attribute of a `TAG`, empty for none."""
    for match in _VALUE.finditer(tag["attributes"]):
        if match[1].lower() == name:
            return html.unescape(match[2] or match[3] or match[4] or "")
    return ""


def html_inline(state: StateInline, silent: bool) -> bool:
    """Read a tag or a comment within a paragraph."""
    if state.src[state.pos] != "<":
        return False
    if state.src.startswith("<!--", state.pos):
        return _comment(state)
    tag = TAG.match(state.src, state.pos, state.posMax)
    if tag is None:
        return False
    name, closes = tag["name"].lower(), bool(tag["close"])
    if name in _ALONE:
        read = _alone(state, tag, name, silent)
    elif closes:
        read = _end(state, name, silent)
    elif name in _CODE or name in _SHIFTED:
        read = _element(state, tag, name, silent)
    else:
        read = _begin(state, tag, name, silent)
    if read:
        state.pos = max(state.pos, tag.end())
    return read


def _comment(state: StateInline) -> bool:
    begin = state.pos + len("<!--")
    if state.html_terminator_last("-->") < begin:
        return False
    end = state.src.find("-->", begin, min(begin + MAX_TAG, state.posMax))
    if end < 0 or state.src.find("<!--", begin, end) >= 0:
        return False
    state.pos = end + len("-->")
    return True


def _alone(state: StateInline, tag: re.Match[str], name: str, silent: bool) -> bool:
    if silent or name == "wbr":
        return True
    if name == "img":
        source, text = attribute(tag, "src"), attribute(tag, "alt")
        if not (source and state.md.validateLink(source)):
            state.push("text", "", 0).content = text
            return True
        _open_link(state, source)
        state.push("text", "", 0).content = text
        state.push("link_close", "a", -1)
        return True
    state.push("break" if name == "br" else "edge", name, 0)
    return True


def _element(state: StateInline, tag: re.Match[str], name: str, silent: bool) -> bool:
    """Read an element whose content is text."""
    ending = f"</{tag['name']}>"
    last = min(tag.end() + _LONGEST_ELEMENT, state.posMax)
    end = state.src.find(ending, tag.end(), last)
    inside = state.src[tag.end() : end]
    if end < 0 or (name in _SHIFTED and any(sign in inside for sign in "[<`")):
        # A link or another tag inside counts more than the shape of the letters.
        return _begin(state, tag, name, silent)
    if not silent:
        text = html.unescape(inside)
        if name in _CODE:
            state.push("code_inline", "code", 0).content = " ".join(text.split())
        else:
            shown = text.strip()
            state.push("text", "", 0).content = _SHIFTED[name](shown.strip("*_") or shown)
    state.pos = end + len(ending)
    return True


def _begin(state: StateInline, tag: re.Match[str], name: str, silent: bool) -> bool:
    address = attribute(tag, "href") if name == "a" else ""
    if (
        not ((name in ELEMENTS and name != "a") or address)
        or state.html_terminator_last(f"</{tag['name']}>") < tag.end()
    ):
        return False
    if silent:
        return True
    _opened(state).append(name)
    if address:
        # An address that runs something is no link; its text stays.
        _open_link(state, address if state.md.validateLink(address) else "")
        state.linkLevel += 1
    elif name in _STYLES:
        state.push(f"{_STYLES[name]}_open", name, 1)
    elif name in BREAKS:
        state.push("edge", name, 0)
        if name == "li":
            state.push("text", "", 0).content = "• "
    elif name in ("td", "th"):
        state.push("text", "", 0).content = " "
    return True


def _end(state: StateInline, name: str, silent: bool) -> bool:
    opened = _opened(state)
    if name not in opened[-_MOST_OPEN:]:
        # It may end what began in another paragraph.
        return name in state.env.get(OPENED_BLOCKS, ())
    if silent:
        return True
    while opened.pop() != name:
        pass
    if name == "a":
        state.push("link_close", "a", -1)
        state.linkLevel -= 1
    elif name in _STYLES:
        state.push(f"{_STYLES[name]}_close", name, -1)
    elif name in BREAKS:
        state.push("edge", name, 0)
    return True


def _open_link(state: StateInline, address: str) -> None:
    state.push("link_open", "a", 1).attrs = {"href": state.md.normalizeLink(address)}


def _opened(state: StateInline) -> list[str]:
    """Return the names of the elements that are open in this paragraph."""
    known = state.env.get(_OPENED)
    if known is None or known[0] is not state:
        known = state.env[_OPENED] = (state, [])
    names: list[str] = known[1]
    return names
