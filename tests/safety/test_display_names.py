"""Display names as other people read them."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safety.unicode import MAX_NAME, shown_name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Ada", "Ada"),
        ("  Ada \n\n Lovelace\t", "Ada Lovelace"),
        ("\u202eadA\u202c", "adA"),
        ("A\u200bd\u2066a\u2069\ufeff", "Ada"),
        ("\U000e0041\U000e0042Ada", "Ada"),
        ("A\x00\x1b[31mda", "A[31mda"),
        ("", ""),
        ("x" * 500, "x" * MAX_NAME),
    ],
)
def test_a_displayed_name_contains_visible_characters_only(name: str, shown: str) -> None:
    assert shown_name(name).replace(" ", "") == shown.replace(" ", "")


@given(st.text(max_size=400))
def test_any_name_becomes_one_line_of_visible_characters(name: str) -> None:
    shown = shown_name(name)
    assert len(shown) <= MAX_NAME
    assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in shown)
    assert shown == " ".join(shown.split())
