"""Finds memories that are the same; comparing only the likely ones misses none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.model.record import Embedding
from memory.text.similarity import (
    Meaning,
    cosine,
    duplicate_of,
    in_order,
    jaccard,
    lookup_keys,
    same_meaning,
    says_otherwise,
    size_bounds,
    stored_keys,
    words,
)

LONG = " ".join(f"word{chr(97 + i)}" for i in range(24))
VOCABULARY = st.sampled_from([f"w{i}" for i in range(8)] + [f"longer{i}" for i in range(8)])
SETS = st.frozensets(VOCABULARY, min_size=1, max_size=16)
THRESHOLDS = st.sampled_from([0.8, 0.85, 0.9, 0.92, 0.95, 1.0])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("We use PostgreSQL.", "we  use\npostgresql"),
        ("“Tabs”, not spaces!", "tabs not (spaces)"),
        ("Die STRASSE ist lang", "die straße ist lang"),
        ("Cafe\u0301 at noon", "café at noon"),
    ],
)
def test_case_spaces_and_punctuation_of_sentences_are_ignored(one: str, other: str) -> None:
    assert words(one) == words(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("v1.2", "v12"), ("C++", "C"), ("C#", "C"), ("-5", "5"), ("load < 5", "load > 5")],
)
def test_symbols_and_punctuation_within_words_count(one: str, other: str) -> None:
    assert words(one) != words(other)


def test_every_character_is_a_word_in_scripts_without_spaces() -> None:
    assert words("我喜欢茶。") == {"我", "喜", "欢", "茶"}


@pytest.mark.parametrize("text", ["", "   ", "...", "!?"])
def test_a_text_without_words_is_similar_to_nothing(text: str) -> None:
    assert words(text) == frozenset()
    assert jaccard(words(text), words(text)) == 0
    assert lookup_keys(words(text)) == ()


def test_a_repetition_with_a_small_change_is_a_duplicate() -> None:
    new = words(f"{LONG} indeed")
    result = duplicate_of(new, [("mem-0", words("something else")), ("mem-1", words(LONG))])
    assert result is not None
    assert (result.id, result.similarity) == ("mem-1", 24 / 25)


def test_the_most_similar_memory_is_named() -> None:
    result = duplicate_of(words(LONG), [("near", words(f"{LONG} x")), ("same", words(LONG))])
    assert result is not None
    assert result.id == "same"


@pytest.mark.parametrize("change", ["not", "8081", "isn't", "v2", "nicht"])
def test_another_number_or_a_negation_is_not_a_duplicate(change: str) -> None:
    one, other = words(LONG), words(f"{LONG} {change}")
    assert jaccard(one, other) > 0.92
    assert says_otherwise(one, other)
    assert duplicate_of(one, [("mem-1", other)]) is None


def test_a_similarity_below_the_threshold_is_not_a_duplicate() -> None:
    assert (
        duplicate_of(words("a b c d e f g h i j k"), [("m", words("a b c d e f g h i j"))]) is None
    )


def test_the_threshold_is_exact() -> None:
    """23 of 25 words is 0.92; in binary fractions 0.92 x 25 is more than 23."""
    assert size_bounds(25, 0.92) == (23, 27)


def test_a_threshold_below_the_index_is_refused() -> None:
    with pytest.raises(ValueError, match=r"0\.8"):
        lookup_keys(words(LONG), 0.5)


@given(one=SETS, other=SETS, threshold=THRESHOLDS)
def test_a_duplicate_is_always_among_the_candidates(
    one: frozenset[str], other: frozenset[str], threshold: float
) -> None:
    assert_not_missed(one, other, threshold)


@given(one=SETS, extra=st.frozensets(VOCABULARY, max_size=2), threshold=THRESHOLDS)
def test_a_slightly_changed_text_is_among_the_candidates(
    one: frozenset[str], extra: frozenset[str], threshold: float
) -> None:
    assert_not_missed(one, one | extra, threshold)


def assert_not_missed(one: frozenset[str], other: frozenset[str], threshold: float) -> None:
    if jaccard(one, other) < threshold:
        return
    least, most = size_bounds(len(one), threshold)
    assert least <= len(other) <= most
    assert set(lookup_keys(one, threshold)) & set(stored_keys(other))
    assert set(lookup_keys(one, threshold)) & other


@given(st.text(max_size=200))
def test_any_text_is_identical_to_itself(text: str) -> None:
    result = words(text)
    assert jaccard(result, result) == (1.0 if result else 0.0)


def meaning(text: str, *vector: float, model: str = "small") -> Meaning:
    return Meaning(Embedding(model, vector), words(text), in_order(text))


def test_the_same_words_in_another_order_are_not_a_duplicate() -> None:
    old = ("old", meaning("ada owes bob", 1.0, 0.0))
    assert same_meaning(meaning("bob owes ada", 1.0, 0.0), [old]) is None
    assert same_meaning(meaning("ada owes bob!", 1.0, 0.0), [old]) is not None


def test_a_duplicate_in_other_words_is_found_by_its_vector() -> None:
    new = meaning("we store it in postgres", 1.0, 0.1)
    existing = [
        ("far", meaning("tea is hot", 0.0, 1.0)),
        ("near", meaning("postgres holds it", 1.0, 0.2)),
        ("same", meaning("our store is postgres", 2.0, 0.2)),
    ]
    result = same_meaning(new, existing)
    assert result is not None
    assert (result.id, round(result.similarity, 6)) == ("same", 1.0)


@pytest.mark.parametrize(
    "other",
    [
        meaning("the light is not on", 1.0, 0.0),
        meaning("the light is on at 8", 1.0, 0.0),
        meaning("the light is on", 1.0, 0.0, model="large"),
        meaning("the light is on", 1.0, 0.0, 0.0),
        meaning("the light is on", 0.0, 0.0),
        meaning("the light is on", -1.0, 0.0),
    ],
)
def test_a_negation_a_number_or_another_model_is_not_a_duplicate(other: Meaning) -> None:
    assert same_meaning(meaning("the light is on", 1.0, 0.0), [("mem-1", other)]) is None


@given(st.lists(st.floats(0.001, 1e3), min_size=1, max_size=8))
def test_the_cosine_of_a_vector_with_itself_is_one(vector: list[float]) -> None:
    assert cosine(vector, vector) == pytest.approx(1)
    assert cosine(vector, [-x for x in vector]) == pytest.approx(-1)
