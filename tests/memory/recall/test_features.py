"""The features of a question besides its words: speaker, time, owner and age."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.model.record import Record, Scope
from memory.ports.recall import Query
from memory.recall.features import literal_first, speaker_of, weighed
from memory.recall.query import understood
from memory.recall.rules import Weights
from tests.memory.recall.making import NOW, turn
from tests.memory.stores.records import AT, BOB, access, record


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


def test_the_turns_of_whom_the_question_names_come_first() -> None:
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
def test_a_speaker_is_the_name_before_the_words(content: str, name: str) -> None:
    assert speaker_of(turn(content)) == name
    assert speaker_of(record(content)) == ""


def test_i_and_you_are_the_person_and_the_assistant() -> None:
    said, told = turn("boots, size 42", id="said"), turn("boots, size 42", "assistant", id="told")
    assert order("What did I say about boots?", told, said) == ["said", "told"]
    assert order("What did you say about boots?", said, told) == ["told", "said"]
    other = turn("boots, size 42", id="other", person=BOB, room="r")
    assert order("What did I say about boots?", other, said) == ["said", "other"]


def test_of_two_turns_the_newer_comes_first() -> None:
    old = turn("the boots are red", id="old", at=AT - timedelta(days=60))
    assert order("Which boots are there?", old, turn("the boots are red", id="new"))[0] == "new"


def test_what_was_learned_does_not_fade() -> None:
    old, new = record(id="old", at=AT - timedelta(days=900)), record(id="new")
    assert order("What does she like to drink?", old, new) == ["old", "new"]


def test_recency_is_a_third_at_most() -> None:
    ancient = turn("the boots are red", id="x", at=AT - timedelta(days=9_000))
    question = understood(Query("Which boots are there?", NOW))
    faded = weighed({"x": 1.0}, [ancient], question, access(), NOW, Weights())
    fresh = weighed({"x": 1.0}, [ancient], question, access(), NOW, Weights(recency=0.0))
    assert faded["x"] / fresh["x"] == pytest.approx(0.7, abs=0.01)


def test_a_day_that_is_asked_for_beats_the_newest() -> None:
    then = turn("we talked about boots", id="then", at=AT.replace(month=5, day=4))
    assert order("What was it about boots on 4 May?", turn("we talked about boots"), then)[0] == (
        "then"
    )


def test_the_persons_own_comes_before_the_projects_and_that_before_everybodys() -> None:
    own = record(id="own")
    project = record(id="project", scope=Scope.PROJECT, project="p")
    everybody = record(id="everybody", scope=Scope.GLOBAL)
    found = order("What about tea in the morning?", everybody, project, own)
    assert found == ["own", "project", "everybody"]


def test_short_turns_and_questions_count_less() -> None:
    long = turn("the boots are red, and they stand in the cellar beside the bicycle", id="long")
    assert order("Which boots are there?", turn("boots, yes", id="short"), long)[0] == "long"
    asked = turn("are the boots red, and do they stand in the cellar with the bicycle?", id="asked")
    assert order("Which boots are there?", asked, long)[0] == "long"


def test_what_holds_a_literal_comes_before_what_does_not() -> None:
    other, exact = record("ADR-0031 about boots", id="other"), record("see ADR-003", id="exact")
    found = literal_first({"other": 1.0, "exact": 0.01}, [other, exact], ["adr-003"])
    assert found["exact"] > found["other"]


@given(
    scores=st.lists(st.floats(0, 1), min_size=3, max_size=3),
    text=st.sampled_from(["boots?", "What did Ada say in May about v1.2 boots?", "my boots 2021"]),
)
def test_scores_stay_within_0_and_1(scores: list[float], text: str) -> None:
    records = [turn("Ada: boots?", id="a"), record("v1.2 boots", id="b"), turn("boots", id="c")]
    question = understood(Query(text, NOW))
    given_ = dict(zip("abc", scores, strict=True))
    found = weighed(given_, records, question, access(), NOW, Weights())
    found = literal_first(found, records, question.literals)
    assert all(0 <= score <= 1 for score in found.values())
