"""Texts of people in a chat message have no effect on its format."""

import pytest

from memory.text.display import quoted


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
