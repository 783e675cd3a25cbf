"""Decides whether a short value that a sentence states is a secret: "my api key is 12345",
"secret is abc", "mein Token ist abc123".

Such a value has too few characters to look random. It counts if it is one word that ends the
statement and is no word of a language: it has digits, no vowels, or letters in the order of the
alphabet or of a keyboard.
"""

import re
from functools import partial
from typing import Final

from safety.secret_detection.label_words import GENERIC_KEYS, OWNERS, TECHNICAL, WEAK_LINKS, Class
from safety.secret_detection.plausibility import is_placeholder, letters_by_chance, says_how_it_is
from safety.secret_detection.value_spans import LabelForm, LabelledValue

_ENDS: Final = re.compile(
    r"[\"'`*)»”」』]{0,3}(?:\s{0,4}\Z|\s{0,4}\r?\n|[.!;,。！，](?:\s|\Z)|です|입니다|이에요|예요|だ)"
)
"""The end of a statement, or the verb that ends it in Japanese and Korean."""
_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_@#$!%^*+.-]{2,39}")
_MEASURE: Final = re.compile(
    r"(?i)\d{1,6}(?:st|nd|rd|th|er|ère|eme|px|r?em|m?s|[kmg]?i?b|bits?|bytes?|min|[hdwx%]|[km]m|cm|"
    r"chars?|fps|hz|usd|eur|k|am|pm)?|v?\d{1,3}(?:[.,]\d{1,4}){1,3}|f\d{1,2}|min\d{1,2}|max\d{1,2}"
)
"""A number with a unit, a version, a key of a keyboard."""
_ROWS: Final = ("abcdefghijklmnopqrstuvwxyz", "qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop")
_KEYBOARDS: Final = (*_ROWS, "azertyuiop", "qsdfghjklm", "йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю")
_OF_KEYS_AND_TERMS: Final = """
    ctrl tab del esc ins pgup pgdn cmd alt shift jwt xml html css http https sql ssh ssl tls tcp udp
    pkcs hmac rsa aes sha pgp gpg rpc crm cms api sdk url uri txt pdf png jpg mp3 nfc rfc gmt utc
    tbd tba wip n/a nvm lgtm fwiw psst shh hmm grr brr pfft tsk str
"""
_NO_SECRETS: Final = frozenset(_OF_KEYS_AND_TERMS.split())
_VOWELS: Final = frozenset("aeiouyáéíóúàèìòùäëïöüâêîôûãõåæøœ")
_RUN: Final = 3
_ACRONYM: Final = 4
_LEAST_DIGITS: Final = 4
_LEAST_OWNED: Final = 3
_RARE_PAIRS: Final = 2


def ends_statement(candidate: LabelledValue) -> bool:
    """Return True for one word without a mask that ends the statement of its label."""
    if _PLAIN.fullmatch(candidate.value) is None:
        return False
    text, end = candidate.text, candidate.end
    masked = text[end : end + 1] == "*" != text[candidate.begin - 1]
    return not masked and _ENDS.match(text, end) is not None


def is_stated(candidate: LabelledValue, *, owned: bool, named: bool) -> bool:
    """Return True for a short value that a statement gives away. `owned`: the label says whose it
    is ("my key"), `named`: which ("api key"), so that the value is no description."""
    value, how = candidate.value, candidate.how
    whose = owned or candidate.fillers or not candidate.word.isascii()
    beside = how is LabelForm.BESIDE and whose and any(map(str.isdigit, value))
    inflected = candidate.rest.isalpha() and not candidate.word.isascii()
    if candidate.rest and not inflected:
        return False
    if not beside and how not in {LabelForm.SIGN, LabelForm.LINK}:
        return False
    if any(map(partial(_tells_more, candidate.word), candidate.fillers)):
        return False
    if not (owned or named) and (candidate.word in GENERIC_KEYS or how is LabelForm.SIGN):
        return candidate.kind is Class.PASSWORD and _is_no_word(value)
    return is_short_secret(value, owned=owned or named)


def _tells_more(label: str, filler: str) -> bool:
    """Return True for a word between label and value that is neither an owner nor a link."""
    return filler not in OWNERS and (label.isascii() or filler not in WEAK_LINKS)


def is_short_secret(value: str, *, owned: bool = False) -> bool:
    """Return True for a word that no language has: with digits, or with letters by chance."""
    lowered = value.lower()
    if is_placeholder(value) or TECHNICAL.fullmatch(lowered):
        return False
    if value.isdigit():
        return len(value) >= (_LEAST_OWNED if owned else _LEAST_DIGITS)
    if _MEASURE.fullmatch(value):
        return False
    return any(map(str.isdigit, value)) or _is_no_word(value)


def _is_no_word(value: str) -> bool:
    lowered = value.lower()
    if (
        not value.isalpha()
        or lowered in _NO_SECRETS
        or (value.isupper() and len(value) <= _RUN + 1)
    ):
        return False
    if not _VOWELS.intersection(lowered):
        return True
    if any(lowered in row for row in _KEYBOARDS) and len(value) >= _RUN:
        return True
    return letters_by_chance(value, _RARE_PAIRS) and not says_how_it_is(lowered)
