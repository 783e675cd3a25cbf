"""A value and its label: the connection between them, the layouts of a value after its label
(signs, calls, tables, sentences) and before it (`"…" == password`, "… is my password"), and its
end.

The finders read a bounded number of characters of each value, so that their time is linear. What
continues behind such a value, also on further lines, is a part of it.
"""

import re
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Final, NamedTuple

from safety.secret_detection.kinds import Level, SecretFinding
from safety.secret_detection.label_words import Class


class LabelForm(Enum):
    """The connection from a label to its value, the clearest first."""

    SIGN = "sign"
    LINK = "link"
    CALL = "call"
    CELL = "cell"
    LINE = "line"
    ADJACENT = "adjacent"
    BEFORE = "before"


class LabelledValue(NamedTuple):
    """A value at `begin` to `end` of `text` after the label `word` at `start`. `rest` is the rest
    of the label's name, `fillers` the words between the name and the value."""

    text: str
    kind: Class
    word: str
    start: int
    rest: str
    how: LabelForm
    begin: int
    end: int
    quoted: bool
    fillers: tuple[str, ...] = ()

    @property
    def value(self) -> str:
        """Return the value, without punctuation after a bare one."""
        return self.text[self.begin : self.end]


_SPACES: Final = re.compile(r"\s{0,40}(?:\*\*\s{0,4})?")
_OPEN: Final = re.compile(
    r"![\w/-]{1,20}\s|[|>][+-]?\d?[ \t]{0,4}\r?\n\s{1,40}|@(?=[\"'])|"
    r"[rbufL]#?(?=[\"'])|ConvertTo-SecureString\s(?:-String\s)?|"
    r"(?:new\s)?(?:\w{1,20}(?:\.|::)){0,2}"
    r"(?:Secret|SecretStr|SecretString|SecureString|String|from|str|Some|bytes|Text|Password|b64decode)\((?=[\"'])"
)
"""Texts that may precede a value besides spaces and emphasis: a YAML tag, the sign of a block in
YAML, the prefix of a literal, a function around a text."""
BLOCK: Final = re.compile(r"\s{0,4}[|>][+-]?\d?[ \t]{0,4}\r?\n")
"""The sign of a block in YAML: the lines behind it are the value."""
_DEFAULT: Final = re.compile(r"\$\{\w{1,60}:[-=]?(?P<value>[^}\s]{4,200})\}")
_BARE: Final = re.compile(r"[^\s\"'`<>()\[\]{},;|，。；、）」』】》”»]{1,400}")
_WIDE: Final = re.compile(r"[^\s\"'`]{4,400}(?=[ \t]{0,4}(?:\r?\n|\Z))")
_CODE_BEGIN: Final = re.compile(r"[\w.$]{2,60}[(\[{]")
_LINE_BEGIN: Final = 60
CLOSERS: Final = {
    '"': '"',
    "'": "'",
    "`": "`",
    "„": '“”"',
    "“": '”"',
    "«": "»",
    "‘": "’",
    "「": "」",
    "『": "』",
    "《": "》",
    "*": "*",
}
_MAX_VALUE: Final = 400
_BRACKET_SIGNS: Final = frozenset("<>()[]{},;|")


def value_at(text: str, place: int) -> tuple[int, int, bool] | None:
    """Return the span of a value at a place, and True if it is in quotes."""
    spaces = _SPACES.match(text, place)
    begin = spaces.end() if spaces is not None else place
    if text[begin : begin + 1] not in CLOSERS:
        opening = _OPEN.match(text, begin)
        begin = opening.end() if opening is not None else begin
    if text.startswith(('\\"', "\\'"), begin):
        end = text.find(text[begin : begin + 2], begin + 2, begin + _MAX_VALUE)
        return (begin + 2, end, True) if end > 0 else None
    if text.startswith("${", begin):
        default = _DEFAULT.match(text, begin)
        return (*default.span("value"), True) if default is not None else None
    closers = CLOSERS.get(text[begin : begin + 1])
    if closers is not None:
        limit = begin + _MAX_VALUE
        ends = [end for end in (text.find(c, begin + 1, limit) for c in closers) if end > 0]
        if ends and min(ends) > begin + 1 and "\n" not in text[begin : min(ends)]:
            return begin + 1, min(ends), True
        begin += 1
    bare = _BARE.match(text, begin)
    return (*bare.span(), False) if bare is not None else None


def _is_setting(before: str) -> bool:
    before = before.strip()
    return all(char.isalnum() or char in "_.-" for char in before.removeprefix("export "))


def _is_no_code(value: str) -> bool:
    return value[0] not in "{[(<$" and _CODE_BEGIN.match(value) is None


