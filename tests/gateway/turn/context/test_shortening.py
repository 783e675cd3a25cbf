"""Cutting texts between sentences."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.llm.tokens import estimate
from gateway.turn.context.shortening import sentences, shortened


def test_a_text_is_split_into_complete_sentences() -> None:
    assert sentences("One. Two? (Three!) Four") == ["One. ", "Two? ", "(Three!) ", "Four"]


def test_chinese_and_japanese_sentences_need_no_space_and_a_line_ends_a_sentence() -> None:
    assert sentences("你好。再见！行") == ["你好。", "再见！", "行"]
    assert sentences("a list\n- b\n- c") == ["a list\n", "- b\n", "- c"]


def test_a_number_or_a_version_is_not_split() -> None:
    assert sentences("Python 3.11 costs 4.50 today.") == ["Python 3.11 costs 4.50 today."]


def test_complete_sentences_are_kept_with_a_mark_of_omission() -> None:
    text = "The first one. The second one. The third one."
    assert shortened(text, estimate("The first one. The second one. ..."), estimate) == (
        "The first one. The second one. ..."
    )


def test_a_sentence_that_is_too_long_is_cut_inside() -> None:
    cut = shortened("word " * 100, 20, estimate)
    assert cut.startswith("word word")
    assert cut.endswith(" ...")


def test_nothing_remains_if_nothing_fits() -> None:
    assert shortened("something", 0, estimate) == ""


@given(st.text())
def test_the_joined_sentences_are_the_text(text: str) -> None:
    assert "".join(sentences(text)) == text


@given(st.text(max_size=300), st.integers(0, 60))
def test_a_shortened_text_never_exceeds_its_limit(text: str, limit: int) -> None:
    assert estimate(shortened(text, limit, estimate)) <= limit or estimate(text) <= limit
