"""Removes markup and separators of turns from text, for any later use.

Guaranteed: the result has no HTML tag, no separator of a chat format, no role at the beginning of a
line and no role as the language of a code fence; neither directly nor after entities, percent and
backslash escapes and compatibility characters are decoded, up to three times. It is idempotent, the
result is never longer, and the time is linear in the text.

Not guaranteed: other encodings (base64, rot13, homoglyphs), pieces that are joined with other text,
and the meaning of the words; `safety.injection_detection.detect` finds some of these.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from msgspec import Struct

from safety.decoding import Decoded, decoded
from safety.role_markers import find_sentinels

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


class _Tag(Struct, frozen=True):
    name: str
    closing: bool
    start: int
    end: int


def find_markup(text: str) -> Iterator[tuple[int, int]]:
    """Yield spans to remove, in no order; they may overlap."""
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
    matches = list(_TAG.finditer(text))
    closed = {match[2].lower() for match in matches if match[1]}
    for match in matches:
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
    """Return True for `<path>`, `List<Object>` and `Option<U>`, unless a closing tag follows."""
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
    """Return the span from an opening tag to the first closing one of its name."""
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


PASSES: Final = 8
"""The nesting of tags in tags from which all characters of markup are removed."""

_HARMLESS: Final = re.compile(r"[^<>\[\]&%\\:`~\x80-\U0010ffff]*\Z")
_MAKINGS: Final = frozenset("<>[]&%\\:`~|")


def sanitize(text: str) -> str:
    """Return the text without tags, dangerous blocks and separators of turns.

    Expects the result of `safety.unicode.safe_unicode`. Does not shorten.
    """
    for _ in range(PASSES):
        if _HARMLESS.match(text):
            return text
        plain = decoded(text)
        spans = _merged(_markup_spans(plain))
        if not spans:
            return text
        text = _without(text, spans)
    return _blunt(text)


def _markup_spans(plain: Decoded) -> Iterable[tuple[int, int]]:
    spans = chain(find_markup(plain.view), find_sentinels(plain.view))
    return (plain.span(begin, end) for begin, end in spans)


def _merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        elif begin < end:
            merged.append((begin, end))
    return merged


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    kept: list[str] = []
    begin = 0
    for start, end in spans:
        kept.append(text[begin:start])
        begin = end
    kept.append(text[begin:])
    return "".join(kept)


def _blunt(text: str) -> str:
    """Remove every character of markup, for nesting that people do not write."""
    plain = decoded(text)
    spans = [plain.span(i, i + 1) for i, char in enumerate(plain.view) if char in _MAKINGS]
    return _without(text, _merged(chain(spans, _literal(text))))


def _literal(text: str) -> Iterable[tuple[int, int]]:
    return ((i, i + 1) for i, char in enumerate(text) if char in _MAKINGS)
