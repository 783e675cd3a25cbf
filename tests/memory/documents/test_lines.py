"""The lines of a document: adding, changing and deleting one, and the difference of versions."""

import pytest

from gateway.errors import BadInput
from memory.documents import lines
from memory.documents.lines import (
    DocumentLine,
    difference,
    drops_much,
    lines_of,
    with_line_added,
    with_line_changed,
    without_line,
)
from memory.model.record import MAX_DOCUMENT
from tests.memory.documents.rewrites import REWRITES, Rewrite
from tests.support.processor_time import seconds


def signs(before: str, after: str) -> list[tuple[str, str]]:
    return [(line.sign, line.text) for line in difference(before, after)]


def test_blank_lines_count_but_are_no_lines_of_their_own() -> None:
    assert lines_of("one\n\n two\n") == (DocumentLine(1, "one"), DocumentLine(3, " two"))
    assert lines_of("") == ()


def test_a_line_is_added_changed_and_deleted() -> None:
    assert with_line_added("soul", "", "one") == "one"
    assert with_line_added("soul", "one", " two\r\n\nthree ") == "one\ntwo\nthree"
    assert with_line_changed("soul", "one\n\ntwo", 3, "2") == "one\n\n2"
    assert without_line("soul", "one\ntwo", 1) == "two"
    assert without_line("soul", "one", 1) == ""


@pytest.mark.parametrize("number", [-1, 0, 3])
def test_a_missing_line_is_refused(number: int) -> None:
    with pytest.raises(BadInput, match="no line"):
        without_line("soul", "one\ntwo", number)
    with pytest.raises(BadInput, match="no line"):
        with_line_changed("soul", "one\ntwo", number, "text")


def test_a_blank_text_is_no_line() -> None:
    with pytest.raises(BadInput, match="needs a text"):
        with_line_added("soul", "one", " \n\t")


def test_a_document_beyond_its_limit_is_refused_and_not_cut() -> None:
    full = "x" * MAX_DOCUMENT
    assert len(with_line_changed("soul", full, 1, "y" * MAX_DOCUMENT)) == MAX_DOCUMENT
    with pytest.raises(BadInput, match="10,002 of 10,000"):
        with_line_added("soul", full, "x")


def test_a_difference_shows_what_was_removed_and_added() -> None:
    assert signs("a\nb\nc", "a\nB\nc\nd") == [
        ("same", "a"),
        ("removed", "b"),
        ("added", "B"),
        ("same", "c"),
        ("added", "d"),
    ]
    assert signs("", "a") == [("added", "a")]
    assert signs("a", "") == [("removed", "a")]
    assert signs("a\na", "a") == [("same", "a"), ("removed", "a")]


def test_a_difference_restores_both_versions() -> None:
    before, after = "a\nb\nc\na\nb", "b\na\nc\nb\nb\na"
    found = difference(before, after)
    assert "\n".join(one.text for one in found if one.sign != "added") == before
    assert "\n".join(one.text for one in found if one.sign != "removed") == after
    assert sum(one.sign == "same" for one in found) == 3


def test_the_work_of_a_comparison_is_bounded() -> None:
    before, after = "\n".join("ab" * 2_500), "\n".join("ba" * 2_500 + "c")
    assert seconds(lambda: difference(before, after), 1) < 1
    assert {one.sign for one in difference(before, after)} == {"removed", "added"}
    assert lines.MAX_CELLS == 40_000


@pytest.mark.parametrize("rewrite", REWRITES, ids=lambda one: one.id)
def test_a_new_text_that_drops_much_is_found(rewrite: Rewrite) -> None:
    assert drops_much(rewrite.before, rewrite.after) is rewrite.asks


def test_a_long_document_is_compared_by_its_sentences_in_a_moment() -> None:
    before = " ".join(f"Rule {number} holds on day {number}." for number in range(300))
    after = " ".join(f"Note {number} was removed yesterday." for number in range(300))
    assert seconds(lambda: drops_much(before, after), 1) < 1
    assert drops_much(before, after)
