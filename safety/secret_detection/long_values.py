"""Extends secrets to their whole length: further characters of a long value, and the lines on which
a wrapped one continues.

The finders read a bounded number of characters of each value, so that their time is linear. What
continues behind such a value is a part of it.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from safety.secret_detection.kinds import Level, SecretFinding

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
_LINE: Final = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
_AFTER: Final = re.compile(r"(?:\\n)?[\"'`]?[ \t]{0,4}[+\\;,)]?[ \t]{0,4}(?:\r?\n|\Z)")
_NAME: Final = re.compile(r"[a-z]+|[A-Z][a-z]*|[A-Z_]+|-+|=+")
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
        piece = _LINE.match(text, joint.end()) if joint is not None else None
        if piece is None or _AFTER.match(text, piece.end()) is None:
            break
        length = len(piece[0])
        if length > width or _NAME.fullmatch(piece[0]):
            break
        end = piece.end()
        if length < width:
            break
    return end
