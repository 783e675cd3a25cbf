"""Where HTML stands in a text: tags, comments, and blocks that go with their content.

What browsers treat as a tag is one; generics (`List<String>`), comparisons, autolinks and
placeholders (`<path>`) are not. A name that HTML shares with everyday placeholders counts only
with an attribute or a closing tag: without both it does nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_BLOCK_NAMES: Final = """
    script style iframe object embed applet frameset noframes noembed noscript template svg math
    xmp plaintext textarea
"""
BLOCKS: Final = frozenset(_BLOCK_NAMES.split())
"""Elements that are removed with everything up to their closing tag."""

_ALWAYS_NAMES: Final = """
    a abbr acronym animate animatemotion animatetransform article aside audio b basefont bdi bdo
    bgsound big blink blockquote body br button canvas caption center cite col colgroup dd del
    details dfn dialog dir div dl dt em fieldset figcaption figure font footer foreignobject form
    frame h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins isindex kbd keygen
    layer legend li main maction marquee menu menuitem meta meter mglyph ml mtext multicol nav
    nobr ol optgroup p picture portal pre progress q rp rt ruby s samp search select slot small
    span strike strong sub sup table tbody td tfoot th thead tr tt u ul video wbr
"""
_ALWAYS: Final = (BLOCKS - {"object"}) | frozenset(_ALWAYS_NAMES.split())
_AMBIGUOUS_NAMES: Final = """
    address area base code command content data datalist feimage filter image label line link
    listing map mark mask object option output param path pattern rect section set source summary
    switch symbol text time title track use var view circle g defs stop
    admin bible brief context developer document documents heartbeat instruction instructions
    knowledge material memories memory message prompt soul tool tools user
"""
_AMBIGUOUS: Final = frozenset(_AMBIGUOUS_NAMES.split())
_TAG: Final = re.compile(r"<(/?)([A-Za-z][\w:.-]{0,40})(?=[\s/>]|$)([^<>]*)(>|(?=<)|$)")
_SPACED: Final = re.compile(
    r"<\s{1,20}/?\s{0,20}(?i:script|style|iframe|object|embed|svg|img|form)(?=[\s/>])[^<>]*>"
    r"|</\s{1,20}(?i:script|style|iframe|object|embed|svg|form)(?=[\s/>])[^<>]*>"
)
_COMMENT: Final = re.compile(r"<!--|--!?>|<!(?=[A-Za-z\[])[^<>]*>|<\?(?i:xml|import)[^<>]*>")
_ACTIVE: Final = re.compile(
    r"(?i)(?:^|[\s/\"'])(?:on[a-z]{3,30}|style|href|src|srcdoc|srcset|action|formaction|data|"
    r"background|poster|xlink:href|xmlns|type|content|to|from|values)[\s/]*="
)
_ATTRIBUTE: Final = re.compile(r"[\w:@.-][\s/]*=")
_LINK_SCHEME: Final = re.compile(
    r"(\]\(\s*<?|\]:\s{0,9}<?|(?:href|src|action)\s*=\s*(?:[\"']\s*)?)"
    r"((?:j\s*a\s*v\s*a|v\s*b)\s*s\s*c\s*r\s*i\s*p\s*t\s*:|data\s*:\s*text/html)",
    re.IGNORECASE,
)
_AT_ADDRESS: Final = re.compile(r"[\w\s.]* at 0x[0-9a-fA-F]+$")


@dataclass(frozen=True, slots=True)
class _Tag:
    name: str
    closing: bool
    start: int
    end: int


def find_markup(text: str) -> Iterator[tuple[int, int]]:
    """Spans to remove, in no order; they may overlap."""
    for link in _LINK_SCHEME.finditer(text):
        yield link.span(2)
    if "<" not in text:
        return
    tags = list(_tags(text))
    yield from ((tag.start, tag.end) for tag in tags)
    yield from _blocks(tags)
    yield from _comments(text)
    for spaced in _SPACED.finditer(text):
        yield spaced.span()


def _tags(text: str) -> Iterator[_Tag]:
    found = list(_TAG.finditer(text))
    closed = {match[2].lower() for match in found if match[1]}
    for match in found:
        name = match[2].lower()
        if _is_tag(match, name, name in closed):
            yield _Tag(name, bool(match[1]), match.start(), _end(match))


def _is_tag(match: re.Match[str], name: str, closed: bool) -> bool:
    rest, ended = match[3], match[4] == ">"
    if not ended:
        # A browser takes what follows for attributes, up to the next ">" of the page around it.
        return name in BLOCKS or bool(_ACTIVE.search(rest))
    if name in BLOCKS and name != "object":
        return True
    plain = not rest.strip(" \t\r\n/")
    if name in _ALWAYS or name in _AMBIGUOUS:
        if plain:
            return not _is_placeholder(match, name, closed)
        named = len(name) > 1 and name in _ALWAYS
        return bool(named or _ATTRIBUTE.search(rest) or (closed and not _AT_ADDRESS.match(rest)))
    return bool(_ACTIVE.search(rest))


def _is_placeholder(match: re.Match[str], name: str, closed: bool) -> bool:
    """True for `<path>`, `List<Object>` and `Option<U>`, as long as nothing closes them."""
    if match[1] or closed:
        return False
    if name in _AMBIGUOUS:
        return True
    before = match.string[match.start() - 1 : match.start()]
    in_a_type = before.isalnum() or before in {"_", "]"}
    return match[2][0].isupper() and (in_a_type or len(name) == 1)


def _end(match: re.Match[str]) -> int:
    """A tag without an end reaches to the end of its line."""
    if match[4] == ">":
        return match.end()
    line = match.string.find("\n", match.start(), match.end())
    return match.end() if line < 0 else line


def _blocks(tags: list[_Tag]) -> Iterator[tuple[int, int]]:
    """From an opening tag to the first closing one of its name behind it."""
    closing: dict[str, _Tag] = {}
    for tag in reversed(tags):
        if tag.name not in BLOCKS:
            continue
        if tag.closing:
            closing[tag.name] = tag
        elif tag.name in closing:
            yield tag.start, closing[tag.name].end


def _comments(text: str) -> Iterator[tuple[int, int]]:
    opened: int | None = None
    for mark in _COMMENT.finditer(text):
        if mark[0] == "<!--":
            yield mark.span()
            opened = mark.start() if opened is None else opened
        elif mark[0].startswith("--"):
            if opened is not None:
                yield opened, mark.end()
            opened = None
        else:
            yield mark.span()
