"""Keeps credentials out of public rooms, in complete answers and in answers that are being
streamed."""

import html
import re
from functools import cache
from typing import Final
from urllib.parse import unquote

from msgspec import Struct

from gateway.people import Audience
from gateway.text import text
from safety.decoding import visible
from safety.patterns import AnyOf, Pattern, literal, some
from safety.secret_detection.detect import KINDS
from safety.secret_detection.http_headers import CONNECTION_STRING
from safety.secret_detection.kinds import Level

REPLACEMENT: Final = text(
    "I found relevant information but it may contain sensitive data. "
    "Please ask in a private channel."
)
"""Replaces an answer with a secret in a public room."""
_ENTITY: Final = (
    r"(?P<entity>&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)"
    r"|(?P<unfinished>&#?[A-Za-z0-9]{0,31}\Z)"
)
_ENTITIES: Final = re.compile(_ENTITY)
_SIGN: Final = (
    _ENTITY + r"|(?P<command>\\[A-Za-z]{0,20}\Z|!\Z)|\\[A-Za-z]{1,20}\*?(?=\s{0,9}\{)|\\!"
    r"|!?\[|[\\*~|`$\]{}]"
)
_SIGNS: Final = re.compile(_SIGN)
"""Signs without tags and addresses: what looks like the beginning of one may be text."""
_MARKS: Final = re.compile(
    _SIGN + r"|(?<=\])\([^()\s]{0,2000}(?:\)|\Z)"
    r"|<!--(?:[^<-]|-(?!->)|<(?!!--)){0,2000}(?:-->|\Z)"
    r"|</?[A-Za-z][^<>]{0,2000}(?:>|\Z)|<(?:!-?|/)?\Z"
)
"""What rendering removes: signs of Markdown, targets of links, commands of formulas, and comments
and tags of HTML, which may be unfinished. None is longer than `gateway.markdown.html_tags` reads.
An entity is the character that it names."""
_PERCENT: Final = re.compile(
    r"(?P<percent>(?:%[0-9A-Fa-f]{2}){1,100})|(?P<unfinished>%[0-9A-Fa-f]?\Z)"
)
"""Characters of addresses in percent-encoding, as browsers show them."""
_READ: Final = (_ENTITIES, _PERCENT, _SIGNS, _MARKS)
_GAP: Final = some(r"\s", 0, 100)
_QUOTED: Final = (
    *some("[\"']", 0, 1),
    *_GAP,
    *some("[:=]", 1, 1),
    *_GAP,
    *some("[\"']", 1, 1),
    *some("[^\"']", 1, 1),
)

# The first character of a value is enough: the whole answer is replaced.
_PATTERNS: Final[tuple[tuple[str, Pattern], ...]] = (
    ("password", Pattern((*literal("password"), *_QUOTED), ignore_case=True)),
    (
        "api_key",
        Pattern(
            (*literal("api"), *some("[_-]", 0, 1), *literal("key"), *_QUOTED), ignore_case=True
        ),
    ),
    (
        "bearer_token",
        Pattern(
            (*literal("bearer"), *some(r"\s", 1, 100), *some(r"[a-zA-Z0-9\-_.]", 1, 1)),
            ignore_case=True,
        ),
    ),
    *((kind.name, kind.pattern) for kind in KINDS if kind.level is Level.DEFINITE),
    (CONNECTION_STRING.name, CONNECTION_STRING.pattern),
)


class FilterDecision(Struct, frozen=True):
    """The text that may be shown: `REPLACEMENT` in English for a blocked one. `reason` is
    "not_public", "no_secret" or "secret_" and its kind."""

    text: str
    reason: str
    blocked: bool = False


def filter_response(text: str, audience: Audience) -> FilterDecision:
    """Return the answer as this audience may read it: unchanged, or replaced.

    Only public rooms are filtered. The text is also searched as it is seen: without the marks that
    rendering removes, without hidden characters, and with the characters that entities name.
    """
    if audience is not Audience.PUBLIC_ROOM:
        return FilterDecision(text, "not_public")
    kind = _first_secret(text)
    if kind:
        return FilterDecision(REPLACEMENT.english, f"secret_{kind}", blocked=True)
    return FilterDecision(text, "no_secret")


