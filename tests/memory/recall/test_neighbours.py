"""The neighbours of a turn."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.model.record import Record
from memory.recall.repeat_filter import asks
from memory.recall.rules import Weights
from memory.recall.scoring import Neighbours, with_context
from tests.memory.recall.making import talk, turn
from tests.memory.stores.records import AT, record

TALK = talk("Which key opens the shed?", "The small one.", "And the gate?", "No idea.", "Ask Ben.")


def lent(records: list[Record], *lending: str, weights: Weights | None = None) -> dict[str, float]:
    around = Neighbours(lending, tuple(records))
    return with_context(dict.fromkeys(lending, 1.0), around, weights or Weights())


def test_the_score_of_a_question_raises_its_answer() -> None:
    result = lent(TALK, "t0")
    assert result["t0"] > result["t1"] > result["t2"] > 0
    assert result["t3"] == result["t4"] == 0


def test_a_question_raises_the_next_turn_more_than_a_statement() -> None:
    assert asks(TALK[0].content)
    assert not asks(TALK[1].content)
    assert lent(TALK, "t0")["t1"] > lent(TALK, "t1")["t2"]


def test_the_previous_turn_is_raised_too() -> None:
    result = lent(TALK, "t4")
    assert result["t3"] > result["t2"] > 0


def test_a_long_pause_separates_turns() -> None:
    later = turn("The small one.", id="late", at=AT + timedelta(hours=9))
    assert lent([TALK[0], later], "t0")["late"] == 0


def test_turns_of_another_conversation_are_not_neighbours() -> None:
    other = turn("The small one.", id="other", group="another one")
    assert lent([TALK[0], other], "t0")["other"] == 0


def test_memories_that_are_not_turns_have_no_neighbours() -> None:
    fact = record("The shed has a small key", id="fact")
    result = lent([*TALK[:2], fact], "fact")
    assert result == {"t0": 0, "t1": 0, "fact": 1.0}


def test_other_candidates_keep_their_scores() -> None:
    around = Neighbours(("t0",), tuple(TALK[:3]), (TALK[4],))
    result = with_context({"t0": 1.0, "t4": 0.5}, around, Weights())
    assert result["t4"] == pytest.approx(0.5 / 2.9)
    assert list(result) == ["t0", "t1", "t2", "t4"]


@given(scores=st.lists(st.floats(0, 1), min_size=5, max_size=5))
def test_scores_stay_from_0_to_1_and_never_fall(scores: list[float]) -> None:
    given_ = {f"t{place}": score for place, score in enumerate(scores)}
    result = with_context(given_, Neighbours(tuple(given_), tuple(TALK)), Weights())
    bare = with_context(given_, Neighbours((), tuple(TALK)), Weights())
    assert all(0 <= score <= 1 + 1e-9 for score in result.values())
    assert all(result[id_] >= bare[id_] for id_ in result)
