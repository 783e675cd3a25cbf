"""The lines of a document: adding, changing and deleting one, and the difference of versions."""

import asyncio

import pytest

from gateway.errors import BadInput
from gateway.people import Role
from memory.brain import lines
from memory.brain.lines import (
    DocumentLine,
    difference,
    lines_of,
    with_line_added,
    with_line_changed,
    without_line,
)
from memory.model.record import MAX_DOCUMENT
from tests.memory.rig import ROOM, Rig, memory_rig
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


async def test_lines_are_edited_on_the_newest_version_only(rig: Rig) -> None:
    ada, other_tab = await rig.handle("ada"), await rig.handle("ada")
    first = await ada.documents.add_line("soul", "Short answers.", 0)
    assert first.version is not None
    assert first.version.content == "Short answers."
    second = await ada.documents.add_line("soul", "No jokes.", 1)
    assert second.version is not None
    late = await other_tab.documents.edit_line("soul", 1, "Long answers.", 1)
    assert (late.written, late.version) == ("conflict", second.version)
    edited = await other_tab.documents.edit_line("soul", 1, "Long answers.", 2)
    assert edited.version is not None
    assert edited.version.content == "Long answers.\nNo jokes."


async def test_an_edit_of_a_line_that_another_tab_deleted_is_a_conflict(rig: Rig) -> None:
    ada = await rig.handle("ada")
    await ada.documents.add_line("soul", "one\ntwo", 0)
    await ada.documents.delete_line("soul", 2, 1)
    assert (await ada.documents.edit_line("soul", 2, "2", 1)).written == "conflict"


@pytest.mark.both_engines
async def test_of_two_edits_at_once_one_wins(rig: Rig) -> None:
    ada = await rig.handle("ada")
    results = await asyncio.gather(
        *(ada.documents.add_line("soul", f"Line {number}", 0) for number in range(4))
    )
    assert sorted(one.written for one in results) == ["conflict"] * 3 + ["written"]


async def test_a_document_can_be_emptied_line_by_line(rig: Rig) -> None:
    ada = await rig.handle("ada")
    await ada.documents.add_line("soul", "Short answers.", 0)
    emptied = await ada.documents.delete_line("soul", 1, 1)
    assert emptied.version is not None
    assert emptied.version.content == ""
    assert (await rig.documents(ada.access)).soul == ""
    back = await ada.documents.restore("soul", 1, based_on=2)
    assert back.version is not None
    assert back.version.content == "Short answers."


async def test_a_restore_is_based_on_the_newest_version(rig: Rig) -> None:
    ada = await rig.handle("ada")
    await ada.documents.add_line("soul", "one", 0)
    await ada.documents.add_line("soul", "two", 1)
    late = await ada.documents.restore("soul", 1, based_on=1)
    assert late.written == "conflict"


async def test_a_line_of_which_nothing_may_be_stored_is_refused(rig: Rig) -> None:
    ada = await rig.handle("ada")
    with pytest.raises(BadInput, match="no text is left"):
        await ada.documents.add_line("soul", "\u202e", 0)
    assert await ada.documents.read("soul") is None


async def test_a_members_line_of_the_project_notes_is_proposed() -> None:
    async with memory_rig() as rig:
        root = await rig.handle("root", at=ROOM, role=Role.OPERATOR)
        start = await root.documents.read("bible")
        assert start is not None
        await root.documents.edit_line("bible", 1, "We sell tea.", start.number)
        ada = await rig.handle("ada", at=ROOM)
        result = await ada.documents.add_line("bible", "We sell coffee.", start.number + 1)
        assert result.written == "proposed"
        (pending,) = await root.review.waiting()
        assert pending.record.content == "We sell tea.\nWe sell coffee."
