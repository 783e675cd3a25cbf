"""Estimates of tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.llm.tokens import estimate


def test_an_empty_text_has_no_tokens() -> None:
    assert estimate("") == 0
    assert estimate("a") == 1


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("The quick brown fox jumps over the lazy dog. " * 20, 180, 290),
        ("for (int i = 0; i < n; i++) { sum += values[i]; }\n" * 20, 330, 520),
        ("Съешь же ещё этих мягких французских булок. " * 20, 330, 520),
        ("敏捷的棕色狐狸跳过了懒狗。" * 20, 200, 340),
        ("いろはにほへとちりぬるを" * 20, 200, 330),
        ("أبجد هوز حطي كلمن " * 20, 120, 260),
        ("🎈🎉🙂" * 20, 100, 200),
        ("1234567890" * 20, 60, 120),
    ],
)
def test_scripts_are_distinguished(text: str, least: int, most: int) -> None:
    assert least <= estimate(text) <= most


@given(st.text(max_size=500), st.text(max_size=500))
def test_a_longer_text_never_has_fewer_tokens(first: str, second: str) -> None:
    together = estimate(first + second)

    assert together >= max(estimate(first), estimate(second))
    assert together <= estimate(first) + estimate(second) + 1


@given(st.text(st.characters(codec=None), max_size=200))
def test_any_text_has_an_estimate(text: str) -> None:
    assert 0 <= estimate(text) <= 4 * len(text) + 1
