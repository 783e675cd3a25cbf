"""Finds keys of unknown issuers: a short prefix, a separator, a long random sequence.

Nearly all issuers give their keys this form. Ids have it as well, so prefixes that are known for
ids, and sequences with words, are ignored.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from safety.patterns import Pattern, literal
from safety.secret_detection.kinds import Finding, Level, SecretKind

PREFIXED_KEY: Final = SecretKind("shaped_key", Level.PROBABLE, Pattern(literal("_"), "_"))

_ALONE: Final = (
    r"(?:(?<![A-Za-z0-9+.@#%-])(?<![A-Za-z0-9_]_)|(?<=\\[nrt])|(?<=%[0-9A-Fa-f][0-9A-Fa-f]))"
)
_PREFIXED: Final = re.compile(
    rf"{_ALONE}(?P<prefix>[A-Za-z][A-Za-z0-9]{{1,15}}(?:_[A-Za-z0-9]{{2,12}}){{0,3}})_"
    r"(?P<body>[A-Za-z0-9]{30,200})(?![A-Za-z0-9])"
)
_SAID: Final = re.compile(
    rf"{_ALONE}(?P<prefix>(?:[A-Za-z][A-Za-z0-9]{{0,15}}[_-]){{0,3}}"
    r"(?:sk|rk|ak|pat|key|apikey|signkey|api|tok|token|sec|secret|live|prod|production|sandbox|"
    r"priv|private|auth|access|svc|rw|oat|cred))[_-](?P<body>[A-Za-z0-9_-]{20,200})"
)
_OF_IDS: Final = """
    pk pub public publishable cs pi seti cus sub evt price chatcmpl msg run thread asst resp rs req
    toolu call file batch sha1 sha256 sha384 sha512 md5 hash commit trace span test example sample
    dummy fake mock your my
"""
_NO_KEYS: Final = frozenset(_OF_IDS.split())
_LONG: Final = re.compile(r"[A-Za-z0-9_-]{23}")
"""Most texts have no word of that length, and so no key."""
_HEX: Final = re.compile(r"[0-9a-f]{32,128}|[0-9A-F]{32,128}")
_MIN_DIGITS: Final = 2
_MIN_TURNS: Final = 5
_MIN_HEX_LETTERS: Final = 4


def find_prefixed_keys(text: str) -> Iterator[Finding]:
    """Every stretch that has the shape of a key."""
    if not _LONG.search(text):
        return
    if "_" in text:
        yield from _found(_PREFIXED, text)
    yield from _found(_SAID, text)


def _found(expression: re.Pattern[str], text: str) -> Iterator[Finding]:
    for match in expression.finditer(text):
        segments = re.split("[_-]", match["prefix"].lower())
        if _NO_KEYS.isdisjoint(segments) and _is_chance(match["body"]):
            yield Finding(PREFIXED_KEY, *match.span())


def _is_chance(body: str) -> bool:
    """No word and no number: hexadecimal digits, or capitals, small letters and digits mixed."""
    digits = sum(char.isdigit() for char in body)
    if _HEX.fullmatch(body):
        return digits >= _MIN_DIGITS and len(body) - digits >= _MIN_HEX_LETTERS
    cases = [char.isupper() for char in body if char.isalpha()]
    return digits >= _MIN_DIGITS and sum(a != b for a, b in pairwise(cases)) >= _MIN_TURNS
