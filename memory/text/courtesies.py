"""Recognises greetings, thanks and consent, which ask for nothing.

A message of nothing else recalls no memories, and a question is searched without them: "Hello!"
would find every earlier greeting, and the turns next to it.
"""

import re
import unicodedata
from typing import Final

from memory.text.function_words import FUNCTION_WORDS, STOP_WORDS
from safety.word_lists import phrases_of, read_word_lists

_LISTS: Final = read_word_lists(__file__)
CONSENT: Final = frozenset(_LISTS["consent"].split())
"""Words of consent, refusal and thanks."""

_GREETINGS: Final = frozenset(_LISTS["greetings"].split())
"""Words that greet, after which a single further word is a name."""
_COURTEOUS: Final = frozenset(_LISTS["thanks and farewells"].split())
"""Words that thank, wish or take leave."""
_FILLERS: Final = frozenset(_LISTS["fillers"].split())
"""Words that add nothing to such a word."""
_PHRASES: Final = frozenset(phrases_of(_LISTS["phrases"]))
_UNSPACED: Final = frozenset(_LISTS["unspaced"].split())
_SAYS: Final = CONSENT | _GREETINGS | _COURTEOUS
_NOTHING: Final = _SAYS | _FILLERS | FUNCTION_WORDS | STOP_WORDS
_ENDS: Final = re.compile(r"[.,;:!?…](?=\s|$)|[、。，；：！？؟،।¡¿\n]")
"""The end of a piece; "v1.2" and "10:30" have none inside."""

_WORD: Final = re.compile(r"[a-z0-9]+")


def without_courtesies(text: str) -> str:
    """The text without the pieces, between commas and ends of sentences, that only greet, thank or
    agree; empty where it has no other."""
    kept, begin = [], 0
    for end in (*(match.end() for match in _ENDS.finditer(text)), len(text)):
        piece = text[begin:end]
        begin = end
        if not is_courtesy(piece):
            kept.append(piece)
    left = "".join(kept).strip()
    return left if any(map(str.isalnum, left)) else ""


def is_courtesy(piece: str) -> bool:
    """True for words that begin or end with a greeting, thanks or consent, and have no other
    content."""
    words = words_of(piece)
    if not words:
        return False
    joined = " ".join(words)
    if joined in _PHRASES or joined.replace(" ", "") in _UNSPACED:
        return True
    if all(word in _NOTHING for word in words):
        return words[0] in _SAYS or words[-1] in _SAYS
    return len(words) == 2 and words[0] in _GREETINGS


def words_of(text: str) -> list[str]:
    r"""Words in order, with the vowel signs of Indic scripts, which `\w` leaves out."""
    if text.isascii():
        return _WORD.findall(text.lower())
    kept = (
        character if character.isalnum() or unicodedata.category(character)[0] == "M" else " "
        for character in text.casefold()
    )
    return "".join(kept).split()
