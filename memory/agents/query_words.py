"""The words by which a query is judged, in six languages: English, German, French, Spanish, Russian
and Chinese. Chinese has no spaces, so its terms are looked for anywhere."""

from typing import Final

from msgspec import Struct

from safety.word_lists import phrases_of, read_word_lists

_LISTS: Final = read_word_lists(__file__)


class Words(Struct, frozen=True):
    """A group of words. `whole` are complete words, `stems` beginnings of words, `parts` occur
    anywhere."""

    whole: frozenset[str]
    stems: tuple[str, ...]
    parts: tuple[str, ...]

    def has(self, word: str) -> bool:
        """True for a word of this group."""
        return word in self.whole or word.startswith(self.stems)

    def among(self, words: "list[str]", text: str) -> bool:
        """True if one of the words is of this group, or one of its parts is in the text."""
        return any(map(self.has, words)) or any(part in text for part in self.parts)


def _words(name: str) -> Words:
    return Words(
        frozenset(_LISTS.get(name, "").split()),
        tuple(_LISTS.get(f"{name}: beginnings", "").split()),
        tuple(phrases_of(_LISTS.get(f"{name}: anywhere", ""))),
    )


SEIZE: Final = _words("seize")
"""Verbs of a mass extraction."""
TAKE: Final = _words("take")
TOTAL: Final = _words("total")
VERBATIM: Final = _words("verbatim")
STORE: Final = _words("store")
SECRET: Final = _words("secret")
KEY: Final = _words("key")
"""Words that name a secret beside other things."""
SUBJECT: Final = _words("subject")
"""Words that make a secret's name the subject of ordinary work."""
OTHERS: Final = _words("others")
OTHER: Final = _words("other")
HOLDER: Final = _words("holder")
EMPTY: Final = _words("empty")
"""Words without a topic."""
