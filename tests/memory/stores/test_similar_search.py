"""The choice of the memories that a statement is compared with."""

import pytest

from memory.stores.sqlite import similar_search
from memory.stores.sqlite.similar_search import CommonWords
from memory.stores.word_ranking import WordCandidate, WordUse, closest
from memory.text.terms import Term, index_terms, query_terms

COMMON = WordUse(300, 400)


def test_a_common_word_is_known_for_some_minutes() -> None:
    known = CommonWords()
    known.keep("garden", 1_000, COMMON)
    assert known.get("garden", 1_000 + similar_search.FRESH - 1) == COMMON
    assert known.get("garden", 1_000 + similar_search.FRESH) is None
    assert known.get("garden", 999) is None  # the clock was set back
    assert known.get("cellar", 1_000) is None


def test_a_bounded_number_of_common_words_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similar_search, "MAX_COMMON", 2)
    known = CommonWords()
    for word in ("one", "two", "one", "three"):
        known.keep(word, 5, COMMON)
    assert known.get("two", 5) is None
    assert known.get("one", 5) == known.get("three", 5) == COMMON


def scores(text: str, *candidates: str, uses: dict[str, WordUse]) -> dict[str, float]:
    """The score of each candidate by its text."""
    terms = query_terms(text)
    there = [
        WordCandidate(at, "", words, len(words.split())) for at, words in enumerate(candidates)
    ]
    known = [uses.get(term.text, WordUse(1)) for term in terms]
    return {candidates[at]: score for at, score in closest(there, terms, known, 1_000)}


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    found = scores("lighthouse garden", "lighthous old", "garden old", uses={"garden": COMMON})
    assert list(found) == ["lighthous old", "garden old"]


def test_of_common_words_the_one_in_a_shorter_range_is_more_common() -> None:
    uses = {"garden": WordUse(300, 300), "shelf": WordUse(300, 3_000)}
    found = scores("garden shelf", "garden old", "shelf old", uses=uses)
    assert list(found) == ["shelf old", "garden old"]


def test_a_longer_text_with_the_same_words_is_less_close() -> None:
    words = index_terms("we drove along the coast for hours and saw a lighthouse and three ships")
    found = scores("the lighthouse", "lighthous", words, uses={})
    assert list(found) == ["lighthous", words]
    assert all(0 < score <= 1 for score in found.values())


def test_a_word_without_memories_weighs_nothing() -> None:
    terms = (Term("garden"), Term("zebra"))
    there = [WordCandidate(1, "", "garden", 1)]
    assert closest(there, terms, [WordUse(2), WordUse(0)], 2) == [(1, 1.0)]
