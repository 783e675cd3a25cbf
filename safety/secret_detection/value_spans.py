"""Where a value begins and ends that stands behind a word."""

import re
from typing import Final

from safety.secret_detection.value_rules import LabelForm

_SPACES: Final = re.compile(r"\s{0,10}(?:\*\*\s{0,4})?")
_OPEN: Final = re.compile(
    r"![\w/-]{1,20}\s|@(?=[\"'])|[rbufL]#?(?=[\"'])|ConvertTo-SecureString\s(?:-String\s)?|"
    r"(?:new\s)?(?:\w{1,20}(?:\.|::)){0,2}(?:Secret|SecretStr|SecretString|SecureString|String|from|str|"
    r"Some|bytes|Text|Password|b64decode)\((?=[\"'])"
)
"""What may stand before a value besides spaces and emphasis: a YAML tag, the prefix of a literal, a
function that wraps a text."""
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
    """Where a value at a place begins and ends, and whether it stands in quotes."""
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
    """Where a bare value ends: at the end of its line where it may be a `setting` whose name begins
    at `start`, else before punctuation."""
    if setting and text[end : end + 1] in _BRACKET_SIGNS:
        wide = _WIDE.match(text, begin)
        line = text.rfind("\n", max(0, start - _LINE_BEGIN), start) + 1
        if wide is not None and _is_setting(text[line:start]) and _is_no_code(wide[0]):
            return begin + len(wide[0].rstrip(",;"))
    while end > begin and text[end - 1] in ".,:!?&*~_":
        end -= 1
    return end
