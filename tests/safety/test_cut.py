"""A cut text is short enough, and its last letter is whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safety.unicode import REDACTED, cut
from tests.support.for_each import for_each


@for_each(
    ("text", "length", "short"),
    [
        ("hello", 5, "hello"),
        ("hello", 3, "hel"),
        ("hello", 0, ""),
        (f"key {REDACTED} end", 10, "key "),
        (f"key {REDACTED} end", 21, f"key {REDACTED}"),
        ("ok 👨‍👩‍👧", 5, "ok "),
        ("ok 🇩🇪🇫🇷", 4, "ok "),
        ("ok 🇩🇪🇫🇷", 6, "ok 🇩🇪"),
        ("ok 👍🏽", 4, "ok "),
        ("a\r\nb", 2, "a"),
        ("x\u0323\u0307", 2, ""),
    ],
)
def test_no_character_is_cut_in_half(text: str, length: int, short: str) -> None:
    assert cut(text, length) == short


@given(st.text(st.sampled_from("ab🇩🇪👍🏽\u200d👨\u0301[]\r\n")), st.integers(0, 20))
def test_the_result_is_a_prefix_within_the_length(text: str, length: int) -> None:
    short = cut(text, length)
    assert len(short) <= length
    assert text.startswith(short)
    assert cut(short, length) == short


def test_a_negative_length_is_refused() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        cut("x", -1)
