"""Removes markup and separators of turns from text, for any later use.

Guaranteed: the result has no HTML tag, no separator of a chat format, no role at the beginning of a
line and no role as the language of a code fence; neither directly nor after entities, percent and
backslash escapes and compatibility characters are decoded, up to three times. It is idempotent, the
result is never longer, and the time is linear in the text.

Not guaranteed: other encodings (base64, rot13, homoglyphs), pieces that are joined with other text,
and the meaning of the words; `safety.injection_detection.detect` finds some of these.

A text that holds a separator of turns can pretend to be somebody else's turn. The names are those
of ChatML, Llama, Mistral, Gemma, DeepSeek, Qwen, GLM, Kimi, Phi, Command, MiniMax, gpt-oss and
Claude.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from msgspec import Struct

from safety.decoding import Decoded, decoded

_PIPED_NAMES: Final = (
    "im_start|im_end|im_sep|im_middle|endoftext|endofprompt|end|start|system|user|assistant|tool|"
    "human|developer|begin_of_text|end_of_text|start_header_id|end_header_id|eot_id|eom_id|"
    "python_tag|channel|message|call|return|constrain|separator|eos|bos|eot|turn|think|observation|"
    "im_[a-z]{1,20}|[a-z_]{1,30}_(?:start|end|begin|token|id|turn)|"
    "fim_[a-z]{3,8}|recipient"
)
_TAG_NAMES: Final = (
    "start_of_turn|end_of_turn|bos|eos|sop|system|assistant|human|system-reminder|"
    "function_calls|function_results|tool_call|tool_calls|tool_response|tool_result|tool_use|"
    "think|thinking|pad|unk|mask|extra_id_[0-9]{1,3}|antml:[a-z_]{1,30}"
)
_BRACKET_NAMES: Final = (
    "INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|THINK|gMASK"
)
_MARKER: Final = re.compile(
    rf"""
    <\s{{0,4}}\|\s{{0,4}}(?i:/?(?:{_PIPED_NAMES}))\s{{0,4}}\|[\s/]{{0,4}}>   # <|im_start|>
    | <\s{{0,4}}\|[^\s<>|]{{1,64}}\|[\s/]{{0,4}}>                      # <|any_other|>
    | <\|(?i:{_PIPED_NAMES})>                                 # <|turn>
    | <(?i:{_PIPED_NAMES})\|>                                 # <turn|>
    | <\s*<\s*(?:/\s*)?(?i:SYS)\s*>\s*>                       # <<SYS>>
    | <\s{{0,4}}/?\s{{0,4}}(?i:{_TAG_NAMES})\s{{0,4}}/?>
    | </?(?i:antml:)?(?i:invoke|parameter)(?:[ \t]+(?i:name)=[^<>\n]{{0,100}})?>
    | <(?i:function|parameter)=[^<>\n]{{1,100}}> | </(?i:function)>
    | (?:(?<![\w\])])|(?!\[[ \t]*(?:/[ \t]*)?[a-z]+[ \t]*\]))     # x[inst] is an index
      \[[ \t]*(?:/[ \t]*)?(?i:{_BRACKET_NAMES})[ \t]*\]
    | \]~b\] | \[e~\[
    """,
    re.VERBOSE,
)
_ROLE: Final = re.compile(
    r"""
    (?:^|(?<=[\r\n]))[ \t>]{0,20}(?:\#{1,6}[ \t]{1,4})?[*_]{0,3}
    (?:(?:Human|Assistant|System|HUMAN|ASSISTANT|SYSTEM)[*_]{0,3}[ \t\xa0]{0,8}:
      |(?=[A-Za-z]{0,8}[a-z][A-Z])(?i:human|assistant|system)[*_]{0,3}:
      |\[(?i:human|assistant|system)\]:
      |(?:human|assistant|system)[*_]{0,3}:(?=[ \t]{0,8}(?:\S{1,40}[ \t]{1,8}){3}))
    [*_]{0,3}[ \t]*
    """,
    re.VERBOSE,
)
_ROLE_AGAIN: Final = re.compile(
    r"(?:[*_>\s]{0,20}(?i:Human|Assistant|System)[*_]{0,3}[ \t]{0,8}:[*_]{0,3}[ \t]*)*"
)
_FENCE_ROLE: Final = re.compile(
    r"(?:^|(?<=[\r\n]))[ \t>]{0,20}(?:`{3,}|~{3,})[ \t]*"
    r"((?i:system|assistant|user|human|tool|developer))(?![\w.+-])"
)


def find_sentinels(text: str) -> Iterator[tuple[int, int]]:
    """Return the places of separators of turns: markers, role prefixes at the beginning of a line,
    and code fences with a role as their language (only the word)."""
    if "<" in text or "[" in text or "]" in text:
        for marker in _MARKER.finditer(text):
            yield marker.span()
    if ":" in text:
        yield from _roles(text)
    if "```" in text or "~~~" in text:
        for fence in _FENCE_ROLE.finditer(text):
            yield fence.span(1)


def _roles(text: str) -> Iterator[tuple[int, int]]:
    role = _ROLE.search(text)
    while role:
        again = _ROLE_AGAIN.match(text, role.end())
        end = again.end() if again else role.end()
        yield role.start(), end
        role = _ROLE.search(text, end)


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
