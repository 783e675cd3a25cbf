"""Recognises sentences whose subject or object is named in another message: "It broke again", "Er
wohnt jetzt dort", "Lo vendimos ayer".

A pronoun refers to another message if nothing before it in the same text could be meant. First and
second persons are known. The lists hold frequent words of sixteen languages; where a form is
doubtful, the sentence counts as one that stands alone.
"""

import re
from collections.abc import Sequence
from typing import Final

from memory.text.sentences import SPEAKER, is_unspaced, stands_alone, telling_words
from memory.text.similarity import names_in
from memory.text.stop_words import words_of
from memory.text.terms import folded, stem
from safety.word_lists import phrases_of, read_word_lists

MAX_LOOKED_AT: Final = 12
"""Words of a sentence among which a pronoun is searched."""
_LISTS: Final = read_word_lists(__file__)


def _words(name: str) -> frozenset[str]:
    return frozenset(_LISTS[name].split())


_PERSONS: Final = _words("persons")
_THINGS: Final = _words("things")
_DEMONSTRATIVES: Final = _words("demonstratives")
_TO_BE: Final = _words("verbs to be")
_OBJECTS: Final = _words("things as objects")
_SPEAKS: Final = _words("speakers")
_CLAUSE: Final = _words("clause after an object")
_CLITICS: Final = _words("clitics")
_VERB_ENDS: Final = tuple(_LISTS["ends of a verb"].split())
_AFTER_CLITIC: Final = _words("verbs after a clitic")
_PLACES: Final = _words("places")
_BEFORE: Final = _words("before a subject")
_NO_SUBJECT: Final = tuple(f"{phrase} " for phrase in phrases_of(_LISTS["no subject"]))
_FRENCH: Final = _words("french")
_GERMAN: Final = _words("german")
_POLISH: Final = frozenset("ąćęłńśźż")
_POLITE: Final = _words("polite")
_NO_UNSPACED: Final = tuple(_LISTS["unspaced, no reference"].split())
_UNSPACED: Final = tuple(_LISTS["unspaced persons"].split())
_FRENCH_OBJECT: Final = re.compile(r"\b(?:je|j|tu|nous|on|vous) (?:l|les) (?:ai|as|a|avons|avez)\b")
_LETTERS: Final = re.compile(r"[^\W_]")


def refers_back(text: str) -> bool:
    """Return True if the first sentence of a text names its subject or object by a pronoun alone,
    so that nobody understands it later."""
    words = words_of(text)[:MAX_LOOKED_AT]
    joined = f"{' '.join(words)} "
    if not words or joined.startswith(_NO_SUBJECT):
        return False
    if is_unspaced(text.strip()[:1]) and not "가" <= text.strip()[:1] <= "힣":
        return text.strip().startswith(_UNSPACED) and not text.strip().startswith(_NO_UNSPACED)
    start = next((at for at, word in enumerate(words) if word not in _BEFORE), 0)
    return (
        _is_subject(words, start, text)
        or _is_object(words)
        or _FRENCH_OBJECT.search(joined) is not None
    )


def names_more(wording: str, sentence: str) -> bool:
    """Return True if a wording of such a sentence stands alone, shares a word with it, and names
    something that it does not."""
    if refers_back(wording) or not stands_alone(wording):
        return False
    if is_unspaced(sentence.strip()[:1]):
        return len(wording) > len(sentence) // 2
    said, meant = _stems(sentence), _stems(wording)
    return bool(meant - said) and bool(meant & said)


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(folded(word)) for word in telling_words(text))


def is_only_reference(text: str) -> bool:
    """Return True for a text that names nothing: "that", "it", "?", an emoji."""
    if not _LETTERS.search(text):
        return True
    words = words_of(text)
    known = _THINGS | _DEMONSTRATIVES | _PERSONS
    return all(word in known or word in _UNSPACED for word in words)


def _is_subject(words: Sequence[str], at: int, text: str) -> bool:
    word, after = words[at], words[at + 1 : at + 2]
    # "im" is also German for "in the".
    spoken = any(one in SPEAKER and one != "im" for one in words)
    if word == "il":
        return not _FRENCH.isdisjoint(words)
    if word == "es":
        return not spoken and not _GERMAN.isdisjoint(words)
    if word == "on":
        return not _POLISH.isdisjoint(text.casefold())
    if word in _POLITE and spoken:
        return False
    if word in _PERSONS:
        return bool(after) and not (spoken and names_in(text))
    if word == "o" and len(words) > 2 and not set("ığşıİ").isdisjoint(text):
        return True
    if word in _THINGS:
        return not spoken
    if word in _DEMONSTRATIVES:
        return not spoken and bool(after) and after[0] in _TO_BE
    if word in _CLITICS and after:
        return after[0] in _AFTER_CLITIC or after[0].endswith(_VERB_ENDS)
    return False


def _is_object(words: Sequence[str]) -> bool:
    """Return True for "we sold it", "I live there": a pronoun after the speaker with one verb
    between them, at most."""
    for at, word in enumerate(words[1:], 1):
        before = words[:at]
        if word in _PLACES:
            after = words[at + 1 : at + 2]
            named = telling_words(" ".join(before))
            return len(named) <= 1 and not (after and after[0] in _TO_BE)
        if word in _OBJECTS and not _SPEAKS.isdisjoint(before):
            after = words[at + 1 : at + 2]
            if after and after[0] in _CLAUSE | SPEAKER:
                return False
            german = word in {"es", "sie", "ihn", "ihm"}
            return len(telling_words(" ".join(before))) <= (0 if german else 1)
    return False
