"""Of what was found, what only repeats is left out."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.model.recollection import Recalled
from memory.model.record import Record
from memory.recall.repeat_filter import without_repeats
from tests.memory.stores.records import AT, record

QUESTION = "What do you know about tea?"


def memory(content: str) -> Recalled:
    return Recalled(record(content), 0.9, {}, {})


def turn(content: str, minutes: int = 0, role: str = "user") -> Recalled:
    said: Record = replace(record(content, at=AT + timedelta(minutes=minutes)), role=role)  # type: ignore[arg-type]
    return Recalled(said, 0.5, {}, {})


def told(question: str, *found: Recalled) -> list[str]:
    return [one.record.content for one in without_repeats(question, found)]


def test_a_memory_comes_without_the_turns_that_it_was_made_and_told_in() -> None:
    asked = turn("Remember that I like green tea", 1)
    answer = turn("I remember: “I like green tea” (2026-11-21)", 3, "assistant")
    again = turn(QUESTION, 2)
    assert told(QUESTION, asked, answer, again, memory("I like green tea")) == ["I like green tea"]


def test_a_turn_with_something_new_in_it_stays() -> None:
    more = "I like green tea, but my doctor allows three cups and no coffee"
    assert told(QUESTION, turn(more), memory("I like green tea")) == [more, "I like green tea"]


def test_of_two_turns_that_say_the_same_the_older_stays() -> None:
    first = turn("The cellar key hangs behind the clock", 1)
    later = turn("You said: the cellar key hangs behind the clock.", 2, "assistant")
    assert told("Where is the key?", later, first) == [first.record.content]


def test_memories_are_never_left_out_and_nothing_is_moved() -> None:
    found = [memory("I like tea"), turn("Something else entirely"), memory("I like tea")]
    assert without_repeats("tea", found) == found


@pytest.mark.parametrize(
    "said",
    [
        QUESTION,
        "And what did I tell you about tea?",
        "Was weißt du über tea?",
        "I will remember that.",
        "Noted, thank you!",
        "I remember nothing about that.",
        "Das habe ich mir gemerkt.",
        "I remember:\n\n- “What do you know about tea?” (2026-11-21)",
    ],
)
def test_a_question_about_memory_and_an_acknowledgement_tell_nothing(said: str) -> None:
    assert told("tea", turn(said), turn("I drink it at noon", 1)) == ["I drink it at noon"]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is the code of the door?", "The code of the door is 4711"),
        ("When is the meeting?", "The meeting is at 15:30"),
        ("When is the wedding?", "The wedding is on 2027-05-03"),
        ("What did I say about my wife's birthday?", "What shall I get my wife for her birthday?"),
    ],
)
def test_a_number_and_what_a_question_tells_by_the_way_are_new(question: str, said: str) -> None:
    assert told(question, turn(said)) == [said]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Do I like green tea?", "I like green tea"),
        ("Mag ich grünen Tee?", "ich mag grünen Tee"),
        ("Is the key under the pot?", "The key is under the pot."),
    ],
)
def test_a_statement_in_the_words_of_the_question_answers_it(question: str, said: str) -> None:
    assert told(question, turn(said), turn(question, 1)) == [said]


def test_words_without_meaning_of_their_own_are_told_by_themselves() -> None:
    assert told("x", turn("who are you"), turn("东京的天气")) == ["who are you", "东京的天气"]


@given(st.text(), st.lists(st.tuples(st.text(), st.booleans(), st.integers(0, 9)), max_size=8))
def test_what_is_left_is_a_part_in_order_and_nothing_more_is_left_out_the_second_time(
    question: str, given_: list[tuple[str, bool, int]]
) -> None:
    found = [turn(text, at) if said else memory(text) for text, said, at in given_]
    left = without_repeats(question, found)
    assert left == [one for one in found if one in left]
    assert without_repeats(question, left) == left
    assert [one for one in left if not one.record.role] == [
        one for one in found if not one.record.role
    ]
