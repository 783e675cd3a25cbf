"""The words of documents and of questions about them, in the language of the document.

A passage is filed under the words of `memory.knowledge.words`, under their stems in the language of
the document, and under the parts of its compounds: "Kündigungsfrist" also under "kundig" and
"frist", if both are words of the document themselves. A word of a question is looked for under the
same; which parts it has decides the index.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from msgspec import Struct
from py_rust_stemmers import SnowballStemmer

from memory.knowledge.words import COMMON, FiledWords, words_of
from memory.text.stop_words import language_of, telling, unspaced_telling
from memory.text.stop_words import words_of as plain_words
from memory.text.terms import folded

STEMMED: Final = frozenset(
    ("German", "French", "Spanish", "Italian", "Portuguese", "Dutch", "Swedish", "Turkish")
)
"""Languages that are stemmed besides English and Russian."""
COMPOUNDING: Final = frozenset(("German", "Dutch", "Swedish"))
"""Languages that write compounds as one word."""
MAX_SAMPLE: Final = 20_000
"""Words by which the language of a document is recognised."""
MAX_VOCABULARY: Final = 100_000
"""Different words of a document whose compounds are recognised."""
MIN_PART: Final = 4
"""Letters of a part of a compound."""
MIN_UNKNOWN: Final = 5
"""Letters of the parts of a compound of which the document has only one as a word."""
MAX_LETTERS: Final = 40
"""Letters of a compound that is looked at."""
LINKS: Final = ("", "s", "es", "n", "en", "e")
"""Letters between the parts of a compound."""
MAX_GROUPS: Final = 24
"""Words of a question that are looked for."""
MAX_WORDS: Final = 62
"""Words in the index for all of them."""
MAX_STEMS: Final = 2
"""Forms of one of them."""
PART: Final = 0.5
"""The weight of a part of a compound in a question, in proportion to the whole."""


class AskedWord(Struct, frozen=True):
    """A word of a question: the words of the index under which it is found, and pairs of words of
    which it may be made, which count less."""

    whole: tuple[str, ...]
    splits: tuple[tuple[str, str], ...] = ()

    def words(self) -> Iterator[str]:
        """Yield all words of the index."""
        yield from self.whole
        for pair in self.splits:
            yield from pair


class DocumentWords:
    """Files the passages of one document. Its words decide what is a part of a compound."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.language = language_of_document(texts)
        self._vocabulary: frozenset[str] = frozenset()
        if self.language in COMPOUNDING:
            words = {stem for text in texts for _, stem in _stems(text, self.language)}
            if len(words) <= MAX_VOCABULARY:
                self._vocabulary = frozenset(word for word in words if len(word) >= MIN_PART)

    def filed(self, text: str) -> FiledWords:
        """Return the words under which a passage is found."""
        words = words_of(text)
        counts = Counter(words)
        if self.language in STEMMED:
            further: Counter[str] = Counter()
            for word, stem in _stems(text, self.language):
                further.update({stem, *self._parts(word)})
            for word, count in further.items():
                counts[word] = max(counts[word], count)
        filed = " ".join(f"{word}:{count}" for word, count in counts.items())
        return FiledWords(f" {filed} ", len(words))

    def _parts(self, word: str) -> tuple[str, ...]:
        if not self._vocabulary:
            return ()
        return compound_parts(word, self.language, self._vocabulary)


def language_of_document(texts: Iterable[str]) -> str:
    """Return the English name of the language of a document; empty if none is recognised."""
    sample: list[str] = []
    for text in texts:
        sample += plain_words(text)
        if len(sample) >= MAX_SAMPLE:
            break
    return language_of(sample)


def compound_parts(word: str, language: str, vocabulary: Collection[str]) -> tuple[str, ...]:
    """Return the stems of the parts of a folded word, of which the vocabulary has two, or else one,
    if the parts are long; the rest of such a word may begin with a letter that links them. None for
    a simple word."""
    one_known: tuple[str, ...] = ()
    for first, last in _splits(word, language):
        if first in vocabulary and last in vocabulary:
            return first, last
        long = min(len(first), len(last)) >= MIN_UNKNOWN
        if long and (first in vocabulary or last in vocabulary):
            if not one_known:
                one_known = (first, last)
            elif one_known[0] == first:
                one_known = (*one_known, last)
    return one_known


def _splits(word: str, language: str) -> Iterator[tuple[str, str]]:
    """The stems of two words of which a folded word may be made, at every place."""
    if not (2 * MIN_PART <= len(word) <= MAX_LETTERS):
        return
    for end in range(MIN_PART, len(word) - MIN_PART + 1):
        last = stemmed(word[end:], language)
        for link in LINKS:
            first = word[: end - len(link)]
            if len(first) >= MIN_PART and word[:end].endswith(link):
                yield stemmed(first, language), last


def asked_words(text: str, languages: Collection[str]) -> tuple[AskedWord, ...]:
    """Return the words of a question about documents in these languages, at most `MAX_WORDS` words
    of the index."""
    kept = telling(plain_words(unspaced_telling(text)))
    asked = list(dict.fromkeys(group for word in kept for group in _groups(word, languages)))
    asked = [one for one in asked if _tells(one.whole[0])] or asked
    asked = asked[:MAX_GROUPS]
    known = {one for word in asked for one in word.whole}
    bounded = []
    for one in asked:
        splits = []
        for pair in one.splits:
            if len(known | set(pair)) <= MAX_WORDS:
                known |= set(pair)
                splits.append(pair)
        bounded.append(AskedWord(one.whole, tuple(splits)))
    return tuple(bounded)


def _tells(word: str) -> bool:
    """False for function words, which in Japanese are pairs of Hiragana, and for the last character
    of a run of Chinese or Japanese, which is a part of the pair before it."""
    if word in COMMON or (len(word) == 1 and not word.isascii()):
        return False
    return not all("\u3040" <= sign <= "\u309f" for sign in word)


def _groups(word: str, languages: Collection[str]) -> list[AskedWord]:
    stems = [stemmed(folded(word), one) for one in sorted(set(languages) & STEMMED)]
    filed = words_of(word)
    if len(filed) != 1:  # pairs of characters, or an identifier with its parts
        return [AskedWord((one,)) for one in filed]
    whole = tuple(dict.fromkeys((*filed, *stems)))[:MAX_STEMS]
    splits = dict.fromkeys(
        pair
        for language in sorted(set(languages) & COMPOUNDING)
        for pair in _splits(folded(word), language)
    )
    return [AskedWord(whole, tuple(splits))]


def _stems(text: str, language: str) -> Iterable[tuple[str, str]]:
    """The folded words of a text with their stems."""
    for word in plain_words(text):
        plain = folded(word)
        if plain.isalpha():
            yield plain, stemmed(plain, language)


@lru_cache(50_000)
def stemmed(word: str, language: str) -> str:
    """Return a folded word without its ending in a language of `STEMMED`."""
    return str(_stemmer(language).stem_word(word))


@lru_cache(len(STEMMED))
def _stemmer(language: str) -> SnowballStemmer:
    return SnowballStemmer(language.lower())