def ends_well(text: str, end: int, how: LabelForm) -> bool:
    """A call or an index behind the value makes it code; a cell ends with a bar or its line, and
    what has a line of its own with that line."""
    if how is LabelForm.CELL or how is LabelForm.LINE:
        rest = text[end : end + 80].split("\n", maxsplit=1)[0].strip()
        return not rest or (how is LabelForm.CELL and rest[0] == "|")
    return text[end : end + 1] not in {"(", "[", "{"}


def bare_end(text: str, start: int, begin: int, end: int, *, setting: bool) -> int:
    """Return the end of a value without quotes: the end of its line if it may be a `setting` with a
    name that begins at `start`, else the next punctuation."""
    if setting and text[end : end + 1] in _BRACKET_SIGNS:
        wide = _WIDE.match(text, begin)
        line = text.rfind("\n", max(0, start - _LINE_BEGIN), start) + 1
        if wide is not None and _is_setting(text[line:start]) and _is_no_code(wide[0]):
            return begin + len(wide[0].rstrip(",;"))
    while end > begin and text[end - 1] in ".,:!?&*~_":
        end -= 1
    return end


def element_at(text: str, place: int) -> tuple[int, int] | None:
    """Return the span of an element's text, behind the name of its tag at `place`; None if no tag
    ends there."""
    if text[place : place + 1] != ">":
        return None
    element = _ELEMENT.match(text, place)
    return element.span("value") if element is not None else None


TAIL: Final = re.compile(
    "(?P<rest>[\\w.\\-\u0300-\u036f\u064b-\u065f\u0900-\u0dff]{0,40})(?:\\[[^\\]\\s\"']{0,20}\\])?"
    "(?P<closed>[\\\\\"'`*)\\]»”]{0,4})"
)
"""The rest of a name, an index, and what closes it."""
_TYPE: Final = (
    r"(?:&?(?:'static\s)?(?:str|string|String|text|bytes|char|any|Any|SecretStr|NSString)"
    r"(?:\s?\|\s?(?:None|null|undefined))?|Optional\[str\])(?:\s?\*)?"
)
TYPED: Final = re.compile(rf"\s?:\s?{_TYPE}\s?=(?!=)|\s{_TYPE}\s?=(?!=)")
SIGN: Final = re.compile(
    r"\s{0,20}(?::{1,3}=|[.+]=|\?{1,2}=|=>|->|→|<-|[!=]={1,2}|\|\|=?|::?|=|：|＝|>|—|–|"
    r"(?<=\s)-(?=\s))"
)
PAIR: Final = re.compile(r"\s{0,2}[,(]\s{0,10}(?=[@\"']|[rbufL]#?[\"'])")
_ELEMENT: Final = re.compile(r">\s{0,40}(?P<value>[^\s<>][^<>]{2,4000}?)\s{0,40}</")
"""The text of an element, behind its name."""
_RETURNED: Final = re.compile(r"\([^()\n]{0,40}\)[^\n{};]{0,30}[{:]\s{0,20}return\s{1,4}(?=[\"'`])")
"""The value of a function in code, behind its name."""
_BAR: Final = re.compile(r"[ \t]{0,4}\|[ \t]{0,4}")
_NAMED: Final = re.compile(
    r",?\s{0,20}\\?[\"']?value\\?[\"']?\s{0,4}[:=]|</(?:key|name)>\s{0,20}<(?:string|value)>|"
    r"\s{0,4}\{\s{0,8}(?:(?:type|description|sensitive)\s{0,8}=[^\n]{0,80}\n\s{0,8}){0,2}"
    r"default\s{0,8}="
)
"""The value of a pair in JSON, XML and property lists, the default of a variable in HCL."""
_LINE: Final = re.compile(r"[ \t]{0,4}\r?\n")
QUOTED_NEXT: Final = re.compile(r"[ \t]{1,2}(?=@?[\"'`„“«‘「『])")
TOKEN: Final = re.compile(
    r"[ \t\u00a0]{1,4}(?P<word>(?:[^\s\"'`«»“”„‘’「」『』:：=()<>|,;،。，]|"
    r"(?<=\w)['’](?=\w)){1,120})"
)
LAYOUTS: Final = (
    (PAIR, LabelForm.CALL),
    (_RETURNED, LabelForm.CALL),
    (_NAMED, LabelForm.SIGN),
    (_BAR, LabelForm.CELL),
    (_LINE, LabelForm.LINE),
    (QUOTED_NEXT, LabelForm.CALL),
)
LAYOUT_AHEAD: Final = re.compile(r"[^\S\n]{0,10}(?:[\n,(|@{\"'`„“«‘「『\\]|value|</)|[^\S\n]{11}")
"""Begins all of them."""
LOOSE: Final = frozenset({_LINE, QUOTED_NEXT})


