"""Removes characters that people do not see and programs read; shortens a text without splitting a
character that they see.

Removed everywhere: control characters except line feed, carriage return and tab; bidirectional
controls; the tag characters; zero-width and other default-ignorable characters; interlinear
annotation; noncharacters and lone surrogates.

Characters that some scripts need stay there: joiners after Arabic, Indic and related letters and
between emoji, one variation selector after a character that can take one. The flags of England,
Scotland and Wales consist of tag characters and become a plain black flag, because they would allow
hidden text.
"""

import re
import unicodedata
from typing import Final

MAX_MARKS: Final = 30
"""Consecutive combining marks that stay, as in Unicode's stream-safe format (UAX 15). Longer
sequences are not text of a language, and the time to sort them is quadratic."""

_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_LINES: Final = re.compile("[\x85\u2028\u2029]")
HIDDEN: Final = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # controls
    "\xad\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"  # soft hyphen, joiners, fillers
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional
    "\u200b\u2060-\u2065\u206a-\u206f\ufeff"  # zero width
    "\ufff0-\ufffb\ufdd0-\ufdef\ud800-\udfff"  # annotation, noncharacters, surrogates
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"  # shorthand and musical controls
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"  # tags
    + "".join(
        f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)
    )
)
"""The inside of a character set: characters that are always removed."""

_HIDDEN: Final = re.compile(f"[{HIDDEN}]+")
_CONDITIONAL: Final = re.compile("[\u180b-\u180f\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef]+")
_MARKS: Final = re.compile(rf"[^\w\s\x00-\x7f]{{{MAX_MARKS + 1},}}")

_JOINERS: Final = "\u200c\u200d"
_ZWJ: Final = "\u200d"
_JOINING_SCRIPTS: Final = re.compile(
    "[\u0600-\u07ff\u0840-\u0dff\u1000-\u109f\u1780-\u18af\u1b00-\u1bff\ua840-\ua87f\ua980-\ua9df"
    "\ufb50-\ufdff\ufe70-\ufefc\U00010a00-\U00010a5f\U00011000-\U00011fff\U0001e900-\U0001e95f]"
)
_MONGOLIAN: Final = re.compile("[\u1800-\u18af]")
_HAN: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_EMOJI: Final = re.compile("[\U0001f000-\U0001faff\u203c\u2049\u2139\u3030\u303d]")
_KEYCAP_BASE: Final = "0123456789#*"
_KEYCAP: Final = "\u20e3"
_PASSES: Final = 4


def safe_unicode(text: str) -> str:
    """Return the text in NFC without hidden characters.

    Line and paragraph separators become line feeds. Idempotent; linear in the text.
    """
    if text.isascii():
        return _HIDDEN.sub("", text)
    text = _LINES.sub("\n", _PAIR.sub(_joined, text))
    for _ in range(_PASSES):
        before = text
        text = _CONDITIONAL.sub(_kept, _HIDDEN.sub("", text))
        text = unicodedata.normalize("NFC", _MARKS.sub(_fewer_marks, text))
        if text == before:
            break
    return text


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16", "surrogatepass").decode("utf-16")


def _fewer_marks(run: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for char in run[0]:
        marks = marks + 1 if unicodedata.combining(char) else 0
        if marks <= MAX_MARKS:
            kept.append(char)
    return "".join(kept)


def _kept(run: re.Match[str]) -> str:
    """Return those joiners and selectors of a sequence that belong to the characters around it."""
    text = run.string
    base = text[run.start() - 1] if run.start() else ""
    after = text[run.end()] if run.end() < len(text) else ""
    selector = joiner = ""
    for char in run[0]:
        if char in _JOINERS:
            joiner = joiner or (char if _may_join(char, base, after) else "")
        elif not selector and not joiner and _may_select(char, base, after):
            selector = char
    return selector + joiner


def _may_join(joiner: str, base: str, after: str) -> bool:
    if _JOINING_SCRIPTS.match(base):
        return True
    return joiner == _ZWJ and _is_symbol(base) and _is_symbol(after)


def _may_select(selector: str, base: str, after: str) -> bool:
    if "\u180b" <= selector <= "\u180f":
        return bool(_MONGOLIAN.match(base))
    if selector in "\ufe0e\ufe0f":
        return _is_symbol(base) or (base != "" and base in _KEYCAP_BASE and after == _KEYCAP)
    if "\ufe00" <= selector <= "\ufe02":
        return bool(_HAN.match(base)) or (base != "" and unicodedata.category(base) == "Sm")
    # Registered variants of ideographs end far below the 240 that could carry a byte each.
    return "\U000e0100" <= selector <= "\U000e010f" and bool(_HAN.match(base))


def _is_symbol(char: str) -> bool:
    if not char or char < "\xa9":
        return False
    # The emoji planes by range: new emoji are unassigned for an older Unicode database.
    return bool(_EMOJI.match(char)) or unicodedata.category(char) in {"So", "Sm", "Sk"}


MAX_NAME: Final = 60
"""Characters of a shown name."""
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories of invisible characters, and of those that change others."""


def shown_name(name: str, most: int = MAX_NAME) -> str:
    """Return a display name in one line, without invisible characters or those that change the
    direction of text, at most `most` characters."""
    seen = "".join(
        " " if unicodedata.category(char) in _UNSEEN else char
        for char in safe_unicode(name[: most * 4])
    )
    return " ".join(seen.split())[:most].rstrip()


REDACTED: Final = "[SECRET_REDACTED]"
"""The text that replaces a secret."""
MAX_BACK: Final = 64
"""Characters that a cut may move back; a longer unit is not a letter."""

_EXTENDING: Final = frozenset("\u200c\u200d\u20e3")
_FLAG: Final = re.compile("[\U0001f1e6-\U0001f1ff]")


def cut(text: str, max_length: int) -> str:
    """Return at most `max_length` characters from the beginning of a text.

    A letter with its marks, an emoji of several characters, a flag, a line end of two characters
    and the marker of a removed secret are kept or removed as a whole. Raises `ValueError` below 0.
    """
    if max_length < 0:
        raise ValueError(f"a length of {max_length}; it must be 0 or more")
    if len(text) <= max_length:
        return text
    end = _before_marker(text, max_length)
    least = max(0, end - MAX_BACK)
    while end > least and _is_inside(text, end):
        end -= 1
    return text[:end]


def _before_marker(text: str, end: int) -> int:
    begin = max(0, end - len(REDACTED) + 1)
    marker = text.find(REDACTED, begin, end + len(REDACTED) - 1)
    return marker if 0 <= marker < end else end


def _is_inside(text: str, end: int) -> bool:
    """Return True if `end` falls between two characters that a person sees as one."""
    before, after = text[end - 1], text[end]
    if after in _EXTENDING or before == "\u200d" or "\ufe00" <= after <= "\ufe0f":
        return True
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0100" <= after <= "\U000e01ef":
        return True
    if unicodedata.category(after).startswith("M"):
        return True
    if "\ud800" <= before <= "\udbff" or (before == "\r" and after == "\n"):
        return True
    return bool(_FLAG.match(after)) and _flags_before(text, end) % 2 == 1


def _flags_before(text: str, end: int) -> int:
    """Return the number of consecutive flag letters before `end`, at most `MAX_BACK`."""
    start, least = end, max(0, end - MAX_BACK)
    while start > least and _FLAG.match(text, start - 1):
        start -= 1
    return end - start
