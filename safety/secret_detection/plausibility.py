"""Distinguishes possible secrets from placeholders, names and plain words.

Some words say how a password, a key or a token is: "my password is wrong", "mein Passwort ist
abgelaufen", "la contraseña es obligatoria". They stand where the password itself stands in "my
password is swordfish". A language forms most of them with few endings; the others are listed in
`plausibility.txt`.
"""

import re
import unicodedata
from itertools import pairwise
from string import ascii_lowercase
from typing import Final

from safety.word_lists import read_word_lists

_STATES: Final = frozenset(
    unicodedata.normalize("NFC", word)
    for words in read_word_lists(__file__).values()
    for word in words.split()
)
_ENDINGS: Final = re.compile(
    r"(?:ing|able|ible|tion|ment|ness|ly|ed|less|ful|ous|ive|ary"
    r"|lich|bar|los|haft|iert|pflichtig|isch|loos|baar"
    r"|[ai]d[oa]s?|[aiu]t[oa]|[óá]ri[oa]|ável|ível|bile|iv[oa]"
    r"|ée?s?|eux|euse|oire"
    r"|[ыио]й|[её]н[оа]?|ан[оа]?|тый|но|лся|лась"
    r"|gt|igt|nen|lis|lik|siz|sız|suz|süz)\Z"
)
"""Endings of participles and adjectives: English, German and Dutch, Spanish, Portuguese and
Italian, French, Russian and Ukrainian, the Nordic languages, Finnish, Turkish."""
_SLAVIC: Final = re.compile(r"(?:[nwłtbk][eyéí]|sk[ie])\Z")
"""Those of Polish, Czech and Slovak, in which many an English word ends."""
_SLAVIC_LABELS: Final = ("has", "hesl", "klucz", "klíč", "kľúč", "sekret")
_FORMED: Final = re.compile(r"(?:un|ge|ver|ab|be|zer|ent|on|über)\w{2,}(?:[td]|en|ig)\Z")
"""German and Dutch: "gestohlen", "vergessen", "ungültig"."""
_SHORTEST: Final = 5


def says_how_it_is(word: str, label: str = "") -> bool:
    """Return True for such a word behind a label, both in small letters."""
    if word in _STATES:
        return True
    if len(word) < _SHORTEST:
        return False
    if label.startswith(_SLAVIC_LABELS) and _SLAVIC.search(word) is not None:
        return True
    return _ENDINGS.search(word) is not None or _FORMED.match(word) is not None


_PLACEHOLDER: Final = re.compile(
    r"""(?ix)
    [<\[({%@#].*                                 # <token>, {token}, %TOKEN%
    | \$(?![^\W\d]*\d\w*[!\#%*^~]).*                # $TOKEN, ${TOKEN}; but not $ecr3t!
    | [x*._•#0-]+
    | (?:your|replace|insert|enter|put|add|set)[-_].*
    | (?:the|my|your|our|a|an|new|old|super|top|db|test|admin|user|root|example|dummy|sample|fake|
      mock)?[-_]?(?:pass|passwd|password|passphrase|passwort|kennwort|pwd|pw|secret|token|key|apikey|
      api[-_]key|credentials?|string|value|example|placeholder|redacted|hidden|masked|removed|
      changeme|change[-_]me|change[-_]it|changeit|todo|tbd|none|null|nil|undefined|empty|blank|
      n/?a|true|false|yes|no|str|int|bool|bytes|text|optional|required|any|default|unset|varchar)
      [-_]?[0-9]?
    | \[SECRET_REDACTED\].*
    """
)
_PLACEHOLDER_WITHIN: Final = re.compile(
    r"""(?ix)
    \.\.\.|…|\*\*\*|\A\*\*|\*\*\Z|••|xxxx         # abc..., ****, xxxx
    | (?:your|my|the|some|an?)[-_\ ](?:[a-z]+[-_\ ]){0,4}
      (?:(?:api|key|token|secret|pwd|value|here)\b|pass)
    """
)
_CODE: Final = re.compile(
    r"""(?x)
    [A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+              # settings.PASSWORD
    | (?:[A-Z][A-Z0-9]*_)+[A-Z0-9]+              # DB_PASSWORD
    | [~.]?/.* | [A-Za-z]:\\.*                   # places
    | [\d.,:/-]{1,10}                            # a number, a date, a time
    | [a-z]+(?:[_-][a-z]+)+                      # some_name, some-name
    | [a-z]*(?:[A-Z][a-z]+\d{0,5}){2,}           # SomeName, someName
    """
)
_ALPHANUMERIC: Final = re.compile(r"[A-Za-z0-9]{20,400}")
_DIGITS_APART: Final = re.compile(r"[^0-9]*[0-9][^A-Za-z]*[A-Za-z][^0-9]*[0-9]")
_CASES_TURN: Final = re.compile(r"[^a-z]*[a-z][^A-Z]*[A-Z][^a-z]*[a-z][^A-Z]*[A-Z]")
_BASE64: Final = re.compile(r"/[A-Za-z0-9+/]{30,}={0,2}")
_LONG_WORD: Final = 20
_MOST_DIGITS_OF_NAMES: Final = 4
"""Digits in the last part of a dotted name that people choose."""
_RARE_PAIRS: Final = 3
_PAIRS_PER_RARE: Final = 8
_LONG_PATH: Final = 100
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


