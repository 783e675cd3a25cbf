"""`heroku: 01234567-…`: what is set behind the name of an issuer whose keys have no form."""

from collections.abc import Iterator
from typing import Final

from safety.secret_detection.kinds import Finding
from safety.secret_detection.label_layouts import SIGN, TAIL
from safety.secret_detection.label_words import VENDOR_NAMES, expression_of
from safety.secret_detection.labelled import ASSIGNED_KEY
from safety.secret_detection.plausibility import is_uuid, looks_random
from safety.secret_detection.value_rules import NEVER
from safety.secret_detection.value_spans import value_at

_NAMES: Final = expression_of(VENDOR_NAMES)
SHORTEST_OF_VENDORS: Final = 20
"""Characters of the shortest key that is found so."""


def find_after_vendor_names(text: str, lowered: str) -> Iterator[Finding]:
    """Every such key; most texts have no sign that could set one."""
    if ":" not in text and "=" not in text:
        return
    for match in _NAMES.finditer(lowered):
        start, end = match.span()
        if start and text[start - 1].isalpha():
            continue
        tail = TAIL.match(text, end)
        sign = SIGN.match(text, tail.end()) if tail is not None else None
        span = value_at(text, sign.end()) if sign is not None else None
        if span is None:
            continue
        begin, stop, _ = span
        value = text[begin:stop].rstrip(".,:!?")
        if not NEVER.match(value) and (is_uuid(value) or looks_random(value, SHORTEST_OF_VENDORS)):
            yield Finding(ASSIGNED_KEY, begin, begin + len(value))
