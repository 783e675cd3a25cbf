"""Two lists of candidates as one."""

import math
import random
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.model.record import Record, Scope
from memory.ports.recall import Query, SearchHit
from memory.recall.query import understood
from memory.recall.rules import Fusion, SearchRules, Weights
from memory.recall.scoring import (
    LEXICAL,
    VECTOR,
    alike,
    fused,
    literal_first,
    ranks,
    related,
    scaled,
    speaker_of,
    towards,
    weighed,
)
from tests.memory.recall.making import NOW, turn
from tests.memory.stores.records import AT, BOB, access, record

SCORE = st.floats(-1.0, 40.0, allow_nan=False)
HITS = st.dictionaries(st.sampled_from([f"m{n}" for n in range(12)]), SCORE, max_size=12).map(
    lambda scores: [SearchHit(id_, score) for id_, score in scores.items()]
)
RULES = st.builds(
    SearchRules,
    fusion=st.sampled_from(Fusion),
    lexical=st.floats(0.1, 1.0),
    vector=st.floats(0.1, 1.0),
    k=st.integers(1, 100),
)


@given(words=HITS, likeness=HITS, rules=RULES, seed=st.integers(0, 99))
def test_the_order_of_hits_and_searches_does_not_matter(
    words: list[SearchHit], likeness: list[SearchHit], rules: SearchRules, seed: int
) -> None:
    mixed = random.Random(seed)
    other = {
        VECTOR: mixed.sample(likeness, len(likeness)),
        LEXICAL: mixed.sample(words, len(words)),
    }
    assert fused({LEXICAL: words, VECTOR: likeness}, rules) == fused(other, rules)


@given(words=HITS, likeness=HITS, rules=RULES)
def test_every_candidate_has_a_score_from_0_to_1(
    words: list[SearchHit], likeness: list[SearchHit], rules: SearchRules
) -> None:
    result = fused({LEXICAL: words, VECTOR: likeness}, rules)
    assert result.keys() == {hit.id for hit in (*words, *likeness)}
    assert all(0.0 <= score <= 1.0 + 1e-9 for score in result.values())


@given(words=HITS, rules=RULES)
def test_an_unavailable_search_gives_its_weight_to_the_other(
    words: list[SearchHit], rules: SearchRules
) -> None:
    alone = fused({LEXICAL: words}, rules)
    assert alone == fused({LEXICAL: words, VECTOR: []}, rules)
    assert not words or max(alone.values()) == pytest.approx(1.0)


@given(hits=HITS, rules=RULES)
def test_a_better_rank_in_one_search_never_lowers_the_score(
    hits: list[SearchHit], rules: SearchRules
) -> None:
    result = scaled(LEXICAL, hits, rules)
    for one in hits:
        for other in hits:
            if one.score > other.score:
                assert result[one.id] >= result[other.id]


def test_ranks_are_fused_as_specified() -> None:
    words = [SearchHit("a", 7.3), SearchHit("b", 4.2), SearchHit("c", 3.1)]
    likeness = [SearchHit("b", 0.92), SearchHit("a", 0.87), SearchHit("d", 0.78)]
    rules = SearchRules(fusion=Fusion.RANKS, lexical=1.0, vector=1.0)
    result = fused({LEXICAL: words, VECTOR: likeness}, rules)
    assert result["a"] == result["b"] == pytest.approx((1 / 61 + 1 / 62) * 61 / 2)
    assert result["c"] == result["d"] == pytest.approx(1 / 63 * 61 / 2)


def test_no_common_word_scores_zero_and_so_does_the_last_vector_of_a_full_list() -> None:
    hits = [SearchHit("a", 0.8), SearchHit("b", 0.4)]
    assert scaled(LEXICAL, hits, SearchRules()) == {"a": 1.0, "b": 0.5}
    assert scaled(VECTOR, hits, SearchRules(depth=2)) == {"a": 1.0, "b": 0.0}


def test_with_few_similar_memories_the_last_one_scores() -> None:
    result = scaled(
        VECTOR, [SearchHit("a", 0.8), SearchHit("b", 0.5)], SearchRules(least_alike=0.2)
    )
    assert result == {"a": 1.0, "b": pytest.approx(0.5)}


def test_equal_scores_have_equal_ranks() -> None:
    assert ranks([SearchHit("a", 1.0), SearchHit("b", 2.0), SearchHit("c", 1.0)]) == {
        "b": 1,
        "a": 2,
        "c": 2,
    }


@given(
    st.lists(st.lists(st.floats(-1, 1), min_size=3, max_size=3), min_size=1, max_size=4),
    st.floats(0.1, 1.0),
)
def test_a_shifted_question_vector_has_unit_length(
    vectors: list[list[float]], weight: float
) -> None:
    own, *others = vectors
    moved = towards(own, others, weight)
    assert tuple(own) == moved or not any(moved) or math.hypot(*moved) == pytest.approx(1.0)


@pytest.mark.parametrize("wrong", [{"depth": 0}, {"k": 0}, {"lexical": 0.0, "vector": 0.0}])
def test_invalid_rules_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        SearchRules(**wrong)  # type: ignore[arg-type]  # values of several fields


def order(text: str, *records: Record) -> list[str]:
    """Ids by score, the best first, when all are equally good by their words."""
    scores = weighed(
        {one.id: 1.0 for one in records},
        records,
        understood(Query(text, NOW)),
        access(),
        NOW,
        Weights(),
    )
    return sorted(scores, key=lambda id_: -scores[id_])


