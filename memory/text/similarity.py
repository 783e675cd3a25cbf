"""Compares two memories by their words, and finds similar ones among many.

A word is the text between spaces without the punctuation of its sentence, so "PostgreSQL." is
"PostgreSQL". Punctuation inside a word and symbols stay, because they carry meaning in "v1.2",
"C++", "-5" or "<". Each Chinese or Japanese character is a word.
"""

import math
import operator
import re
import unicodedata
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import groupby
from typing import Final

from msgspec import Struct

from memory.model.record import Embedding
from memory.ports.memories import Duplicate
from memory.text.stop_words import STOP_WORDS
from memory.text.terms import folded, stem
from safety.word_lists import read_word_lists

JACCARD_THRESHOLD: Final = 0.92
"""Texts from this similarity on are the same memory."""
VECTOR_THRESHOLD: Final = 0.95
"""The same for the cosine of two embeddings."""
LOWEST_THRESHOLD: Final = 0.8
"""The lowest threshold that may be configured; `stored_keys` serve all higher ones."""

_SENTENCE_PUNCTUATION: Final = ".,;:!?\"'`()[]{}*_~…«»‹›“”„‘’‚¿¡。、！？；：「」『』（）【】"
_SPACELESS: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f"
_WORD: Final = re.compile(rf"[{_SPACELESS}]|[^\s{_SPACELESS}]+")
_NEGATIONS: Final = frozenset(
    ("not", "no", "never", "none", "nothing", "neither", "nor", "without", "cannot",
     "nicht", "kein", "keine", "keinen", "nie", "ohne", "pas", "sans", "jamais", "aucun",
     "sin", "nunca", "jamás", "不", "没", "無", "无", "未", "非")
)  # fmt: skip
_LISTS: Final = read_word_lists(__file__)
_OPPOSITES: Final = frozenset(f"{_LISTS['opposites']} {_LISTS['unspaced opposites']}".split())
"""Words for sides, times and states, and their opposites."""
DATES: Final = frozenset(_LISTS["dates"].split())
"""Names of days and months."""
_OPPOSED: Final = _OPPOSITES | DATES
UNSPACED_DATES: Final = tuple(_LISTS["unspaced dates"].split())
_NAME: Final = re.compile(r"(?<=\w )[^\W\d_a-z][^\s]*")
"""A word with a capital that does not begin the text."""


class Meaning(Struct, frozen=True):
    """A text's vector, and its words, also as they follow each other."""

    embedding: Embedding
    words: frozenset[str]
    ordered: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    """The words that are written as names."""

    @classmethod
    def of(cls, text: str, embedding: Embedding) -> "Meaning":
        """The meaning of a text."""
        names = frozenset().union(*(words(name) for name in _names(text)))
        return cls(embedding, words(text), in_order(text), names)


def words(text: str) -> frozenset[str]:
    """The set of words of a text: NFC, without case, in the sense of this module."""
    return frozenset(in_order(text))


def in_order(text: str) -> tuple[str, ...]:
    """The same words as they follow each other."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    stripped = (word.strip(_SENTENCE_PUNCTUATION) for word in _WORD.findall(folded))
    return tuple(word for word in stripped if word)


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the number of common words divided by the number of all words, 0 to 1; 0 for two empty
    sets."""
    if not one or not other:
        return 0.0
    common = len(one & other)
    return common / (len(one) + len(other) - common)


