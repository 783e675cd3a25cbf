"""A reader returns its type for any JSON value, and never raises."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.shared import json_readers as read

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(JSON)
def test_any_value_becomes_the_expected_type(value: Any) -> None:
    source = {"key": value}
    assert isinstance(read.mapping(source, "key"), dict)
    assert all(isinstance(item, dict) for item in read.items(source, "key"))
    assert isinstance(read.array(source, "key"), list)
    read.text(source, "key").encode()
    assert "\0" not in read.text(source, "key")
    read.identifier(source, "key").encode("ascii")
    assert all(read.identifiers(source, "key"))
    assert isinstance(read.integer(source, "key"), int | None)
    for time in (read.unix_time(source, "key"), read.iso_time(source, "key")):
        assert time is None or time.tzinfo is not None
    number = read.number(source, "key")
    assert number is None or abs(number) < 2**64 or isinstance(value, float)


@pytest.mark.parametrize(
    "value",
    [None, True, "", "soon", "1e999", "nan", -1, 10**400, 4_102_444_801, float("inf"), [], {}],
)
def test_an_invalid_time_is_none(value: Any) -> None:
    assert read.unix_time({"at": value}, "at") is None


@pytest.mark.parametrize("value", [1790000000, "1790000000", 1790000000.0])
def test_a_unix_time_may_be_a_number_or_text(value: Any) -> None:
    time = read.unix_time({"at": value}, "at")
    assert time is not None
    assert time.isoformat() == "2026-09-21T14:13:20+00:00"


@pytest.mark.parametrize("value", ["2026-09-21T14:13:20", "yesterday", 7, "9" * 80])
def test_an_iso_time_needs_a_zone(value: Any) -> None:
    assert read.iso_time({"at": value}, "at") is None
    result = read.iso_time({"at": "2026-09-21T16:13:20+02:00"}, "at")
    assert result is not None
    assert result.isoformat() == "2026-09-21T14:13:20+00:00"


@pytest.mark.parametrize("value", ["x" * 151, "a\nb", "a b", "a\0b", "ä", ["x"], 1.5, True])
def test_an_invalid_id_is_empty(value: Any) -> None:
    assert read.identifier({"id": value}, "id") == ""


def test_ids_are_numbers_or_ascii_and_listed_once() -> None:
    assert read.identifiers({"ids": [7, "7", "x", None, 7, -100]}, "ids") == ("7", "x", "-100")


def test_a_number_as_id_is_not_text() -> None:
    assert read.numeric_id({"id": -100200}, "id") == "-100200"
    assert read.numeric_id({"id": "11"}, "id") == read.numeric_id({"id": 1.5}, "id") == ""


def test_texts_are_bounded_and_keep_their_utf_16_length() -> None:
    assert read.text({"t": "abcdef"}, "t", 3) == "abc"
    broken = "a\ud800b\0👍"
    clean = read.text({"t": broken}, "t")
    assert clean == "a\ufffdb\ufffd👍"
    assert len(clean.encode("utf-16-le")) == len(broken.encode("utf-16-le", "surrogatepass"))


def test_lists_are_bounded() -> None:
    assert len(read.items({"l": [{}] * 200}, "l")) == read.MAX_ITEMS
    assert read.items({"l": [{"a": 1}, 2, {"b": 3}]}, "l", 2) == [{"a": 1}]
