"""Removes turns that only repeat the question or another result.

A turn repeats if nearly none of its words is new: "What do you know about tea?" and "I will
remember that." say nothing about tea. A statement never does, even in the words of the question: it
answers "Do I like tea?". The turns stay stored.

Turns that repeat the question, answers that say only that nothing is known, and turns that only
greet, thank or agree match a question but say nothing, so they are not recalled, and lend no score
to other turns except the answer to an earlier question.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from memory.model.record import Record
from memory.ports.recall import Recalled
from memory.text.stop_words import FUNCTION_WORDS, without_courtesies, words_of
from safety.word_lists import phrases_of, read_word_lists

MAX_ANSWER: Final = 400
"""An answer of at most so many characters with "I do not know" has no other content."""
MAX_EMPTY: Final = 80
"""Characters of the longest turn that is looked at for having no content."""
_ASKING: Final = ("?", "？", "؟")
_DIGITS: Final = re.compile(r"\d+")

_LISTS: Final = read_word_lists(__file__)

_UNKNOWING: Final = tuple(
    f" {' '.join(words_of(phrase))} " for phrase in phrases_of(_LISTS["unknowing"])
)
_UNKNOWING_UNSPACED: Final = tuple(phrases_of(_LISTS["unknowing unspaced"]))
_KEYS: Final = frozenset(max(phrase.split(), key=len) for phrase in _UNKNOWING)
"""A word of each phrase; most answers have none of them and need no closer check."""
_QUESTION_WORDS: Final = frozenset(_LISTS["question words"].split())
"""Words that begin a question, for those who leave the question mark out."""


def silent_in(question: str, records: Sequence[Record]) -> frozenset[str]:
    """The ids of the turns that repeat the question, say that nothing is known, or only greet,
    thank or agree: "I see.". The answer "Yes" to a question among the records says something."""
    question_words = frozenset(words_of(question))
    turns = [one for one in records if one.role]
    repeating = {one.id for one in turns if _is_silent(one, question, question_words)}
    return frozenset(repeating | _empty(turns))


def _empty(turns: Sequence[Record]) -> set[str]:
    """Return the ids of the turns without content that do not follow a question."""
    short = [one for one in turns if len(one.content) <= MAX_EMPTY]
    empty = {one.id for one in short if not without_courtesies(one.content)}
    if not empty:
        return empty
    ordered = sorted(turns, key=lambda one: (one.provenance.conversation, one.provenance.at))
    for before, after in pairwise(ordered):
        together = before.provenance.conversation == after.provenance.conversation
        if together and before.role != after.role and asks(before.content):
            empty.discard(after.id)
    return empty


def asks(text: str) -> bool:
    """True for a turn that ends with a question."""
    return text.rstrip().endswith(_ASKING)


def begins_question(words: Sequence[str]) -> bool:
    """True for words of which the first is a question word."""
    return bool(words) and words[0] in _QUESTION_WORDS


def repeats(text: str, question_words: frozenset[str]) -> bool:
    """True for a question whose words, all that tell what it is about, are `asked`, and for the
    same words."""
    words = words_of(text)
    distinct = frozenset(words)
    if not (asks(text) or begins_question(words)):
        return distinct == question_words
    return bool(words) and (distinct - FUNCTION_WORDS or distinct) <= question_words


def knows_nothing(answer: str, question: str = "") -> bool:
    """True for an answer that says that something is not known, in some thirty languages, and
    names no number that the question does not."""
    if len(answer) > MAX_ANSWER:
        return False
    words = words_of(answer)
    if _KEYS.isdisjoint(words):
        unknowing = any(phrase in answer for phrase in _UNKNOWING_UNSPACED)
    else:
        padded = f" {' '.join(words)} "
        unknowing = any(phrase in padded for phrase in _UNKNOWING)
    return unknowing and not set(_DIGITS.findall(answer)) - set(_DIGITS.findall(question))


def _is_silent(turn: Record, question: str, question_words: frozenset[str]) -> bool:
    if turn.role == "assistant":
        return knows_nothing(turn.content, question)
    return repeats(turn.content, question_words)


NEXT_TO_NOTHING: Final = 0.4
"""The share of new content words that a repeating turn may have."""
_TELLS_NOTHING: Final = frozenset(_LISTS["asked and answered"].split())
"""Case-folded words of asking what somebody knows, and of confirming, in the languages of the
function words; none says anything about a subject."""

_WORD: Final = re.compile(r"[^\W_]+")
_DAY_TOLD: Final = re.compile(r"\(\d{4}-\d\d-\d\d\)")
"""The date after a memory, as the assistant reads and repeats it."""


def without_repeats(question: str, results: Sequence[Recalled]) -> list[Recalled]:
    """Return the results without repeats, in order. Of two equal turns the older stays; what is no
    turn always stays."""
    question_words = _words(question)
    known = [_words(one.record.content) for one in results if not one.record.role]
    kept = {one.id for one in results if not one.record.role}
    turns = [one for one in results if one.record.role]
    for one in sorted(turns, key=lambda turn: turn.record.provenance.at):
        text = one.record.content
        new = _words(text) - question_words - _TELLS_NOTHING
        if not new and _states(text):
            new = _words(text)
        if new and not any(_adds_little(new, other) for other in known):
            known.append(new)
            kept.add(one.id)
    return [one for one in results if one.id in kept]


def _states(text: str) -> bool:
    """True for what neither asks nor says that something is known or understood."""
    words = _WORD.findall(text.casefold())
    return _TELLS_NOTHING.isdisjoint(words) and not asks(text) and not begins_question(words)


def _adds_little(new: frozenset[str], known: frozenset[str]) -> bool:
    return len(new - known) <= NEXT_TO_NOTHING * len(new)


def _words(text: str) -> frozenset[str]:
    words = frozenset(_WORD.findall(_DAY_TOLD.sub("", text.casefold())))
    return words - FUNCTION_WORDS or words
