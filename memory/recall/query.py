"""Reads a question: its words, literals and dates."""

import re
from typing import Final

from msgspec import Struct

from memory.ports.recall import Query
from memory.recall.dates import QuestionDates, dates_in
from memory.text.courtesies import without_courtesies
from memory.text.function_words import telling, unspaced_telling

MAX_QUERY: Final = 2_000
"""Characters of a question that are read."""
MAX_LITERALS: Final = 8
FEW_WORDS: Final = 2
"""A question of so few words is an exact search."""

_WORD: Final = re.compile(r"[^\W_]+")
_WHOLE_WORD: Final = re.compile(r"(?:[^\W_]|(?!\w)[\u0900-\u0963\u0966-\u0dff])+")
"""A word with the vowel signs of India's scripts."""
_QUOTED: Final = re.compile(
    r'"([^"\n]{2,80})"|“([^”\n]{2,80})”|„([^“”\n]{2,80})[“”]|`([^`\n]{2,80})`'
)
_TOKEN: Final = re.compile(r"[^\s,;!?()\[\]{}<>\"'“”„`]{2,100}")
_WORD_OR_NAME: Final = re.compile(r"\w+")
_NAME_WITH_SIGNS: Final = re.compile(r"[\w.:/#@+-]+")
_DIGIT: Final = re.compile(r"\d")
_LETTER_OR_SIGN: Final = re.compile(r"[A-Za-z._:/#-]")
_LONG_NUMBER: Final = re.compile(r"\d{5,}")
_ORDINARY: Final = re.compile(
    r"\d{1,2}(?:st|nd|rd|th|am|pm|h|x|er|ten)?\.?|\d{1,2}:\d{2}|(?:19|20)\d\d(?:s|er)?"
    r"|\d{4}-\d\d-\d\d|\d{1,2}\.\d{1,2}\.(?:\d{2,4})?",
    re.IGNORECASE,
)
_MINE: Final = frozenset({"i", "my", "me", "mine", "ich", "mein", "meine", "meinen", "mir", "mich"})
_YOURS: Final = frozenset({"you", "your", "yours", "du", "dein", "deine", "dir", "dich"})


class Question(Struct, frozen=True):
    """The features of a query.

    `search` is the text for the searches; `words` are folded and in order. `literals` (quotations,
    identifiers, versions, hashes) have to occur as they are. `exact`: there is nothing else, or one
    or two words, so similarity of meaning would only add noise. `mine` and `yours`: the question is
    about what the person said, or was told.
    """

    text: str
    search: str
    words: tuple[str, ...]
    literals: tuple[str, ...]
    exact: bool
    dates: tuple[QuestionDates, ...]
    mine: bool
    yours: bool


def understood(query: Query) -> Question:
    """Read a query without its greetings and thanks; `text` is empty if it has nothing else."""
    text = " ".join(query.text[:MAX_QUERY].split())
    if not query.unfinished:
        text = without_courtesies(text)
    words = words_of(text)
    literals = literals_in(text)
    distinct = frozenset(words)
    return Question(
        text=text,
        search=_search(text),
        words=words,
        literals=literals,
        exact=query.unfinished or _is_exact(text, words, literals),
        dates=dates_in(text, query.at),
        mine=bool(distinct & _MINE) and not distinct & _YOURS,
        yours=bool(distinct & _YOURS),
    )


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text without case."""
    return tuple(word.casefold() for word in _WORD.findall(text))


def _search(text: str) -> str:
    """Return the text without its language's function words, as far as it is not English."""
    text = unspaced_telling(text)
    spans = list(_WHOLE_WORD.finditer(text))
    kept = set(telling([span[0].casefold() for span in spans]))
    parts, end = [], 0
    for span in spans:
        parts.append(text[end : span.start()])
        end = span.end()
        if span[0].casefold() in kept:
            parts.append(span[0])
    return "".join((*parts, text[end:])).strip()


def literals_in(text: str) -> tuple[str, ...]:
    """Return up to 8 literals of a text."""
    literals: dict[str, None] = {}
    for groups in _QUOTED.findall(text):
        literals[next(group for group in groups if group).strip().casefold()] = None
    for token in _TOKEN.findall(_QUOTED.sub(" ", text)):
        bare = token.strip(".:-/")
        if _is_identifier(bare) and not _ORDINARY.fullmatch(bare):
            literals[bare.casefold()] = None
    return tuple(literal for literal in literals if literal)[:MAX_LITERALS]


def _is_identifier(token: str) -> bool:
    """Return True for ADR-003, v1.2.3, 15.2, a3f9c01; REDIS_CONNECTION_TIMEOUT; 47110815."""
    if "_" in token[1:-1] and _WORD_OR_NAME.fullmatch(token):
        return True
    if _LONG_NUMBER.fullmatch(token):
        return True
    mixed = _DIGIT.search(token) and _LETTER_OR_SIGN.search(token)
    return bool(mixed and _NAME_WITH_SIGNS.fullmatch(token))


def holds(text: str, literal: str) -> bool:
    """Return True if a text contains the literal as a whole: `v1.2` is not in `v1.25`."""
    folded = text.casefold()
    start = folded.find(literal)
    while start >= 0:
        end = start + len(literal)
        before, after = folded[start - 1 : start], folded[end : end + 1]
        if not (_joins(before, literal[0]) or _joins(after, literal[-1])):
            return True
        start = folded.find(literal, start + 1)
    return False


def _joins(adjacent: str, edge: str) -> bool:
    return bool(adjacent) and (adjacent.isalnum() or adjacent == "_") and edge.isalnum()


def _is_exact(text: str, words: tuple[str, ...], literals: tuple[str, ...]) -> bool:
    if 0 < len(words) <= FEW_WORDS and text.isascii():
        return True
    rest = _QUOTED.sub(" ", text).casefold()
    for literal in literals:
        rest = rest.replace(literal, " ")
    return bool(literals) and not _WORD.search(rest)
