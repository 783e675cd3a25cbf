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


OTHER_THINGS = """
My right knee hurts after running | My left knee hurts after running
The shop is closed on holidays | The shop is open on holidays
Water the plants before sunrise | Water the plants after sunrise
I have three cats | I have two cats
Call Maria when the build breaks | Call Marta when the build breaks
The bins are collected on Tuesday | The bins are collected on Friday
I take the pill in the morning | I take the pill in the evening
My car is parked inside | My car is parked outside
The server runs on port one | The server runs on port two
Never send the report to Tom | Always send the report to Tom
My sister is a nurse | My sister is a lawyer
Mein rechtes Knie tut weh | Mein linkes Knie tut weh
Der Laden ist sonntags geschlossen | Der Laden ist sonntags offen
Ich habe drei Katzen | Ich habe zwei Katzen
Die Sitzung ist im März | Die Sitzung ist im Mai
Le magasin est fermé le lundi | Le magasin est ouvert le lundi
Mon genou gauche me fait mal | Mon genou droit me fait mal
J'ai trois chats | J'ai deux chats
La tienda está cerrada | La tienda está abierta
Me duele la rodilla izquierda | Me duele la rodilla derecha
Il negozio è chiuso | Il negozio è aperto
Mi fa male il ginocchio sinistro | Mi fa male il ginocchio destro
A loja está fechada | A loja está aberta
Boli mnie lewe kolano | Boli mnie prawe kolano
Sol dizim ağrıyor | Sağ dizim ağrıyor
У меня болит левое колено | У меня болит правое колено
У мене болить ліве коліно | У мене болить праве коліно
ركبتي اليمنى تؤلمني | ركبتي اليسرى تؤلمني
मेरा बायाँ घुटना दुखता है | मेरा दायाँ घुटना दुखता है
左の膝が痛いです | 右の膝が痛いです
我的左膝盖疼 | 我的右膝盖疼
왼쪽 무릎이 아파요 | 오른쪽 무릎이 아파요
私は朝に薬を飲みます | 私は夜に薬を飲みます
"""
SAME_THING = """
I like tea | tea is what I like
I am allergic to peanuts | I'm allergic to peanuts
Please answer in short sentences | Please answer in a short sentence
My dog's name is Rex | The name of my dog is Rex
I prefer emails that are brief | I prefer brief emails
Ich mag den Tee | Ich mag Tee
J'aime bien le thé | J'aime le thé
Me gusta el té | A mí me gusta el té
Я очень люблю чай | Я люблю чай
我很喜欢茶 | 我喜欢茶
"""
VECTOR = Embedding("m", (1.0, 0.0))


def lines(of: str) -> list[tuple[str, str]]:
    pairs = (line.split("|") for line in of.strip().splitlines())
    return [(one.strip(), other.strip()) for one, other in pairs]


def repeats(new: str, old: str) -> bool:
    """True for a duplicate by vectors that are the same."""
    known = [("mem-1", Meaning.of(old, VECTOR))]
    return same_meaning(Meaning.of(new, VECTOR), known) is not None


@pytest.mark.parametrize(("one", "other"), lines(OTHER_THINGS))
def test_a_text_that_differs_in_one_place_is_no_duplicate(one: str, other: str) -> None:
    assert not repeats(one, other)
    assert not repeats(other, one)


@pytest.mark.parametrize(("one", "other"), lines(SAME_THING))
def test_other_forms_and_function_words_make_no_other_text(one: str, other: str) -> None:
    assert repeats(one, other)
    assert repeats(other, one)


def test_in_a_long_text_one_opposite_makes_another_memory() -> None:
    words = " ".join(f"word{number}x" for number in range(40))
    long = frozenset(f"{words} my left knee".split())
    assert duplicate_of(frozenset(f"{words} my right knee".split()), [("mem-1", long)]) is None
    assert duplicate_of(frozenset(f"{words} his left knee".split()), [("mem-1", long)]) is not None