def test_turns_of_a_person_named_in_the_question_are_first() -> None:
    ada = turn("Ada: the red boots are mine", id="ada")
    ben = turn("Ben: the red boots are mine", id="ben")
    assert order("What did Ben say about boots?", ada, ben) == ["ben", "ada"]
    assert order("What did Ada say about boots?", ben, ada) == ["ada", "ben"]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("Ada: hello", "Ada"),
        ("[Ada Lovelace] hello", "Ada Lovelace"),
        ("hello there", ""),
        ("10:30 is fine", ""),
        ("https://example.org/x", ""),
    ],
)
def test_the_speaker_is_the_name_before_the_text(content: str, name: str) -> None:
    assert speaker_of(turn(content)) == name
    assert speaker_of(record(content)) == ""


def test_i_and_you_mean_the_person_and_the_assistant() -> None:
    reply, answer = (
        turn("boots, size 42", id="said"),
        turn("boots, size 42", "assistant", id="told"),
    )
    assert order("What did I say about boots?", answer, reply) == ["said", "told"]
    assert order("What did you say about boots?", reply, answer) == ["told", "said"]
    other = turn("boots, size 42", id="other", person=BOB, room="r")
    assert order("What did I say about boots?", other, reply) == ["said", "other"]


def test_the_newer_of_two_turns_is_first() -> None:
    old = turn("the boots are red", id="old", at=AT - timedelta(days=60))
    assert order("Which boots are there?", old, turn("the boots are red", id="new"))[0] == "new"


def test_semantic_memories_do_not_lose_score_with_time() -> None:
    old, new = record(id="old", at=AT - timedelta(days=900)), record(id="new")
    assert order("What does she like to drink?", old, new) == ["old", "new"]


def test_recency_is_at_most_a_third_of_the_score() -> None:
    ancient = turn("the boots are red", id="x", at=AT - timedelta(days=9_000))
    question = understood(Query("Which boots are there?", NOW))
    faded = weighed({"x": 1.0}, [ancient], question, access(), NOW, Weights())
    fresh = weighed({"x": 1.0}, [ancient], question, access(), NOW, Weights(recency=0.0))
    assert faded["x"] / fresh["x"] == pytest.approx(0.7, abs=0.01)


def test_a_requested_day_precedes_the_newest() -> None:
    then = turn("we talked about boots", id="then", at=AT.replace(month=5, day=4))
    assert order("What was it about boots on 4 May?", turn("we talked about boots"), then)[0] == (
        "then"
    )


def test_own_memories_precede_those_of_the_project_and_global_ones() -> None:
    own = record(id="own")
    project = record(id="project", scope=Scope.PROJECT, project="p")
    everybody = record(id="everybody", scope=Scope.GLOBAL)
    result = order("What about tea in the morning?", everybody, project, own)
    assert result == ["own", "project", "everybody"]


def test_short_turns_and_questions_score_less() -> None:
    long = turn("the boots are red, and they stand in the cellar beside the bicycle", id="long")
    assert order("Which boots are there?", turn("boots, yes", id="short"), long)[0] == "long"
    stored_turn = turn(
        "are the boots red, and do they stand in the cellar with the bicycle?", id="asked"
    )
    assert order("Which boots are there?", stored_turn, long)[0] == "long"


def test_memories_with_a_literal_precede_others() -> None:
    other, exact = record("ADR-0031 about boots", id="other"), record("see ADR-003", id="exact")
    result = literal_first({"other": 1.0, "exact": 0.01}, [other, exact], ["adr-003"])
    assert result["exact"] > result["other"]


@given(
    scores=st.lists(st.floats(0, 1), min_size=3, max_size=3),
    text=st.sampled_from(["boots?", "What did Ada say in May about v1.2 boots?", "my boots 2021"]),
)
def test_scores_stay_within_0_and_1(scores: list[float], text: str) -> None:
    records = [turn("Ada: boots?", id="a"), record("v1.2 boots", id="b"), turn("boots", id="c")]
    question = understood(Query(text, NOW))
    given_ = dict(zip("abc", scores, strict=True))
    result = weighed(given_, records, question, access(), NOW, Weights())
    result = literal_first(result, records, question.literals)
    assert all(0 <= score <= 1 for score in result.values())


ASKED = "who tuned the piano last spring"


@pytest.mark.parametrize(
    ("text", "words", "vectors", "expected"),
    [
        (ASKED, 0.24, None, False),
        (ASKED, 0.25, None, True),
        ("who tuned the piano in May 2024", 0.2, None, True),
        ("who tuned the piano in May 2024", 0.1, None, False),
        (ASKED, 0.3, 0.2, False),
        (ASKED, 0.3, 0.28, True),
        (ASKED, 0.61, 0.01, True),
        (ASKED, None, 0.42, False),
        (ASKED, None, 0.43, True),
        ("piano tuner", 0.01, 0.01, True),
        ("who tuned piano HV-2210-884 last spring", 0.01, 0.01, True),
        (ASKED, None, None, True),
    ],
)
def test_a_match_counts_if_words_and_vectors_together_are_more_than_chance(
    text: str, words: float | None, vectors: float | None, expected: bool
) -> None:
    searches = {
        LEXICAL: [] if words is None else [SearchHit("a", 3.0, words), SearchHit("b", 2.0, 0.0)],
        VECTOR: [] if vectors is None else [SearchHit("c", 0.5, vectors)],
    }
    assert related(searches, understood(Query(text, NOW)), SearchRules()) is expected


def test_a_cosine_is_more_certain_where_few_memories_were_compared() -> None:
    rules = SearchRules(depth=50)
    some = [SearchHit(f"m{n}", 0.4 - n / 100) for n in range(50)]
    many, fewer, few = (alike(some[:count], rules) for count in (50, 30, 8))
    assert {hit.score >= rules.least_alike for hit in many} == {True}
    assert many[0].certainty == pytest.approx(0.2)
    assert 0.2 < fewer[0].certainty < few[0].certainty == 1.0
    assert len(many) == 21
