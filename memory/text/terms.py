"""Converts texts to index words, and questions to search words.

Indexed and searched texts go through the same steps, in both databases. Words lose case, accents,
strokes and endings ("Running" becomes "run", "Łódź" "lodz"); Chinese, Japanese, Korean and Thai,
which put no spaces between words, become pairs of neighbouring characters; words with signs inside
("v1.2.3", "ERR-42", "C++", an address, a hash) are indexed unchanged and by their parts; a number
of a telephone also as its digits alone; a pictograph is a word. No text of people becomes query
syntax. After a change here, `memory/stores/refiling.py` and `gateway/stores/turn_refiling.py` file
stored memories and turns again.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final

from msgspec import Struct
from py_rust_stemmers import SnowballStemmer

from memory.text.stop_words import STOP_WORDS

MAX_TERMS: Final = 32
"""Different words that one search looks for; further ones are left out."""
MAX_TEXT: Final = 10_000
"""Characters of a text that are searched for words."""
MAX_TERM: Final = 64
MAX_STEMS: Final = 20_000
"""Cached stems."""
MIN_PREFIX: Final = 2
"""Letters from which an unfinished word is completed."""

_DENSE: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0002fa1f"
)
_MARKS: Final = "\u0900-\u0963\u0966-\u0dff"  # vowel signs of India's scripts belong to the word
_WORD: Final = rf"(?:[^\W_{_DENSE}]|(?!\w)[{_MARKS}])+"  # no character is in both sets
_PICTURES: Final = (
    "\u203c\u2049\u2190-\u21ff\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff"
    "\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
)
"""Pictographs: the blocks of Unicode that hold them, without the five colours of skin."""
_FLAG: Final = "[\U0001f1e6-\U0001f1ff]{2}"
_PICTURE: Final = re.compile(f"{_FLAG}|[{_PICTURES}]")
_PIECE: Final = re.compile(
    rf"(?P<dense>[{_DENSE}]+)|(?P<picture>{_FLAG}|[{_PICTURES}])"
    rf"|{_WORD}(?P<signs>(?:[-_./:@+#~=]+{_WORD})+|[+#]+)?"
)
_PHONE: Final = re.compile(r"(?<![\w.])(?:\+|00)?[0-9(](?:[ ()./-]{0,3}[0-9]){6,16}(?!\w)")
PHONE_DIGITS: Final = range(7, 16)
"""Digits of a number of a telephone: local ones have seven, E.164 permits 15."""
_STROKES: Final = str.maketrans(
    {
        "ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ŧ": "t", "ı": "i", "ƀ": "b", "ɉ": "j", "ɨ": "i",
        "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ĸ": "q", "ŋ": "n", "ƶ": "z", "ɍ": "r",
    }
)  # fmt: skip
"""Letters that Unicode does not decompose, as CLDR's rules "Latin-ASCII" write them."""
_ASCII_PIECE: Final = re.compile(r"[a-z0-9]+(?:(?:[-_./:@+#~=]+[a-z0-9]+)+|[+#]+)?")
"""The same for a folded ASCII text, in a third of the time."""
_PART: Final = re.compile(_WORD)
_ACCENTS: Final = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f]+")
_ENDINGS: Final = ("ing", "ings", "ed", "es", "er", "ers", "ly", "ness", "ment", "ation", "able")
_ENGLISH: Final = SnowballStemmer("english")
_RUSSIAN: Final = SnowballStemmer("russian")


class Term(Struct, frozen=True):
    """A word of a question. `prefix`: words that begin with it count; `also` are further words that
    count as this one."""

    text: str
    prefix: bool = False
    also: tuple[str, ...] = ()

    def stands_in(self, padded: str) -> bool:
        """True if the term is one of the `index_terms`, which are enclosed in spaces."""
        if not self.prefix:
            return f" {self.text} " in padded
        return f" {self.text}" in padded or any(f" {other} " in padded for other in self.also)


def index_terms(*texts: str) -> str:
    """The words that texts are filed under, in their order, with spaces between them."""
    return " ".join(word for text in texts for word in _words(folded(text[:MAX_TEXT])))


def query_terms(text: str, *, unfinished: bool = False) -> tuple[Term, ...]:
    """The different words of a question. Very common ones are left out, unless there are no others;
    of an `unfinished` one the last word may go on."""
    plain = folded(text[:MAX_TEXT])
    terms: dict[Term, None] = {}
    end = _end_of_words(plain)
    for piece in _PIECE.finditer(plain):
        last = unfinished and piece.end() >= end
        terms.update(dict.fromkeys(_terms(piece, last=last)))
    terms.update(dict.fromkeys(Term(number) for _, number in phone_numbers(plain)))
    telling = [term for term in terms if term.prefix or term.text not in _COMMON]
    return tuple(telling or terms)[:MAX_TERMS]


