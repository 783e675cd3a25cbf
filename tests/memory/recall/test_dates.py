"""The days that a question is about."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.ports.recall import Query
from memory.recall.query import QuestionDates, dates_in, how_well, understood
from tests.support.for_each import for_each

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)


@for_each(
    ("text", "asked"),
    [
        ("Who had dinner with Maria on May 3, 2023?", QuestionDates(2023, 5, 3)),
        ("What did Tim recommend on 8th December, 2023?", QuestionDates(2023, 12, 8)),
        ("What happened on the 3rd of April?", QuestionDates(None, 4, 3)),
        ("What was in August?", QuestionDates(None, 8)),
        ("What did we decide in May?", QuestionDates(None, 5)),
        ("Was war im März 2024?", QuestionDates(2024, 3)),
        ("Was steht am 8. Mai an?", QuestionDates(None, 5, 8)),
        ("the log of 2023-05-08", QuestionDates(2023, 5, 8)),
        ("Rechnung vom 8.5.2023", QuestionDates(2023, 5, 8)),
        ("Which trips were there in 2022?", QuestionDates(2022)),
    ],
)
def test_dates_are_parsed_to_the_stated_precision(text: str, asked: QuestionDates) -> None:
    assert dates_in(text) == (asked,)


@pytest.mark.parametrize(
    "text", ["May I deploy?", "Can we march on?", "Who is on call?", "at 10:30"]
)
def test_words_that_are_not_dates_are_ignored(text: str) -> None:
    assert dates_in(text) == ()


@pytest.mark.parametrize(
    ("text", "day", "fits"),
    [
        ("What did I say yesterday?", date(2026, 11, 20), True),
        ("What did I say yesterday?", date(2026, 11, 18), False),
        ("Was war letzte Woche?", date(2026, 11, 12), True),
        ("Was war letzte Woche?", date(2026, 11, 16), False),
    ],
)
def test_relative_dates_count_from_now(text: str, day: date, fits: bool) -> None:
    (question,) = understood(Query(text, NOW)).dates
    assert question.fits(day) == (1.0 if fits else 0.0)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Was war am 8. Mai 2025?", (5,)),
        ("Что было 3 апреля 2025?", (4,)),
        ("2025年5月3日に何がありましたか?", (5,)),
        ("What should I eat today?", ()),
    ],
)
def test_dates_of_every_language_are_compared_with_texts(text: str, asked: tuple[int, ...]) -> None:
    assert tuple(date.month for date in understood(Query(text, NOW)).dates) == asked


def test_a_day_matches_better_than_its_month_and_its_month_better_than_its_year() -> None:
    day, month, year = QuestionDates(2023, 5, 8), QuestionDates(2023, 5), QuestionDates(2023)
    answer = date(2023, 5, 10)
    assert day.fits(answer) > month.fits(answer) > year.fits(answer) > 0
    assert day.fits(date(2023, 6, 8)) == month.fits(date(2022, 5, 8)) == 0


def test_a_text_that_names_the_day_matches_whenever_it_was_written() -> None:
    question = dates_in("What is on 14 March?")
    assert how_well(question, NOW, "The birthday is on 14 March") == 1.0
    assert how_well(question, NOW, "The birthday is on 15 April") == 0.0


@given(st.text(max_size=200))
def test_any_text_can_be_parsed(text: str) -> None:
    for question in dates_in(text):
        assert 0 <= question.fits(NOW.date()) <= 1
