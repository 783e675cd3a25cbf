"""Decides whether a short value that a sentence states is a secret: "my api key is 12345", "secret
is abc", "verification code 482911", "482 911 is your login code".

Such a value has too few characters to look random. It counts if it is one word that ends the
statement and is no word of a language: it has digits, no vowels, or letters in the order of the
alphabet or of a keyboard.

A word for a code for one use is a label; a word for any code is one if the surrounding text says
so.
"""

import re
from functools import partial
from typing import Final

from safety.secret_detection.label_words import (
    ANY_CODES,
    GENERIC_KEYS,
    LINKS,
    NO_VALUES,
    OWNERS,
    TECHNICAL,
    WEAK_LINKS,
    Class,
    expression_of,
)
from safety.secret_detection.plausibility import is_placeholder, letters_by_chance, says_how_it_is
from safety.secret_detection.value_spans import LabelForm, LabelledValue
from safety.word_lists import phrases_of, read_word_lists

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
    adjacent = how is LabelForm.ADJACENT and whose and any(map(str.isdigit, value))
    inflected = candidate.rest.isalpha() and not candidate.word.isascii()
    if candidate.rest and not inflected:
        return False
    if not adjacent and how not in {LabelForm.SIGN, LabelForm.LINK}:
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


_LISTS: Final = read_word_lists(__file__)
GROUPED: Final = re.compile(r"\d{3}[ -]\d{3}(?![\w-])|\d{4}[ -]\d{4}(?![\w-])|\d{4,10}(?=&)")
"""A code in two groups, as authenticators show it, or in an address."""
_DIGITS: Final = re.compile(r"\d\d{2}")
_VALUE: Final = re.compile(r"(?:[A-Z]-)?\d{4,10}|\d{3}[ -]\d{3}|\d{4}[ -]\d{4}")
_BEFORE: Final = re.compile(
    r"(?<![\w.,/+#:-])(?P<value>(?:[A-Z]-)?\d{3}[ -]\d{3}|(?:[A-Z]-)?\d{4,8})[\"'*`]{0,2}"
    r"\s(?P<between>(?:[^\s\d]{1,20}\s){1,5})\Z"
)
_NO_CODE_AFTER: Final = re.compile(
    r"[ \t]{0,2}(?:[%°€$£]|-?(?:digit|char|sec|min|hour|day|week|month|year|time|"
    r"user|line|token|byte|attempt|"
    r"people|person|lette|zeichen|stell|ziffer|sekund|stunde|chiffre|caract|seconde|dígito|digito|"
    r"segundo|cifre|second|цифр|символ|секунд|минут|знак|位|桁|자리|字|文字|[kmgt]i?b\b|m?s\b|x\b|"
    r"rows?\b|columns?\b|requests?\b|zeile|ligne|líne|linha|righ[ei]|regels?\b|satır|rader\b|řád|"
    r"lini[aei]|anfrag|mal\b|строк|строч|раз\b|行|条|條|件|건|次|回|个|個|usd\b|eur\b|yen\b|km\b))",
    re.IGNORECASE,
)
"""Units and what is counted."""
_NEAR_BEFORE: Final = 60
_NEAR_AFTER: Final = 60
_CONTEXT: Final = expression_of(phrases_of(_LISTS["stems"]))
_OTHER_CODES: Final = frozenset(_LISTS["other codes"].split())
_COUNTED: Final = ("次数", "次數", "回数", "有效期", "有効期限", "长度", "長度", "횟수", "길이")
"""Behind a word in a script without spaces: a count, or how long it is valid."""
_FAILS: Final = re.compile(r"\b(?:error|fail|exit|status|http|errno|exception|crash|returned|line)")
_YOURS: Final = frozenset(_LISTS["yours"].split())
_JOINS: Final = LINKS | frozenset(_LISTS["joins"].split())
_SURE_WORDS: Final = frozenset({"2fa", "mfa", "tan"})
"""Words that stand for more than a code: six digits at least."""
_OWN_NUMBER: Final = 4
_SURE_NUMBER: Final = 6
_MOST_NUMBER: Final = 8
_SHORT_WORD: Final = 4
_MOST_BETWEEN: Final = 2
_CLEAR: Final = frozenset({LabelForm.SIGN, LabelForm.LINK, LabelForm.CALL, LabelForm.CELL})


