"""Texts as the words that they are found by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.text.terms import index_terms, query_terms

ASCII = st.text(st.characters(codec="ascii"), max_size=80)


@given(
    ASCII
    | st.lists(st.sampled_from(["Running", "c++", "a.b-c", "_", "x_y", "#", "v1.2", "+"])).map(
        "".join
    )
)
def test_a_text_has_the_same_words_beside_text_of_another_script(text: str) -> None:
    assert index_terms(f"{text} 日").split() == [*index_terms(text).split(), "日"]


def test_names_are_found_whole_and_by_their_parts() -> None:
    assert index_terms("Running c++ on db.example-1") == "run c c++ on db exampl 1 db.example-1"
    long = "a" * 40 + "-" + "b" * 40
    assert index_terms(long) == f"{'a' * 40} {'b' * 40}"


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("My aunt lives in Łódź.", "Lodz"),
        ("My aunt lives in Lodz.", "Łódź"),
        ("Søren moved to Tromsø.", "soren tromso"),
        ("Đặng Văn Lâm plays there.", "dang lam"),
        ("Đorđe plays chess.", "dorde"),
        ("Ísafjörður: Þórir", "thorir isafjordur"),
        ("Ægir sails.", "aegir"),
        ("Le cœur de Zoë", "coeur zoe"),
        ("Diyarbakır'da yağmur", "diyarbakir yagmur"),
        ("Die Straße ist gesperrt.", "strasse"),
        ("My cat 🐈 is called Miez.", "🐈"),
        ("Our flag is 🇨🇭 and theirs 🇩🇪", "🇩🇪"),
        ("She waved 👋🏽 at us", "👋"),
        ("I \u2764\ufe0f tea", "\u2764"),
        ("Call +41 79 123 45 67 after nine.", "+41791234567"),
        ("Call +41791234567 after nine.", "+41 79 123 45 67"),
        ("Call 0041 79 123 45 67 after nine.", "+41791234567"),
        ("Call (030) 1234-5678", "03012345678"),
        ("Call 030 / 12 34 56 78", "030 12345678"),
        ("Call +1 (555) 010-9999 now", "15550109999"),
    ],
)
def test_a_text_is_found_however_it_is_written(stored: str, asked: str) -> None:
    padded = f" {index_terms(stored)} "
    asked_terms = [one for one in query_terms(asked) if not one.text.isdigit()]
    numbers = [one for one in query_terms(asked) if one.text.isdigit()]
    assert all(one.stands_in(padded) for one in asked_terms)
    assert not numbers or any(one.stands_in(padded) for one in numbers)
    assert asked_terms or numbers


@pytest.mark.parametrize(
    "text", ["pages 12 and 13", "1 2 3", "v1.2.3", "port 8081", "5 of 1000", "a1 b2 c3 d4 e5 f6 g7"]
)
def test_other_numbers_are_no_telephone(text: str) -> None:
    assert max(map(len, filter(str.isdigit, index_terms(text).split())), default=0) <= 4


def test_a_number_of_a_telephone_stands_where_it_is_said() -> None:
    inner = index_terms("call 030 123 45 67 at")
    assert inner in index_terms("please call 030 123 45 67 at nine")
