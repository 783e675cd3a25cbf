"""Keeps credentials out of public rooms, in complete answers and in answers that are being
streamed."""

import re
from functools import cache
from typing import Final

from msgspec import Struct

from gateway.people import Audience
from safety.patterns import AnyOf, Pattern, literal, some
from safety.secret_detection.detect import KINDS
from safety.secret_detection.http_headers import CONNECTION_STRING
from safety.secret_detection.kinds import Level

REPLACEMENT: Final = (
    "I found relevant information but it may contain sensitive data. "
    "Please ask in a private channel."
)
"""Replaces an answer with a secret in a public room."""
_REMOVED: Final = re.compile(
    r"[\\*]"
    r"|<!--(?:[^<-]|-(?!->)|<(?!!--)){0,2000}(?:-->|\Z)"
    r"|</?[A-Za-z][^<>]{0,2000}(?:>|\Z)|<(?:!-?|/)?\Z",
)
"""What rendering removes: backslashes, stars, and comments and tags of HTML, which may be
unfinished. None is longer than `gateway.markdown.html_tags` reads."""
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
    """The text that may be shown. `reason` is "not_public", "no_secret" or "secret_" and its
    kind."""

    text: str
    reason: str
    blocked: bool = False


def filter_response(text: str, audience: Audience) -> FilterDecision:
    """Return the answer as this audience may read it: unchanged, or replaced.

    Only public rooms are filtered. The text is also searched without the marks that rendering
    removes.
    """
    if audience is not Audience.PUBLIC_ROOM:
        return FilterDecision(text, "not_public")
    kind = _first_secret(text)
    if kind:
        return FilterDecision(REPLACEMENT, f"secret_{kind}", blocked=True)
    return FilterDecision(text, "no_secret")


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
    """Return the text as it is, and without what rendering removes."""
    shown = _REMOVED.sub("", text)
    return (text,) if shown == text else (text, shown)


def _first_secret(text: str) -> str:
    """Return the kind of the first secret found, empty if there is none."""
    readings = _readings(text)
    kinds = (name for name, pattern in _PATTERNS if any(map(pattern.find, readings)))
    return next(kinds, "")


def _safe_length(text: str) -> int:
    """Return the length of the beginning that cannot become part of a secret, whatever follows."""
    safe = _any_pattern().may_begin(text)
    removed = list(_REMOVED.finditer(text))
    if not removed:
        return safe
    begins = _any_pattern().may_begin(_REMOVED.sub("", text))
    for piece in removed:
        if piece.start() > begins:
            break
        begins += len(piece[0])
    return min(safe, begins)
