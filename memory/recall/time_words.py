"""The words of a language about times: finds them in a question, as signs for the grammar.

`time_words.txt` has the words, `time_names.json` the names of CLDR. Finding them takes time in
proportion to the length of the question.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

from msgspec import Struct

from safety.word_lists import phrases_of, read_word_lists

MAX_SIGNS: Final = 200
"""Signs of a question that are read."""
UNSPACED: Final = frozenset({"ja", "zh_Hans", "zh_Hant"})
"""Languages without spaces between words."""
_SUFFIXED: Final = frozenset({"ko"})
"""Languages whose words go on with particles."""
_SUFFIXES: Final = frozenset(
    [
        "da",
        "de",
        "ta",
        "te",
        "dan",
        "den",
        "tan",
        "ten",
        "daki",
        "deki",
        "taki",
        "teki",
        "i",
        "u",
        "a",
        "e",
        "yi",
        "ya",
        "ye",
        "si",
        "su",
        "in",
        "un",
        "nin",
        "nun",
        "ki",
        "nda",
        "nde",
    ]
)
"""Endings of Turkish words."""
_LOCATIVE: Final = frozenset(["da", "de", "ta", "te", "nda", "nde", "daki", "deki", "taki", "teki"])
_PREFIXES: Final[Mapping[str, Sequence[str]]] = {
    "ar": ("وال", "بال", "فال", "كال", "لل", "ال", "و", "ف", "ب", "ل", "ك")
}
_STRIPPED: Final = re.compile("[\u0300-\u036f\u093c\u064b-\u0652\u0640]")
"""Accents, vowel signs of Arabic, the dot under Hindi letters."""
_SAME: Final = {"ı": "i", "’": "'", "‘": "'", "–": "-", "—": "-", "〜": "~", "～": "~"}
_WRITTEN: Final = re.compile(
    r"(?P<y>(?:19|20)\d\d)[-./](?P<m>\d{1,2})[-./](?P<d>\d{1,2})(?!\d)"
    r"|(?P<a>\d{1,2})(?P<sign>[./-])(?P<b>\d{1,2})(?P=sign)(?P<y2>(?:19|20)?\d\d)(?!\d)"
    r"|(?P<c>\d{1,2})(?P<short>[./])(?P<e>\d{1,2})(?!\d|[./]\d)\.?"
)
"""2026-11-10; 10.11.2026, 10/11/26; 10.11., 10/11."""
_FIGURE: Final = re.compile(
    r"(\d{1,4})(st\b|nd\b|rd\b|th\b|er\b|e\b|º|ª|°|\.(?=\s|-)|-?го\b|-?е\b)?"
)
_CHARACTERS: Final = 10_000

Meanings = Mapping[str, int | tuple[int, str]]


class Sign(Struct, frozen=True):
    """A word or phrase of a question.

    `means` are its meanings in the table of a language, each with its number; `number` is that of
    figures, else -1. `begin` and `end` are its place. `locative`: it is in a place or at a time.
    """

    text: str
    begin: int
    end: int
    means: Meanings = {}
    number: int = -1
    written: tuple[int, int, int, bool] | None = None
    """A date in figures as three numbers: as they stand, with a year of 0 for none; True if the
    year comes first."""
    ordinal: bool = False
    capital: bool = False
    locative: bool = False
    compound: bool = False
    """True for a phrase of several words."""

    def has(self, *meanings: str) -> bool:
        """Return True for one of these meanings."""
        return any(one in self.means for one in meanings)


class Words(Struct, frozen=True):
    """The words of one language."""

    language: str
    phrases: Mapping[str, Meanings]
    lengths: Mapping[str, Sequence[int]]
    """The lengths of the phrases by their first character, the longest first."""
    talk: tuple[str, ...]
    """Beginnings of words that are no subject of a question."""
    future: tuple[str, ...]
    """Ends of verbs in the future."""


@lru_cache(_CHARACTERS)
def _folded(character: str) -> str:
    parts = unicodedata.normalize("NFKD", _SAME.get(character, character).casefold())
    left = "".join(_SAME.get(one, one) for one in _STRIPPED.sub("", parts))
    return unicodedata.normalize("NFC", left)


def fold(text: str) -> tuple[str, Sequence[int]]:
    """Return a text without case and accents, and the place in `text` of each character."""
    text = unicodedata.normalize("NFC", text)
    if text.isascii():
        return text.lower(), range(len(text) + 1)
    parts, places = [], []
    for place, character in enumerate(text):
        folded = _folded(character)
        parts.append(folded)
        places += [place] * len(folded)
    return "".join(parts), (*places, len(text))


@cache
def words_of(language: str) -> Words | None:
    """Return the words of a language, None for one without."""
    lists = _lists().get(language)
    if lists is None:
        return None
    found: dict[str, dict[str, int | tuple[int, str]]] = {}
    names = _names()[language]
    for meaning, phrases in (*names.items(), *lists):
        for phrase in phrases:
            key, value = _meaning(meaning)
            found.setdefault(fold(phrase)[0], {})[key] = value
    lengths: dict[str, set[int]] = {}
    for phrase in found:
        lengths.setdefault(phrase[0], set()).add(len(phrase))
    own = dict(lists)
    return Words(
        language,
        found,
        {first: sorted(some, reverse=True) for first, some in lengths.items()},
        tuple(fold(one)[0] for one in own.get("talk", ())),
        tuple(fold(one)[0] for one in own.get("future", ())),
    )


def languages() -> Sequence[str]:
    """Return the languages of the table."""
    return tuple(_lists())


@cache
def _lists() -> Mapping[str, Sequence[tuple[str, Sequence[str]]]]:
    sections = read_word_lists(__file__)
    return {
        language: [
            (meaning.strip(), phrases_of(phrases))
            for meaning, _, phrases in (line.partition(":") for line in lines.splitlines())
            if phrases.strip()
        ]
        for language, lines in sections.items()
    }


@cache
def _names() -> Mapping[str, Mapping[str, Sequence[str]]]:
    source = files("memory.recall").joinpath("time_names.json").read_bytes()
    names: Mapping[str, Mapping[str, Sequence[str]]] = json.loads(source)
    return names


_PARTS: Final = ("morning", "noon", "afternoon", "evening", "night")


def _meaning(written: str) -> tuple[str, int | tuple[int, str]]:
    """Return the name and the value of a meaning in the table: "day -1" is ("day", -1)."""
    name, *rest = written.replace(" + part", "").split()
    if len(rest) == 2 and name in ("day", "weekday"):
        return f"{name}part", (int(rest[0]), rest[1])
    if name in ("units", "either"):
        return name, (int(rest[0]), rest[1])
    if name in ("unit", "part"):
        return name, (0, rest[0])
    return name, int(rest[0]) if rest else 0


def signs_of(text: str, words: Words) -> list[Sign]:
    """Return the signs of a question, at most 200. `begin` and `end` are places in `text`, as far
    as that is composed."""
    folded, places = fold(text)
    signs: list[Sign] = []
    for sign in _scanned(folded, words):
        begin = places[sign.begin]
        capital = begin < len(text) and text[begin].isupper()
        signs.append(
            Sign(
                *(sign.text, begin, places[sign.end], sign.means, sign.number, sign.written),
                *(sign.ordinal, capital, sign.locative, sign.compound),
            )
        )
        if len(signs) == MAX_SIGNS:
            break
    return signs


def _scanned(folded: str, words: Words) -> Iterator[Sign]:
    place = 0
    while place < len(folded):
        character = folded[place]
        if character.isspace() or character == "'":
            place += 1
            continue
        sign = _figures(folded, place) if character.isdecimal() else None
        sign = sign or _phrase(folded, place, words)
        if sign is None and not _in_word(character):
            sign = Sign(character, place, place + 1)
        if sign is None:
            end = place + 1
            while words.language not in UNSPACED and end < len(folded) and _in_word(folded[end]):
                end += 1
            sign = Sign(folded[place:end], place, end)
        yield sign
        place = sign.end


def _figures(folded: str, place: int) -> Sign | None:
    written = _WRITTEN.match(folded, place)
    if written is not None and not (place and folded[place - 1] in ".,/"):
        return Sign(written[0], place, written.end(), written=_date(written))
    figure = _FIGURE.match(folded, place)
    if figure is None or folded[figure.end() : figure.end() + 1].isdecimal():
        end = place
        while end < len(folded) and folded[end].isdecimal():
            end += 1
        return Sign(folded[place:end], place, end)
    if (
        figure.end() + 1 < len(folded)
        and folded[figure.end()] in ".,:"
        and (folded[figure.end() + 1].isdecimal())
    ):  # a version, a price, an hour
        end = figure.end()
        while end < len(folded) and (folded[end].isdecimal() or folded[end] in ".,:"):
            end += 1
        return Sign(folded[place:end], place, end)
    return Sign(figure[0], place, figure.end(), number=int(figure[1]), ordinal=bool(figure[2]))


def _date(written: re.Match[str]) -> tuple[int, int, int, bool]:
    if written["y"]:
        return int(written["y"]), int(written["m"]), int(written["d"]), True
    if written["a"]:
        year = int(written["y2"])
        return int(written["a"]), int(written["b"]), year + 2000 * (year < 100), False
    return int(written["c"]), int(written["e"]), 0, False


def _phrase(folded: str, place: int, words: Words) -> Sign | None:
    """Return the longest phrase at a place; in spaced languages it ends with a word."""
    for prefix in ("", *_PREFIXES.get(words.language, ())):
        if not folded.startswith(prefix, place):
            continue
        begin = place + len(prefix)
        for length in words.lengths.get(folded[begin : begin + 1], ()):
            end = begin + length
            means = words.phrases.get(folded[begin:end])
            if means is None or end > len(folded):
                continue
            suffix = _suffix(folded, end, words.language)
            if suffix is None:
                continue
            if prefix.startswith("و"):
                means = {**means, "joint": 0}
            return Sign(
                *(folded[begin:end], place, end + len(suffix), means),
                locative=suffix.strip("'") in _LOCATIVE,
                compound=" " in folded[begin:end],
            )
    return None


def _suffix(folded: str, end: int, language: str) -> str | None:
    """Return the ending of a word after a phrase that is no part of the next word, None if the
    phrase is only the beginning of another word."""
    if language in UNSPACED or language in _SUFFIXED:
        return ""
    rest = _rest_of_word(folded, end)
    if language == "tr":
        return rest if rest.startswith("'") or not rest or rest in _SUFFIXES else None
    if rest.startswith("'"):  # l'altro; Tuesday's
        return "'s" if rest == "'s" else "" if language != "uk" else None
    return None if rest else ""


def _rest_of_word(folded: str, end: int) -> str:
    last = end
    while last < len(folded) and (_in_word(folded[last]) or folded[last] == "'"):
        last += 1
    return folded[end:last]


def _in_word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character)[0] == "M"