def _end_of_words(plain: str) -> int:
    """The position after which a text contains only signs."""
    end = len(plain)
    while end and not (
        plain[end - 1].isalnum() or plain[end - 1] == "_" or plain[end - 1].isspace()
    ):
        end -= 1
    return end


def folded(text: str) -> str:
    """Without case, accents and strokes: "Žofín" becomes "zofin", "Łódź" "lodz"."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", _ACCENTS.sub("", plain)).translate(_STROKES)


def phone_numbers(plain: str) -> Iterator[tuple[int, str]]:
    """The end and the digits of each number of a telephone that is written in groups. Those of
    "+41 79 …" and "0041 79 …" are the same."""
    for found in _PHONE.finditer(plain):
        digits = "".join(filter(str.isdigit, found[0]))
        international = digits.removeprefix("00")
        if len(international) in PHONE_DIGITS and international != found[0].lstrip("+"):
            yield found.end(), international


def pictures(text: str) -> Iterable[str]:
    """The pictographs and flags of a text."""
    return () if text.isascii() else (found[0] for found in _PICTURE.finditer(text))


def _words(plain: str) -> Iterator[str]:
    phones = list(phone_numbers(plain))
    if not phones and plain.isascii():
        for text in _ASCII_PIECE.findall(plain):
            if text.isalnum():
                yield stem(text[:MAX_TERM])
            else:
                yield from _with_parts(text)
        return
    for piece in _PIECE.finditer(plain):
        yield from _words_of(piece)
        while phones and phones[0][0] <= piece.end():
            yield phones.pop(0)[1]


def _words_of(piece: re.Match[str]) -> Iterator[str]:
    if piece["dense"]:
        yield from _pairs(piece["dense"])
    elif piece["picture"]:
        yield piece[0]
    elif piece["signs"]:
        yield from _with_parts(piece[0])
    else:
        yield stem(piece[0][:MAX_TERM])


def _terms(piece: re.Match[str], *, last: bool) -> Iterator[Term]:
    text = piece[0]
    if piece["dense"]:
        if len(text) == 1:
            yield Term(text, prefix=True)
        for one, other in pairwise(text):
            yield Term(one + other)
    elif piece["picture"]:
        yield Term(text)
    elif piece["signs"] and last and text[-1] not in "+#":
        *before, end = _PART.findall(text)
        yield from (Term(stem(part[:MAX_TERM])) for part in before)
        yield Term(end[:MAX_TERM], prefix=True)
    elif piece["signs"]:
        if len(text) <= MAX_TERM:
            yield Term(text, prefix=last)
        if not last or len(text) > MAX_TERM:
            yield from map(Term, _parts(text))
    elif last and MIN_PREFIX <= len(text) <= MAX_TERM:
        yield Term(text, prefix=True, also=_completed(text))
    else:
        yield Term(stem(text[:MAX_TERM]))


def _with_parts(whole: str) -> Iterator[str]:
    yield from _parts(whole)
    if len(whole) <= MAX_TERM:
        yield whole


def _parts(whole: str) -> Iterator[str]:
    for part in _PART.findall(whole):
        yield stem(part[:MAX_TERM])


def _pairs(run: str) -> Iterator[str]:
    """Neighbouring characters, and the last one alone: every character begins one of them."""
    for one, other in pairwise(run):
        yield one + other
    yield run[-1]


def _completed(start: str) -> tuple[str, ...]:
    """The stems that are shorter than an unfinished word: "runnin" may become "running"."""
    whole = {start}
    for ending in _ENDINGS:
        begun = (cut for cut in range(1, len(ending)) if start.endswith(ending[:cut]))
        whole.update(start + ending[cut:] for cut in begun)
    return tuple(sorted(word for word in map(stem, whole) if not word.startswith(start)))


def stem(word: str) -> str:
    """A folded word without its ending: English, and Russian where it is written in Cyrillic."""
    if not word.isalpha():  # numbers and names of things: too many different ones to cache
        return word
    return _stem(word)


@lru_cache(MAX_STEMS)
def _stem(word: str) -> str:
    if word.isascii():
        return str(_ENGLISH.stem_word(word))
    return str(_RUSSIAN.stem_word(word)) if "\u0400" <= word[0] <= "\u04ff" else word


_COMMON: Final = frozenset(stem(word) for word in STOP_WORDS)