def says_otherwise(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return True if they differ in a number or in a "not": this is a change, even if the rest is
    similar."""
    return any(
        word in _NEGATIONS or word.endswith(("n't", "n’t")) or any(c.isdigit() for c in word)
        for word in one ^ other
    )


def is_opposite(word: str) -> bool:
    """Return True for a word for a side, a time or a state that has an opposite, or for a date."""
    return word in _OPPOSED


def names_in(text: str) -> frozenset[str]:
    """Return the words of a text that are written as names, without case."""
    return frozenset().union(*(words(name) for name in _names(text)))


def _names(text: str) -> list[str]:
    return [name for name in _NAME.findall(text) if name[:1].isupper()]


def says_other_things(one: Meaning, other: Meaning) -> bool:
    """Return True if two texts that have nearly the same vector differ in what they say: in a
    number, a "not", a name, a day, a side or another opposite, or in one place of otherwise the
    same text. Vectors hardly tell the left knee from the right one."""
    differing = one.words ^ other.words
    if says_otherwise(one.words, other.words):
        return True
    if not differing.isdisjoint(_OPPOSED | one.names | other.names):
        return True
    mine, theirs = _only_place(one, other), _only_place(other, one)
    return bool(mine and theirs and mine != theirs)


def _only_place(one: Meaning, other: Meaning) -> frozenset[str]:
    """Return the stems of the words with content that the other lacks, if they stand together."""
    apart = [at for at, word in enumerate(one.ordered) if word not in other.words]
    if not apart or apart[-1] - apart[0] + 1 != len(apart):
        return frozenset()
    lacking = (one.ordered[at] for at in apart)
    return frozenset(stem(folded(word)) for word in lacking if word not in STOP_WORDS)


def turned_round(one: Sequence[str], other: Sequence[str]) -> bool:
    """Return True if the common words are in another order: "Ada owes Bob", "Bob owes Ada"."""
    common = set(one) & set(other)
    return _in_order(one, common) != _in_order(other, common)


def _in_order(of: Sequence[str], common: set[str]) -> list[str]:
    """Return the common ones of the words; a repeated word counts once."""
    return [word for word, _ in groupby(word for word in of if word in common)]


def duplicate_of(
    new: frozenset[str],
    existing: Iterable[tuple[str, frozenset[str]]],
    threshold: float = JACCARD_THRESHOLD,
) -> Duplicate | None:
    """The most similar of the existing (id, words) that is the same memory as the new one.

    The same is: a similarity of at least `threshold`, and no other number, negation, day, side or
    other opposite.
    """
    best: Duplicate | None = None
    for memory_id, other in existing:
        similarity = jaccard(new, other)
        if similarity < threshold or (best is not None and similarity <= best.similarity):
            continue
        opposed = not (new ^ other).isdisjoint(_OPPOSED)
        if not (opposed or says_otherwise(new, other)):
            best = Duplicate(memory_id, similarity)
    return best


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the cosine of two vectors, -1 to 1; 0 if one is zero or their dimensions differ."""
    if len(one) != len(other):
        return 0.0
    length = math.hypot(*one) * math.hypot(*other)
    return sum(map(operator.mul, one, other)) / length if length else 0.0


def same_meaning(
    new: Meaning, existing: Iterable[tuple[str, Meaning]], threshold: float = VECTOR_THRESHOLD
) -> Duplicate | None:
    """The closest of the existing (id, meaning) that says the same in other words.

    Vectors of different models are not compared. Another order of the very same words is a change,
    and so is what `says_other_things` finds.
    """
    best: Duplicate | None = None
    for memory_id, other in existing:
        if other.embedding.model != new.embedding.model:
            continue
        similarity = min(cosine(new.embedding.vector, other.embedding.vector), 1.0)
        if similarity < threshold or (best is not None and similarity <= best.similarity):
            continue
        swapped = new.words == other.words and turned_round(new.ordered, other.ordered)
        if not (swapped or says_other_things(new, other)):
            best = Duplicate(memory_id, similarity)
    return best


def size_bounds(count: int, threshold: float = JACCARD_THRESHOLD) -> tuple[int, int]:
    """Return the range of word counts that can reach `threshold` with `count` words."""
    exact = _exact(threshold)
    return math.ceil(exact * count), math.floor(count / exact)


def lookup_keys(of: frozenset[str], threshold: float = JACCARD_THRESHOLD) -> tuple[str, ...]:
    """The words of which a duplicate has at least one; the rarest, so that few others have it.

    Of `n` words a duplicate shares at least ceil(threshold x n): it cannot lack all of
    n - ceil(threshold x n) + 1 of them. A text of 12 words needs one key, one of 100 words nine.
    """
    return _rarest(of, len(of) - math.ceil(_exact(threshold) * len(of)) + 1) if of else ()


def stored_keys(of: frozenset[str]) -> tuple[str, ...]:
    """The words under which a memory is filed, so that `lookup_keys` of a duplicate, at any
    threshold from `LOWEST_THRESHOLD`, hit at least one of them. About a fifth of its words.

    Both sides take their first words in the same order; two sets that are alike enough share one
    of these (prefix filtering).
    """
    return lookup_keys(of, LOWEST_THRESHOLD)


def _rarest(of: frozenset[str], count: int) -> tuple[str, ...]:
    """Numbers and long words first: seldom the same in two memories, and no statistics needed."""
    ordered = sorted(of, key=lambda word: (not any(c.isdigit() for c in word), -len(word), word))
    return tuple(ordered[:count])


def _exact(threshold: float) -> Fraction:
    """0.92 as 92/100: with the binary fraction, 0.92 x 25 would be more than 23."""
    if not LOWEST_THRESHOLD <= threshold <= 1:
        raise ValueError(f"threshold must be {LOWEST_THRESHOLD} to 1, not {threshold}")
    return Fraction(str(threshold))
