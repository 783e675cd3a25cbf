"""The verdict on two statements: pairs in many languages, and what holds for all of them."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.write.contradiction import MAX_VALUE, Reason, Relation, verdict
from tests.memory.write.contradiction_pairs import KINDS, MISSED, UNSEEN, Pair, pairs

NAMES = ("Finn", "Lea", "Jonas", "Ada", "Mehmet", "Олег", "Zoë", "Łukasz")
SENTENCES = (
    ("{} is now allergic to peanuts", "{} is allergic to nuts"),
    ("{} wohnt jetzt in Bern", "{} wohnt in Basel"),
    ("{} ne mange plus de viande", "{} mange de la viande"),
    ("El número de {} ahora es 5566", "El número de {} es 3344"),
    ("{} drinks tea instead of coffee", "{} drinks coffee"),
    ("Теперь {} живёт в Казани", "{} живёт в Омске"),
)


@pytest.mark.parametrize("pair", list(pairs()), ids=lambda pair: f"{pair.language}: {pair.new}")
def test_a_pair_is_judged_rightly(pair: Pair) -> None:
    relation = verdict(pair.new, pair.old).relation
    if pair.new in MISSED:
        assert relation is Relation.MAY_CONTRADICT
    elif pair.new in UNSEEN:
        assert relation is Relation.BESIDE
    else:
        assert relation in pair.right


def test_each_kind_has_twenty_pairs_in_six_languages() -> None:
    for kind, _, _ in KINDS:
        languages = Counter(pair.language for pair in pairs() if pair.kind == kind)
        assert sum(languages.values()) >= 20, kind
        assert len(languages) >= 6, kind


@pytest.mark.parametrize(
    ("new", "old", "reason"),
    [
        ("I prefer spaces now, not tabs", "I prefer tabs", Reason.DENIED),
        ("I prefer spaces now, not tabs", "My brother prefers tabs", Reason.OTHER_SUBJECT),
        ("I prefer spaces now, not tabs", "I prefer tabs in makefiles", Reason.DENIED),
        ("My phone number is 34 now", "My phone number is 12", Reason.OTHER_NUMBER),
        ("My phone number is 34 now", "My office number is 12", Reason.OTHER_SUBJECT),
        ("I also like tea now", "I like coffee", Reason.ADDS),
        ("My name is John", "My name is Jon", Reason.SAME_FRAME),
        ("The server has 8 cores", "The server has 4 cores", Reason.SAME_FRAME),
        ("My bike is at home", "My bike is in the shed", Reason.SAME_FRAME),
        ("I sold my bike", "My bike is in the shed", Reason.GIVEN_UP),
        ("My bike is broken", "I live in Basel", Reason.UNRELATED),
    ],
)
def test_a_verdict_names_its_rule(new: str, old: str, reason: Reason) -> None:
    assert verdict(new, old).reason is reason


@given(
    st.sampled_from(SENTENCES),
    st.lists(st.sampled_from(NAMES), min_size=2, max_size=2, unique=True),
)
def test_a_statement_about_another_name_is_beside_the_old_one(
    sentence: tuple[str, str], names: list[str]
) -> None:
    new, old = sentence[0].format(names[0]), sentence[1].format(names[1])
    assert verdict(new, old).relation is Relation.BESIDE
    same = sentence[0].format(names[0])
    assert verdict(same, sentence[1].format(names[0])).relation is not Relation.BESIDE


@given(st.text(max_size=200), st.text(max_size=200), st.booleans())
def test_any_texts_are_compared(new: str, old: str, named: bool) -> None:
    first = verdict(new, old, named=named)
    assert first == verdict(new, old, named=named)
    if first.relation is Relation.REPLACES and not named:
        assert first.reason in (Reason.DENIED, Reason.OTHER_NUMBER)


@given(st.text(max_size=200), st.booleans())
def test_a_statement_does_not_replace_itself(text: str, named: bool) -> None:
    found = verdict(text, text, named=named)
    assert named or found.relation is Relation.BESIDE or found.reason is Reason.DENIED


@pytest.mark.parametrize("value", [MAX_VALUE, MAX_VALUE + 1])
def test_a_value_has_a_bound(value: int) -> None:
    words = [f"word{chr(97 + number)}" for number in range(value)]
    others = [f"term{chr(97 + number)}" for number in range(value)]
    new, old = "My plan is now {}", "My plan is {}"
    found = verdict(new.format(" ".join(words)), old.format(" ".join(others)))
    assert (found.reason is Reason.SAME_FRAME) == (value == MAX_VALUE)


def test_a_statement_that_is_too_long_replaces_nothing() -> None:
    long = "and then " * 60
    assert verdict(f"{long} my number is 34 now", f"{long} my number is 12").relation is (
        Relation.BESIDE
    )