_OF_PAIRS: Final = """
    abcdefghijklmnopqrstuvwxyz abehijlorsuy acehijklorstuyz adeghijklmnoprstuvyz
    abcdefghijklmnopqrstuvwxyz aefilorstu aeghijlnorstuy adeilmnortuy abcdefghijklmnopqrstuvwxyz
    aeinostu aceiklnorstuvwy abcdefghijklmnopstuvy abehilmnopstuy abcdefghijklmnoprstuvyz
    abcdefghijklmnoprstuvwxz aehiklnoprstuy u abcdefghijklmnoprstuvwyz abcdefghijklmnoprstuvwyz
    abcdefhiklmnoprstuvwyz abcdefghijklmnoprstuvz aeilnorsuy aeinorsy aeipt abcdefgiklmnoprstw
    adeimnotuvwy
"""
_FOLLOWS: Final = dict(zip(ascii_lowercase, map(frozenset, _OF_PAIRS.split()), strict=True))
"""The letters that follow each letter in words: 98.5 % of all pairs in 93,000 words of programs'
translations into the languages of Europe."""


def is_placeholder(value: str) -> bool:
    """Return True for a placeholder of a secret."""
    within = "\n" not in value and _PLACEHOLDER_WITHIN.search(value)
    return bool(within or _PLACEHOLDER.fullmatch(value)) or len(set(value.lower())) < 3


def looks_random(value: str, least: int = 16) -> bool:
    """Return True for a generated text: long, with many different characters, no name and no
    place."""
    if len(value) < least or is_placeholder(value):
        return False
    if _is_code(value) and not (_has_part_by_chance(value) or _is_chance(value)):
        return False
    if len(set(value)) < 8:
        return False
    digits = sum(char.isdigit() for char in value)
    letters = sum(char.isalpha() for char in value)
    mixed = value.lower() != value and value.upper() != value
    if digits == 1 and len(value) >= _LONG_WORD and value.isalnum() and not value[-1].isdigit():
        return True
    often = 0.25 if digits else 0.4
    if letters < 2:
        return False
    return digits >= 2 or (mixed and _turns(value) > often * letters) or letters_by_chance(value)


def letters_by_chance(value: str, least: int = _RARE_PAIRS) -> bool:
    """Return True if letters of one case follow each other as in no word: at least `least` pairs,
    and one of eight, are rare."""
    if not value.isascii() or not (value.islower() or value.isupper()):
        return False
    pairs = [pair for pair in pairwise(value.lower()) if pair[0].isalpha() and pair[1].isalpha()]
    rare = sum(second not in _FOLLOWS[first] for first, second in pairs)
    return rare >= least and rare * _PAIRS_PER_RARE >= len(pairs)


def _is_code(value: str) -> bool:
    """Return True for a name, a place, a number or a date as programs write them."""
    return bool(_CODE.fullmatch(value)) or ("://" in value and "\n" not in value)


def _has_part_by_chance(value: str) -> bool:
    """Return True if a part of a dotted name is one that people do not choose."""
    for part in value.split("."):
        if _ALPHANUMERIC.fullmatch(part) and _DIGITS_APART.match(part):
            digits = sum(map(str.isdigit, part))
            if digits > _MOST_DIGITS_OF_NAMES or _CASES_TURN.match(part) is not None:
                return True
    return False


def _is_chance(value: str) -> bool:
    """Return True for a text that begins like a path or looks like `someName`, and can be
    neither."""
    if value[0] == "/":
        return bool(_BASE64.fullmatch(value)) and (
            "+" in value or value[-1] == "=" or len(value) > _LONG_PATH
        )
    return value.isalnum() and _turns(value) > len(value) / 2


def looks_like_password(value: str) -> bool:
    """Return True for a text that people choose as a password: letters with digits or signs in
    them."""
    if len(value) < 4 or is_placeholder(value) or _is_code(value):
        return False
    if value.isdigit():
        return len(value) >= 6
    letters = any(char.isalpha() for char in value)
    inner = value.strip(".,!?:;'\"")
    marked = any(not char.isalpha() and char not in "-'’/." for char in inner)
    return letters and (marked or (len(inner) >= 8 and _turns(inner) >= 0.4 * len(inner)))


def may_be_a_word(value: str, label: str = "") -> bool:
    """Return True for a plain word that can be a password behind the `label`, and is not a word
    about passwords."""
    word = value.lower()
    return (
        len(word) >= 5
        and word.isalpha()
        and not says_how_it_is(word, label)
        and not is_placeholder(word)
    )


def is_uuid(value: str) -> bool:
    """True for the 36 characters of a UUID."""
    return bool(_UUID.fullmatch(value))


def _turns(value: str) -> int:
    """Return the number of changes between upper and lower case."""
    cases = [char.isupper() for char in value if char.isalpha()]
    return sum(a != b for a, b in pairwise(cases))
