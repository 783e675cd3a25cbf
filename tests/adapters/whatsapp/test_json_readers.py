"""Reading a value of unknown JSON never raises, and gives nothing rather than nonsense."""

from typing import Any

import pytest

from adapters.whatsapp import json_readers as wire


@pytest.mark.parametrize(
    "value",
    [None, True, "", "soon", "1e999", "nan", -1, 10**400, 4_102_444_801, float("inf"), [], {}],
)
def test_what_is_no_time_is_none(value: Any) -> None:
    assert wire.moment({"at": value}, "at") is None


@pytest.mark.parametrize("value", [1790000000, "1790000000", 1790000000.0])
def test_seconds_are_a_time_however_they_are_written(value: Any) -> None:
    found = wire.moment({"at": value}, "at")
    assert found is not None
    assert found.isoformat() == "2026-09-21T14:13:20+00:00"


@pytest.mark.parametrize("holder", [None, 3, "text", [], {}, {"other": 1}])
def test_a_missing_value_is_empty(holder: Any) -> None:
    assert wire.text(holder, "key", 10) == ""
    assert wire.identifier(holder, "key") == ""
    assert wire.mapping(holder, "key") == {}
    assert wire.items(holder, "key") == []
    assert wire.number(holder, "key") is None
    assert not wire.flag(holder, "key")


@pytest.mark.parametrize("value", ["x" * 151, "a\nb", "a\x00b", ["x"], 1.5])
def test_what_is_no_id_is_empty(value: Any) -> None:
    assert wire.identifier({"id": value}, "id") == ""


def test_texts_are_bounded_and_encodable() -> None:
    assert wire.text({"t": "abcdef"}, "t", 3) == "abc"
    assert wire.text({"t": "a\ud800b"}, "t", 9).encode()
    assert wire.text({"t": "👍"}, "t", 9) == "👍"
