"""Removes turns that only repeat the question or another result.

A turn repeats if nearly none of its words is new: "What do you know about tea?" and "I will
remember that." say nothing about tea. A statement never does, even in the words of the question: it
answers "Do I like tea?". The turns stay stored.
"""

import re
from collections.abc import Sequence
from typing import Final

from memory.model.recollection import Recalled
from memory.recall.repeated_questions import asks, begins_question
from memory.text.function_words import FUNCTION_WORDS

NEXT_TO_NOTHING: Final = 0.4
"""The share of new content words that a repeating turn may have."""
_ASKED_AND_ANSWERED: Final = """
anything everything know known knows nothing recall remember remembered remind said say tell told
ll ve got noted ok okay please sorry sure thank thanks understood
alles erinnere erinnern erinnerst gemerkt gesagt merk merke merken nichts sag sage sagen sagte weiss
weisst wissen danke klar notiert verstanden
dire dit rappelle rappeler retenir retiens rien sais sait savez souviens entendu merci noté
acuerdas acuerdo dicho dije nada recordaré recuerda recuerdas recuerdo sabe sabes anotado entendido
gracias vale
"""
_TELLS_NOTHING: Final = frozenset(_ASKED_AND_ANSWERED.split())
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