def joins_secret(seen: str, source: str, audience: Audience) -> bool:
    """Return True if a rendered text shows a secret, or ends with what may begin one, and its
    source, which a `StreamFilter` released, does not end so."""
    if audience is not Audience.PUBLIC_ROOM:
        return False
    if _first_secret(seen):
        return True
    end = seen[_safe_length(seen) :]
    return not source.rstrip().endswith(end)


class _WithoutMarks(Struct, frozen=True):
    """A text without marks. `places` has, for each of its characters and for its end, the position
    in the given text."""

    text: str
    places: tuple[int, ...]


class StreamFilter:
    """Releases an answer in pieces, and never a character that may belong to a secret.

    A possible beginning of a secret is held back until more text rules it out, at most for as long
    as the longest secret takes to be certain. Once blocked, nothing more is released; the text
    released so far holds no part of the secret and is to be replaced by `REPLACEMENT`.
    """

    def __init__(self, audience: Audience) -> None:
        self._open = audience is not Audience.PUBLIC_ROOM
        self._held = ""
        self._kind = ""

    @property
    def blocked(self) -> bool:
        """True once a secret was found."""
        return bool(self._kind)

    @property
    def reason(self) -> str:
        """The reason as in `FilterDecision`, for the text so far."""
        if self._open:
            return "not_public"
        return f"secret_{self._kind}" if self._kind else "no_secret"

    def feed(self, piece: str) -> str:
        """Take the next piece; return the text that may be shown now, possibly empty."""
        if self._open or self._kind:
            return piece if self._open else ""
        self._held += piece
        if any(map(_any_pattern().matches, _readings(self._held))):
            self._kind, self._held = _first_secret(self._held), ""
            return ""
        safe = _safe_length(self._held)
        released, self._held = self._held[:safe], self._held[safe:]
        return released

    def finish(self) -> str:
        """End the answer; return the text that was held back."""
        released, self._held = self._held, ""
        return released


@cache
def _any_pattern() -> AnyOf:
    return AnyOf(pattern for _, pattern in _PATTERNS)


def _readings(text: str) -> tuple[str, ...]:
    """Return the text as it is, with its entities, percent-encoding and hidden characters as they
    are seen, and also without what rendering removes."""
    shown = (visible(marks.sub(_character, text)).text for marks in _READ)
    return tuple(dict.fromkeys((text, *shown)))


def _character(mark: re.Match[str]) -> str:
    if mark.lastgroup == "percent":
        return unquote(mark[0])
    return html.unescape(mark[0]) if mark.lastgroup == "entity" else ""


def _first_secret(text: str) -> str:
    """Return the kind of the first secret found, empty if there is none."""
    readings = _readings(text)
    kinds = (name for name, pattern in _PATTERNS if any(map(pattern.find, readings)))
    return next(kinds, "")


def _safe_length(text: str) -> int:
    """Return the length of the beginning that cannot become part of a secret, whatever follows."""
    safe = _any_pattern().may_begin(text)
    for marks in _READ:
        shown = _shown(text, marks)
        if shown.text != text or shown.places[-1] != len(text):
            safe = min(safe, shown.places[_any_pattern().may_begin(shown.text)])
    return safe


def _shown(text: str, marks: re.Pattern[str]) -> _WithoutMarks:
    shown: list[str] = []
    places: list[int] = []
    position, end = 0, len(text)
    for mark in marks.finditer(text):
        shown.append(text[position : mark.start()])
        places += range(position, mark.start())
        character = _character(mark)
        shown.append(character)
        places += [mark.start()] * len(character)
        position = mark.end()
        if mark.lastgroup in ("unfinished", "command"):
            end = mark.start()
    shown.append(text[position:])
    places += range(position, len(text))
    seen = visible("".join(shown))
    places.append(end)
    kept = seen.places if seen.places is not None else range(len(places))
    return _WithoutMarks(seen.text, tuple(places[place] for place in kept))
