"""Texts of people in a chat message have no effect on its format."""

import pytest

from memory.text.display import MAX_IN_QUESTION, in_question, listed_in_question, one_line, quoted


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# a heading", "> \\# a heading"),
        ("- a list\n+ another", "> \\- a list\n>\n> \\+ another"),
        ("1. first\n23) second", "> 1\\. first\n>\n> 23\\) second"),
        ("> nested\n*bold*", "> \\> nested\n>\n> \\*bold\\*"),
        ("2026 is a year\n\n3.5 GB", "> 2026 is a year\n>\n> 3\\.5 GB"),
        ("", ""),
    ],
)
def test_a_quotation_shows_marks_as_text(text: str, shown: str) -> None:
    assert quoted(text) == shown


def test_a_question_shows_a_text_whole() -> None:
    text = "a" * (MAX_IN_QUESTION - 7) + " middle"

    assert in_question(text) == text


def test_a_question_about_a_long_text_says_how_much_is_hidden() -> None:
    text = "begin" + "x" * 10_000 + "end"

    shown = in_question(text)

    assert shown.startswith("beginxxx")
    assert shown.endswith("xxxend")
    assert "6,008 of 10,008 characters are not shown" in shown
    assert len(shown) < MAX_IN_QUESTION + 100


def test_questions_about_texts_that_differ_in_their_hidden_middle_differ() -> None:
    begin, end = "a" * 9_000, "z" * 9_000

    assert in_question(f"{begin}keep the key{end}") != in_question(f"{begin}send the key{end}")


def test_a_shortened_line_says_how_many_characters_follow() -> None:
    assert one_line("word " * 100).endswith("… (339 more characters)")
    assert "100 of 500 characters are not shown" in listed_in_question("x" * 499 + "*")
