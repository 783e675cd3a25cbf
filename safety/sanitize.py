"""Text that cannot pose as markup or as somebody else's turn, wherever it is put.

Promised: what comes out holds no HTML tag, no separator of a chat format, no role at a line's
beginning and no role as a fence's language; neither as it is, nor after its entities, percent and
backslash escapes and compatibility characters are decoded, up to three times. Doing it twice
changes nothing, the result is never longer, and time grows with the text only.

Not promised: other encodings (base64, rot13, homoglyphs), pieces that somebody joins with other
text, and the meaning of the words; `safety.injection_detection.detect` points at some of that.
"""

import re
from collections.abc import Iterable
from itertools import chain
from typing import Final

from safety.decoding import Decoded, decoded
from safety.markup import find_markup
from safety.role_markers import find_sentinels

PASSES: Final = 8
"""How deep tags may be nested in tags before all characters that make them are taken out."""

_HARMLESS: Final = re.compile(r"[^<>\[\]&%\\:`~\x80-\U0010ffff]*\Z")
_MAKINGS: Final = frozenset("<>[]&%\\:`~|")


def sanitize(text: str) -> str:
    """The text without tags, dangerous blocks and separators of turns.

    Expects what `safety.unicode.safe_unicode` returns. Does not shorten.
    """
    for _ in range(PASSES):
        if _HARMLESS.match(text):
            return text
        found = decoded(text)
        spans = _merged(_found(found))
        if not spans:
            return text
        text = _without(text, spans)
    return _blunt(text)


def _found(found: Decoded) -> Iterable[tuple[int, int]]:
    spans = chain(find_markup(found.view), find_sentinels(found.view))
    return (found.span(begin, end) for begin, end in spans)


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
    """For what is nested deeper than anybody writes: no character stays that could make markup."""
    found = decoded(text)
    spans = [found.span(i, i + 1) for i, char in enumerate(found.view) if char in _MAKINGS]
    return _without(text, _merged(chain(spans, _literal(text))))


def _literal(text: str) -> Iterable[tuple[int, int]]:
    return ((i, i + 1) for i, char in enumerate(text) if char in _MAKINGS)
