"""Two lists of candidates as one."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.ports.recall import Hit
from memory.recall.fusion import LEXICAL, VECTOR, fused, ranks, scaled, towards
from memory.recall.rules import Arms, Fusion

SCORE = st.floats(-1.0, 40.0, allow_nan=False)
HITS = st.dictionaries(st.sampled_from([f"m{n}" for n in range(12)]), SCORE, max_size=12).map(
    lambda scores: [Hit(id_, score) for id_, score in scores.items()]
)
RULES = st.builds(
    Arms,
    fusion=st.sampled_from(Fusion),
    lexical=st.floats(0.1, 1.0),
    vector=st.floats(0.1, 1.0),
    k=st.integers(1, 100),
)


@given(words=HITS, likeness=HITS, rules=RULES, seed=st.integers(0, 99))
def test_the_order_of_hits_and_arms_does_not_matter(
    words: list[Hit], likeness: list[Hit], rules: Arms, seed: int
) -> None:
    mixed = random.Random(seed)
    other = {
        VECTOR: mixed.sample(likeness, len(likeness)),
        LEXICAL: mixed.sample(words, len(words)),
    }
    assert fused({LEXICAL: words, VECTOR: likeness}, rules) == fused(other, rules)


@given(words=HITS, likeness=HITS, rules=RULES)
def test_every_candidate_has_a_score_from_0_to_1(
    words: list[Hit], likeness: list[Hit], rules: Arms
) -> None:
    found = fused({LEXICAL: words, VECTOR: likeness}, rules)
    assert found.keys() == {hit.id for hit in (*words, *likeness)}
    assert all(0.0 <= score <= 1.0 + 1e-9 for score in found.values())


@given(words=HITS, rules=RULES)
def test_an_arm_that_is_not_there_leaves_its_weight_to_the_other(
    words: list[Hit], rules: Arms
) -> None:
    alone = fused({LEXICAL: words}, rules)
    assert alone == fused({LEXICAL: words, VECTOR: []}, rules)
    assert not words or max(alone.values()) == pytest.approx(1.0)


@given(hits=HITS, rules=RULES)
def test_a_better_hit_of_one_arm_is_never_worse(hits: list[Hit], rules: Arms) -> None:
    found = scaled(LEXICAL, hits, rules)
    for one in hits:
        for other in hits:
            if one.score > other.score:
                assert found[one.id] >= found[other.id]


def test_ranks_are_fused_as_the_source_has_it() -> None:
    words = [Hit("a", 7.3), Hit("b", 4.2), Hit("c", 3.1)]
    likeness = [Hit("b", 0.92), Hit("a", 0.87), Hit("d", 0.78)]
    rules = Arms(fusion=Fusion.RANKS, lexical=1.0, vector=1.0)
    found = fused({LEXICAL: words, VECTOR: likeness}, rules)
    assert found["a"] == found["b"] == pytest.approx((1 / 61 + 1 / 62) * 61 / 2)
    assert found["c"] == found["d"] == pytest.approx(1 / 63 * 61 / 2)


def test_no_common_word_is_nothing_and_so_is_the_last_of_a_full_list_of_vectors() -> None:
    hits = [Hit("a", 0.8), Hit("b", 0.4)]
    assert scaled(LEXICAL, hits, Arms()) == {"a": 1.0, "b": 0.5}
    assert scaled(VECTOR, hits, Arms(depth=2)) == {"a": 1.0, "b": 0.0}


def test_where_few_are_alike_the_last_counts_as_well() -> None:
    found = scaled(VECTOR, [Hit("a", 0.8), Hit("b", 0.5)], Arms(least_alike=0.2))
    assert found == {"a": 1.0, "b": pytest.approx(0.5)}


def test_the_same_score_has_the_same_rank() -> None:
    assert ranks([Hit("a", 1.0), Hit("b", 2.0), Hit("c", 1.0)]) == {"b": 1, "a": 2, "c": 2}


@given(
    st.lists(st.lists(st.floats(-1, 1), min_size=3, max_size=3), min_size=1, max_size=4),
    st.floats(0.1, 1.0),
)
def test_a_moved_question_has_unit_length(vectors: list[list[float]], weight: float) -> None:
    own, *others = vectors
    moved = towards(own, others, weight)
    assert tuple(own) == moved or not any(moved) or math.hypot(*moved) == pytest.approx(1.0)


@pytest.mark.parametrize("wrong", [{"depth": 0}, {"k": 0}, {"lexical": 0.0, "vector": 0.0}])
def test_senseless_rules_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        Arms(**wrong)  # type: ignore[arg-type]
