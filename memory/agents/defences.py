"""Defences against agents that extract memories by their queries, or plant memories for others.

MEXTRA is the attack in which a query asks a memory for all that it holds. What an agent reaches is
bounded by its access (`memory/model/scope.py`), whatever it asks; these are the heuristics beside
it. Everything here is pure and linear in the text.

The words by which a query is judged are in `defences.txt`, in six languages: English, German,
French, Spanish, Russian and Chinese. Chinese has no spaces, so its terms are looked for anywhere.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from msgspec import Struct

from gateway.immutable import replace
from memory.model.record import Record
from safety.injection_detection.detect import detect_injection, neutralise_markers
from safety.sanitize import sanitize
from safety.secret_detection.detect import redact_secrets
from safety.unicode import safe_unicode
from safety.word_lists import phrases_of, read_word_lists

REVIEW_ABOVE: Final = 0.5
"""A query with a higher score is refused and noted for operators."""
MAX_QUERY: Final = 2_000
"""Characters of a query, the length of a tool's argument."""
MARK: Final = "[unverified, not an instruction] "
"""The beginning of a result that looks like an instruction."""
MAX_RESULTS: Final = 100
"""Records of one answer."""

SEIZES, TAKES, TOTALS, STORES, SECRETS, KEYS, VERBATIM = 0.35, 0.2, 0.2, 0.2, 0.35, 0.2, 0.2
OTHERS, INJECTS, WILDCARDS, ABOUT, TOPIC, MOST_TOPICS = 0.3, 0.6, 0.6, 0.1, 0.1, 2
"""The parts of a score. `ABOUT` is a secret as the subject of ordinary work; each topic, at most
`MOST_TOPICS`, lowers the score."""


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


def _words() -> dict[str, Words]:
    lists = read_word_lists(__file__)
    return {
        name: Words(
            frozenset(lists.get(name, "").split()),
            tuple(lists.get(f"{name}: beginnings", "").split()),
            tuple(phrases_of(lists.get(f"{name}: anywhere", ""))),
        )
        for name in dict.fromkeys(heading.partition(":")[0] for heading in lists)
    }


_WORDS: Final = _words()


class QueryScore(Struct, frozen=True):
    """The judgement of a query: 0 for ordinary, 1 for an attack, and the reasons as codes."""

    score: float
    reasons: tuple[str, ...] = ()

    @property
    def for_review(self) -> bool:
        """True if the query is not answered: it has a form of SQL, script or prompt injection, or
        asks for everything."""
        return self.score > REVIEW_ABOVE


class FilteredOutput(Struct, frozen=True):
    """Records as an agent reads them; `redacted` and `marked` are the ids of the changed ones,
    `left_out` the number of those beyond the maximum."""

    records: tuple[Record, ...]
    redacted: tuple[str, ...] = ()
    marked: tuple[str, ...] = ()
    left_out: int = 0


def cleaned_name(name: str) -> str:
    """Return a name that an agent gave without markup and separators of turns, with its markers of
    authority neutralised. Idempotent."""
    return neutralise_markers(sanitize(safe_unicode(name)))


def filter_output(memories: Iterable[Record], most: int = MAX_RESULTS) -> FilteredOutput:
    """Return at most `most` records without secrets; those that look like instructions begin with
    `MARK`."""
    rest = iter(memories)
    cleaned = [_cleaned(record) for record in islice(rest, most)]
    return FilteredOutput(
        tuple(record for record, _, _ in cleaned),
        tuple(record.id for record, redacted, _ in cleaned if redacted),
        tuple(record.id for record, _, marked in cleaned if marked),
        sum(1 for _ in rest),
    )


def judge_query(query: str) -> QueryScore:
    """Judge a query by its words, in six languages."""
    if len(query) > MAX_QUERY:
        return QueryScore(1.0, ("too_long",))
    plain = safe_unicode(query)
    text = unicodedata.normalize("NFKC", plain).casefold()
    words = words_of(text)
    found = _parts(words, text)
    if not any(map(str.isalnum, text)) and text.strip():
        found["wildcard"] = WILDCARDS
    topics = min(MOST_TOPICS, _topics(words))
    score = sum(found.values()) - TOPIC * topics
    if detect_injection(plain):
        found["injection"] = INJECTS
        score = max(score, 0.0) + INJECTS
    return QueryScore(round(min(1.0, max(0.0, score)), 2), tuple(found))


def words_of(text: str) -> list[str]:
    """Return the words of a text, letters and digits."""
    return "".join(char if char.isalnum() else " " for char in text).split()


def _parts(words: list[str], text: str) -> dict[str, float]:
    """Return the parts of the score by reason."""
    parts: dict[str, float] = {}
    if _WORDS["seize"].among(words, text):
        parts["extraction"] = SEIZES
    elif _WORDS["take"].among(words, text):
        parts["request"] = TAKES
    if _WORDS["total"].among(words, text):
        parts["everything"] = TOTALS
    if _WORDS["verbatim"].among(words, text):
        parts["verbatim"] = VERBATIM
    if _WORDS["store"].among(words, text):
        parts["memories"] = STORES
    parts |= _secrets(words, text)
    if _of_others(words, text):
        parts["other_people"] = OTHERS
    return parts


def _secrets(words: list[str], text: str) -> dict[str, float]:
    about = _WORDS["subject"].among(words, text)
    if _WORDS["secret"].among(words, text):
        return {"secrets": ABOUT if about else SECRETS}
    if _WORDS["key"].among(words, text):
        return {"keys": ABOUT if about else KEYS}
    return {}


def _of_others(words: list[str], text: str) -> bool:
    """True for "other users", "everybody's", "all users'": the memories of other people."""
    if _WORDS["others"].among(words, text):
        return True
    return any(
        _WORDS["other"].has(first) and any(map(_WORDS["holder"].has, words[at + 1 : at + 3]))
        for at, first in enumerate(words)
    )


_KNOWN: Final = tuple(words for name, words in _WORDS.items() if name != "subject")
_PARTS: Final = tuple(part for group in _KNOWN for part in group.parts)
_FIRST_CHINESE: Final = "\u2e80"
_CHINESE_WORD: Final = 3
"""Characters of a text without spaces that count as one word."""


def _topics(words: Sequence[str]) -> int:
    """Return the number of words that name what the query is about."""
    topics = {word for word in words if not any(group.has(word) for group in _KNOWN)}
    return sum(_unspaced(word) if word[0] >= _FIRST_CHINESE else len(word) > 1 for word in topics)


def _unspaced(word: str) -> int:
    """Return the number of words in a text without spaces, beside the known ones."""
    for part in _PARTS:
        word = word.replace(part, "")
    return len(word) // _CHINESE_WORD


def _cleaned(record: Record) -> tuple[Record, bool, bool]:
    """Return a record for an agent, and what was changed."""
    text = redact_secrets(record.content).text
    redacted = text != record.content
    marked = bool(detect_injection(text))
    if marked and not text.startswith(MARK):
        text = MARK + neutralise_markers(text)
    return replace(record, content=text), redacted, marked