def is_code(candidate: LabelledValue) -> bool:
    """Return True for digits that the word labels, and that have no unit or other name."""
    value = candidate.value
    if not _VALUE.fullmatch(value) or _is_counted(candidate):
        return False
    digits = sum(map(str.isdigit, value))
    if candidate.rest.strip(".-_") or any(filler in NO_VALUES for filler in candidate.fillers):
        return False
    if candidate.word == "tan" and not candidate.text.startswith("TAN", candidate.start):
        return False
    if any(word in candidate.text[candidate.start : candidate.begin] for word in _COUNTED):
        return False
    if candidate.word in ANY_CODES:
        return digits in {_SURE_NUMBER, _MOST_NUMBER} and _has_code_context(candidate)
    if candidate.word in _SURE_WORDS:
        return digits in {_SURE_NUMBER, _MOST_NUMBER} and candidate.how is not LabelForm.BEFORE
    if candidate.how in _CLEAR:
        of_others = [
            one for one in candidate.fillers if one not in OWNERS and len(one) >= _SHORT_WORD
        ]
        return digits >= _OWN_NUMBER and (candidate.how is LabelForm.LINK or not of_others)
    least = (
        _SURE_NUMBER if candidate.how is LabelForm.LINE or candidate.word.isascii() else _OWN_NUMBER
    )
    if " " in candidate.word and candidate.how is not LabelForm.LINE:
        least = _OWN_NUMBER
    return digits >= least


def code_before(text: str, begin: int, start: int, word: str) -> tuple[int, int] | None:
    """Return the place of the code in "482911 is your … code", in the characters from `begin` to
    the `word` at `start`."""
    window = text[begin:start]
    match = _BEFORE.search(window) if _DIGITS.search(window) is not None else None
    if match is None:
        return None
    between = match["between"].lower().split()
    if between[0] not in _JOINS:
        return None
    if _YOURS.isdisjoint(between):
        long = sum(map(str.isdigit, match["value"])) >= _SURE_NUMBER
        if word in ANY_CODES or not long or len(between) > _MOST_BETWEEN:
            return None
    if between[-1] in _OTHER_CODES or any(word in NO_VALUES for word in between):
        return None
    return begin + match.start("value"), begin + match.end("value")


def _is_counted(candidate: LabelledValue) -> bool:
    """Return True if a unit, a fraction or more of a longer number follows."""
    ahead = candidate.text[candidate.end : candidate.end + 20]
    if ahead[:1] in {"_", "-", "/", "+"} or (ahead[:1] in {".", ","} and ahead[1:2].isdigit()):
        return True
    if ahead[:1].isalnum() and ahead[:1].isascii():
        return True
    return _NO_CODE_AFTER.match(ahead) is not None


def _has_code_context(candidate: LabelledValue) -> bool:
    """Return True if the surrounding text shows that a general word for codes means a code of this
    kind."""
    lowered = candidate.text[
        max(0, candidate.start - _NEAR_BEFORE) : candidate.end + _NEAR_AFTER
    ].lower()
    before = (
        candidate.text[max(0, candidate.start - _NEAR_BEFORE) : candidate.start].lower().split()
    )
    last = before[-1].strip("\"'`*_-:([{") if before else ""
    if (
        last in _OTHER_CODES
        or _FAILS.search(lowered)
        or not _OTHER_CODES.isdisjoint(candidate.fillers)
    ):
        return False
    if candidate.how is LabelForm.BEFORE and _next_word(candidate) in _OTHER_CODES:
        return False
    yours = any(word in _YOURS for word in before[-3:])
    if yours and (candidate.how in _CLEAR or candidate.how is LabelForm.BEFORE):
        return True
    return _CONTEXT.search(lowered) is not None


def _next_word(candidate: LabelledValue) -> str:
    """Return the word after the label of the code: "заказа" of "код заказа"."""
    end = candidate.start + len(candidate.word)
    words = candidate.text[end : end + _NEAR_AFTER].lower().split(maxsplit=1)
    return words[0].strip(".,!?") if words else ""
