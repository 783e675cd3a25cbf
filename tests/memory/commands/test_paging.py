"""A long list, page by page."""

import pytest

from memory.commands.paging import page_of

LIST = tuple(range(1, 24))


def labels(number: int, room: int, size: int = 10) -> tuple[str, ...]:
    return tuple(one.label for one in page_of(LIST, number, size).turnings(room))


def test_every_item_stands_on_one_page() -> None:
    pages = [page_of(LIST, number) for number in (1, 2, 3)]
    assert [one for page in pages for one in page.items] == list(LIST)
    assert [page.label for page in pages] == ["1-10 of 23", "11-20 of 23", "21-23 of 23"]
    assert page_of(LIST[:21], 3).label == "21 of 21"
    assert page_of((), 1).label == "0 of 0"


@pytest.mark.parametrize(("wanted", "got"), [(0, 1), (-5, 1), (4, 3), (10**9, 3)])
def test_a_number_that_is_none_gives_the_nearest_page(wanted: int, got: int) -> None:
    assert page_of(LIST, wanted).number == got


def test_where_there_is_room_for_one_choice_it_goes_round() -> None:
    assert [labels(n, 1) for n in (1, 2, 3)] == [("Next 11-20",), ("Next 21-23",), ("First 1-10",)]


def test_with_more_room_one_goes_back_as_well() -> None:
    assert [labels(n, 2) for n in (1, 2, 3)] == [
        ("Next 11-20",),
        ("Back 1-10", "Next 21-23"),
        ("Back 11-20",),
    ]


def test_one_page_leads_nowhere_and_no_room_shows_nothing() -> None:
    assert page_of(LIST[:10], 1).turnings(2) == ()
    assert page_of(LIST, 1).turnings(0) == ()


def test_labels_fit_the_narrowest_platform() -> None:
    many = page_of(range(10**9), 10**7)
    assert all(len(one.label) <= 20 for one in many.turnings(2))
