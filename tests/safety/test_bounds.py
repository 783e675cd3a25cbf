"""Input is copied, frozen and measured before anything looks at it."""

import math
from collections import OrderedDict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from safety.bounds import InputBounds, OutOfBounds, as_json, identifier, snapshot
from tests.support.for_each import for_each
from tests.support.processor_time import seconds


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


def looped() -> dict[str, Any]:
    value: dict[str, Any] = {"a": [1]}
    value["a"].append(value)
    return value


@for_each(
    ("value", "place", "problem"),
    [
        ({"tags": [1, 2, 3, b"x"]}, "tags[3]", "bytes"),
        ({"a": {"b": [{"c": math.nan}]}}, "a.b[0].c", "not a finite number"),
        ({"a": math.inf}, "a", "not a finite number"),
        ({"a": "\ud800"}, "a", "surrogate"),
        ({1: "x"}, "input", "key must be a string"),
        ({"": 1}, "['']", "empty"),
        ({"a\x00": 1}, "['a\\x00']", "control"),
        ({"k" * 257: 1}, "", "256 bytes"),
        ({"é" * 129: 1}, "", "256 bytes"),
        ({str(n): n for n in range(101)}, "input", "at most 100"),
        (list(range(501)), "input", "at most 500"),
        ([list(range(300)), list(range(300))], "", "500 values in all"),
        ({"a": "x" * 10_000}, "a", "10000 bytes"),
        (nested(7), "[0][0][0][0][0][0]", "nested more than 5"),
        (looped(), "a[1]", "contains itself"),
        ({"a": object()}, "a", "not a JSON value"),
        ({"a": {1, 2}}, "a", "set"),
        ({"a": 2**63}, "a", "64 bits"),
        (OrderedDict(a=1), "input", "OrderedDict"),
    ],
)
def test_a_value_beyond_the_limits_is_reported_with_its_place(
    value: object, place: str, problem: str
) -> None:
    with pytest.raises(OutOfBounds) as raised:
        snapshot(value)
    assert problem in raised.value.problem
    assert str(raised.value).startswith(place)


def test_the_limits_themselves_are_allowed() -> None:
    snapshot(nested(6))
    snapshot({str(n): n for n in range(100)})
    snapshot(list(range(500)))
    snapshot({"k" * 256: 1})
    assert len(as_json(snapshot({"a": "x" * 9_992})).encode()) == 10_000


def test_later_changes_by_the_caller_have_no_effect() -> None:
    value = {"tags": ["a"], "inner": {"b": 1}}
    frozen = snapshot(value)
    value["tags"].append("b")  # type: ignore[attr-defined]
    value["new"] = "x" * 100_000
    assert as_json(frozen) == '{"tags":["a"],"inner":{"b":1}}'


def test_a_snapshot_is_immutable() -> None:
    frozen: Any = snapshot({"a": [1], "b": {"c": 1}})
    with pytest.raises(TypeError):
        frozen["a"] = 2
    with pytest.raises(TypeError):
        frozen["b"]["c"] = 2
    assert isinstance(frozen["a"], tuple)


def test_the_same_part_twice_is_not_a_cycle() -> None:
    part = ["x"]
    assert as_json(snapshot({"a": part, "b": part})) == '{"a":["x"],"b":["x"]}'


def test_deep_nesting_does_not_exhaust_the_stack() -> None:
    with pytest.raises(OutOfBounds):
        snapshot(nested(100_000))


def test_a_large_value_is_refused_without_a_copy() -> None:
    value = {"a": "x" * 50_000_000, "b": [0] * 5_000_000}

    def refused() -> None:
        with pytest.raises(OutOfBounds):
            snapshot(value)

    assert seconds(refused, 1) < 1


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**62), 2**62)
    | st.text(max_size=20)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("abc_é", min_size=1, max_size=5), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(JSON)
def test_a_snapshot_equals_its_input(value: object) -> None:
    try:
        frozen = snapshot(value, InputBounds(depth=50))
    except OutOfBounds:
        return
    assert as_json(frozen) == as_json(value)  # type: ignore[arg-type]
    assert as_json(snapshot(value, InputBounds(depth=50))) == as_json(frozen)


@pytest.mark.parametrize("value", ["", "x" * 257, "a\nb", 5, None, "\udc00"])
def test_an_id_is_a_short_string(value: object) -> None:
    with pytest.raises(OutOfBounds, match=r"^id: "):
        identifier(value)
    assert identifier("C123") == "C123"