_OF_BEFORE_LINKS: Final = """
    is as ist es est é è это це to — – - == === != !== jest adalah là είναι at
"""
_BEFORE_LINKS: Final = frozenset(_OF_BEFORE_LINKS.split())
_OF_ARTICLES: Final = """
    the my our mein meine das la le mi a o minha mon moje мой мій
"""
_ARTICLES: Final = frozenset(_OF_ARTICLES.split())
_BETWEEN: Final = _BEFORE_LINKS | _ARTICLES
_NAME: Final = re.compile(r"[\w.$@]*")
_MOST_PARTS: Final = 5
_OWNERS_BEFORE: Final = "私我您你的のは是がを僕俺제내가이는은 "


def run_before(window: str) -> tuple[int, int] | None:
    """The run of ASCII before a word of a script without spaces, with "is" between them."""
    stripped = window.rstrip(_OWNERS_BEFORE)
    between = window[len(stripped) :]
    if not any(char in between for char in "是はが이가는은"):
        return None
    begin = len(stripped)
    while begin and "!" <= stripped[begin - 1] <= "~":
        begin -= 1
    return (begin, len(stripped)) if begin < len(stripped) else None


def value_before(window: str) -> tuple[int, int] | None:
    """The value before "is my", "— это мой", `==`, "(the"."""
    backwards = _NAME.match(window[::-1])
    name = len(window) - (backwards.end() if backwards is not None else 0)
    parts = window[:name].rsplit(None, _MOST_PARTS)[-_MOST_PARTS:]
    last = parts[-1] if parts else ""
    if last.lstrip("(").lower() not in _BETWEEN:
        return None
    linked = False
    while parts and parts[-1].lstrip("(").lower() in _ARTICLES:
        linked = parts.pop().startswith("(")
    while parts and not linked and parts[-1].lower() in _BEFORE_LINKS:
        parts.pop()
        if not parts or parts[-1].lower() not in _BEFORE_LINKS:
            linked = True
    if not linked or not parts:
        return None
    core = parts[-1].strip("\"'`«»„“”,.(")
    at = window.rfind(core, 0, name) if core else -1
    return (at, at + len(core)) if at >= 0 else None


_LONG: Final = 190
"""Characters of a value that may have been cut at a finder's bound: the smallest bound is 200."""
_REST: Final = re.compile(r"[^\s\"'`<>()\[\]{},;|&，。；、）」』】》”»]+")
_CLOSERS: Final = frozenset("\"'`")
_END: Final = ".,:!?"
_WRAPPED: Final = 40
"""Least characters of a line that is wrapped: PEM has 64, MIME 76, printed keys 40 or more."""
_JOINT: Final = re.compile(
    r"(?:\\r)?(?:\\n)?[\"']?[ \t]{0,4}[\\+.&]?[ \t]{0,4}\r?\n[ \t>|#*/]{0,40}[\"']?"
)
"""The end of a line with quotes and joints of code, and the indentation of the next one."""
_ESCAPES: Final = ("\\n", "\\r")
_WRAPPED_LINE: Final = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_AFTER: Final = re.compile(r"(?:\\n)?[\"'`]?[ \t]{0,4}[+\\;,)]?[ \t]{0,4}(?:\r?\n|\Z)")
_PLAIN_NAME: Final = re.compile(r"[a-z]+|[A-Z][a-z]*|[A-Z_]+|-+|=+")
"""A line of one word, or a rule: no part of a value."""


def whole_values(text: str, findings: Iterable[SecretFinding]) -> Iterator[SecretFinding]:
    """Yield the findings, which are in the order of their places and do not overlap, each with its
    value's whole length; what lies within a longer one is left out."""
    reached = 0
    for finding in findings:
        start, end = max(reached, finding.start), finding.end
        if end <= reached:
            continue
        if finding.kind.level is not Level.POSSIBLE:
            end = max(end, _unwrapped(text, start, _extended(text, start, end)))
        reached = end
        yield SecretFinding(finding.kind, start, end)


def _extended(text: str, start: int, end: int) -> int:
    """Return the end of a value that may go on behind `end`."""
    if end - start < _LONG or end >= len(text):
        return end
    quote = text[start - 1 : start]
    if quote in _CLOSERS and quote != text[end]:
        line = text.find("\n", end)
        close = text.find(quote, end, line if line >= 0 else len(text))
        if close >= 0:
            return close
    rest = _REST.match(text, end)
    if rest is None:
        return end
    end = rest.end()
    while text[end - 1] in _END:
        end -= 1
    return end


def _unwrapped(text: str, start: int, end: int) -> int:
    """Return the end of a value whose characters go on at the beginning of the next line."""
    line = text.rfind("\n", start, end) + 1 or start
    while end > line and text.startswith(_ESCAPES, end - 2):
        end -= 2
    width = end - line
    while width >= _WRAPPED:
        joint = _JOINT.match(text, end)
        piece = _WRAPPED_LINE.match(text, joint.end()) if joint is not None else None
        if piece is None or _AFTER.match(text, piece.end()) is None:
            break
        length = len(piece[0])
        if length > width or _PLAIN_NAME.fullmatch(piece[0]):
            break
        end = piece.end()
        if length < width:
            break
    return end
