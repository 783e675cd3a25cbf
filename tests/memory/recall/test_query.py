"""The analysis of a question."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.ports.recall import Query
from memory.recall.query import MAX_LITERALS, holds, literals_in, understood
from tests.memory.recall.making import NOW
from tests.support.for_each import for_each


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        ("ADR-003", ("adr-003",)),
        ("PostgreSQL 15.2 configuration", ("15.2",)),
        ("REDIS_CONNECTION_TIMEOUT", ("redis_connection_timeout",)),
        ("What was wrong with 9f3ac71?", ("9f3ac71",)),
        ("Is v1.2.3-rc1 out?", ("v1.2.3-rc1",)),
        ("order 47110815", ("47110815",)),
        ('who said "until further notice"', ("until further notice",)),
        ("wer sagte „bis auf Weiteres“", ("bis auf weiteres",)),
        ("3f2504e0-4f89-11d3-9a0c-0305e82c3301", ("3f2504e0-4f89-11d3-9a0c-0305e82c3301",)),
    ],
)
def test_identifiers_and_quotations_are_searched_exactly(
    text: str, literals: tuple[str, ...]
) -> None:
    assert literals_in(text) == literals


@pytest.mark.parametrize(
    "text",
    [
        "on 3rd May 2023 at 10:30",
        "am 8.5.2023 um 9",
        "the 1990s",
        "it's a well-known one",
        "2023-05-08",
    ],
)
def test_dates_and_times_are_not_literals(text: str) -> None:
    assert literals_in(text) == ()


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("boots", True),
        ("blue boots", True),
        ("ADR-003", True),
        ('"until further notice"', True),
        ("Where are the blue boots?", False),
        ("What does ADR-003 say?", False),
        ("会議は何曜日ですか", False),
    ],
)
def test_few_words_and_identifiers_alone_are_exact_questions(text: str, exact: bool) -> None:
    assert understood(Query(text, NOW)).exact is exact


@pytest.mark.parametrize(
    ("text", "literal", "there"),
    [
        ("we are on v1.2 now", "v1.2", True),
        ("we are on v1.25 now", "v1.2", False),
        ("see ADR-003.", "adr-003", True),
        ("see XADR-003", "adr-003", False),
        ("v1.25 and then v1.2", "v1.2", True),
    ],
)
def test_a_literal_is_matched_as_a_whole(text: str, literal: str, there: bool) -> None:
    assert holds(text, literal) is there


def test_an_english_question_keeps_function_words_of_other_languages() -> None:
    text = "Would Melanie go on another roadtrip soon?"
    assert understood(Query(text, NOW)).search == text


def test_function_words_of_other_languages_are_not_searched_for() -> None:
    assert understood(Query("Wie teuer war die Genehmigung?", NOW)).search.split() == [
        "teuer",
        "Genehmigung?",
    ]
    assert understood(Query("What did the war cost?", NOW)).search == "What did the war cost?"
    assert understood(Query("wer ist das", NOW)).search == "wer ist das"


def test_the_subject_is_recognised_by_i_and_you() -> None:
    mine = understood(Query("What did I say about the boxes?", NOW))
    yours = understood(Query("What did you recommend to me?", NOW))
    assert (mine.mine, mine.yours) == (True, False)
    assert (yours.mine, yours.yours) == (False, True)


@given(st.text(max_size=300))
def test_any_text_can_be_asked(text: str) -> None:
    question = understood(Query(text, NOW))
    assert len(question.literals) <= MAX_LITERALS
    assert len(question.text) <= len(text)
    assert bool(question.words) <= bool(question.text)


@pytest.mark.parametrize("limit", [0, 101])
def test_invalid_limits_are_refused(limit: int) -> None:
    with pytest.raises(ValueError, match="limit must be 1 to 100"):
        Query("boots", NOW, limit=limit)


def test_greetings_and_thanks_are_not_searched() -> None:
    text = "Hello Parley! Thanks. What does v1.2.3 of ADR-003 say, please?"
    assert understood(Query(text, NOW)).text == "What does v1.2.3 of ADR-003 say,"
    assert understood(Query("Hello Parley!", NOW)).text == ""
    assert understood(Query("hello", NOW, unfinished=True)).text == "hello"


@for_each(
    "text",
    [
        "What do I have tomorrow morning?",
        "Was habe ich morgen?",
        "What is good for my back?",
        "¿Qué hago mañana por la mañana?",
        "nice restaurants in Bern",
        "Hello world example code",
        "Who am I?",
        "What did we do that day?",
        "Is Tom all right today?",
        "Wann ist mein Tag?",
        "東京の天気",
    ],
)
def test_a_question_that_contains_such_words_is_searched_completely(text: str) -> None:
    assert understood(Query(text, NOW)).text == text
