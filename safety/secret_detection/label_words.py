"""The words of all languages that label a secret, prepared for the search."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from itertools import groupby
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from safety.word_lists import read_word_lists


class Class(Enum):
    """The class of secret that a word labels."""

    PASSWORD = "password"  # noqa: S105 - a class, no password
    KEY = "key"
    PIN = "pin"
    CODE = "code"


class Word(Struct, frozen=True):
    """A label. `spaced`: its script puts spaces between words."""

    kind: Class
    whole: bool
    spaced: bool


class Language(Struct, frozen=True, forbid_unknown_fields=True):
    """The words of one language, in small letters. `whole` words count only between characters that
    are not letters, the others as part of a longer name (`dbPassword`, "паролем") as well. `codes`
    are codes for one use; `code_words` mean any code, and count only near a word that says so.
    `links` stand between a name and its value, `owners` say whose it is.

    The sources of the words are the translations of widely used sign-in forms (Django's
    `contrib.auth`, Android's settings) and the usage of people in chats.
    """

    name: str
    passwords: tuple[str, ...] = ()
    whole_passwords: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    whole_keys: tuple[str, ...] = ()
    pins: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    code_words: tuple[str, ...] = ()


_LISTS: Final = read_word_lists(__file__)
_LANGUAGES: Final = msgspec.json.decode(
    Path(__file__).with_name("languages.json").read_bytes(), type=tuple[Language, ...]
)
_UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")


def _words() -> Iterable[tuple[str, Word]]:
    for language in _LANGUAGES:
        for words, kind, whole in (
            (language.passwords, Class.PASSWORD, False),
            (language.whole_passwords, Class.PASSWORD, True),
            (language.keys, Class.KEY, False),
            (language.whole_keys, Class.KEY, True),
            (language.pins, Class.PIN, True),
            (language.code_words, Class.CODE, True),
            (_written(language.codes), Class.CODE, True),
        ):
            for word in words:
                spaced = not _UNSPACED.search(word)
                for form in ("NFC", "NFD"):
                    yield (
                        unicodedata.normalize(form, word).replace("\u200c", ""),
                        Word(kind, whole and spaced, spaced),
                    )


def _written(codes: Sequence[str]) -> Iterator[str]:
    """The codes, those in ASCII also as names in programs: `verification_code`, `otpCode`."""
    yield from codes
    for code in codes:
        if code.isascii() and set(code) & set(" -"):
            yield from (re.sub("[ -]", to, code) for to in ("_", "-", ""))


WORDS: Final = dict(_words())
"""Every word, composed and decomposed."""


def _every(field: str) -> frozenset[str]:
    return frozenset(
        unicodedata.normalize(form, word)
        for language in _LANGUAGES
        for word in getattr(language, field)
        for form in ("NFC", "NFD")
    )


GENERIC_KEYS: Final = frozenset(
    word
    for word, entry in WORDS.items()
    if entry.kind is Class.KEY and " " not in word and (entry.whole or not entry.spaced)
) - {"pat", "jwt", "bearer", "sas"}
"""Words for a key that are everyday words as well."""
ANY_CODES: Final = _every("code_words")
"""Words for a code of any kind."""
LINKS: Final = _every("links")
"""Words between a name and its value: "is", "lautet", "это"."""
WEAK_LINKS: Final = frozenset(_LISTS["weak links"].split())
"""Those that mean something else in another language, or between other words."""
OWNERS: Final = _every("owners")
"""Words that say whose it is, before the name or behind it."""


def expression_of(words: Iterable[str]) -> re.Pattern[str]:
    """Any of the words, the longest first; for small letters. Words that begin alike share their
    beginning in the expression, so that few are tried at a place."""
    return re.compile(_alternatives(sorted(set(words))))


def _alternatives(words: Iterable[str]) -> str:
    """An expression for sorted words; for the longest of those that match."""
    optional = ""
    parts: list[str] = []
    for first, group in groupby(words, key=lambda word: word[:1]):
        if first:
            parts.append(re.escape(first) + _alternatives(word[1:] for word in group))
        else:
            optional = "?"
    if len(parts) == 1 and not optional:
        return parts[0]
    return f"(?:{'|'.join(parts)}){optional}" if parts else ""


ASCII_WORDS: Final = expression_of(word for word in WORDS if word.isascii())
ANY_WORD: Final = expression_of(WORDS)
NAMED_BY: Final = tuple(_LISTS["before a key"].split())
"""Words before `key` that make it a secret's name, as in `api_key` and `signingKey`."""
NO_SECRETS: Final = frozenset(_LISTS["no secrets"].split())
"""Words before a key or a token that make it none."""
NO_VALUES: Final = frozenset(_LISTS["no values"].split())
"""Last words of a name whose value is about a secret and no secret: `password_length`."""
TECHNICAL: Final = re.compile(
    r"(?:sha|aes|utf|base|md|rsa|bcrypt|oauth|ed|x|rs|hs|es|ps|web|ipv|tls|ssl|http|pbkdf|argon|"
    r"scrypt|crc|iso|win|mp|int|uint|float|latin|cp|wpa|v|ios|python|php|unicode|ascii|fido|u)"
    r"[-_. ]?\d{1,5}(?:[a-z]{1,3}|[-_./]\w{1,12})?"
)
"""Names of algorithms and formats, which have digits in them and are no passwords."""
VENDOR_NAMES: Final = tuple(_LISTS["vendors"].split())
"""Issuers whose keys have no form of their own."""
