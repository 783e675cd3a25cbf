"""Cases in one test fail as tests of their own do."""

import asyncio
import inspect

import pytest

from tests.support.for_each import for_each


def test_every_case_runs_and_each_failing_one_is_named() -> None:
    ran = []

    @for_each("number, word", [(1, "one"), (2, "zwei"), (3, "drei")])
    def check(number: int, word: str) -> None:
        ran.append(number)
        assert word == "one"

    with pytest.raises(ExceptionGroup, match="2 of 3 cases failed") as caught:
        check()
    assert ran == [1, 2, 3]
    notes = [failure.__notes__ for failure in caught.value.exceptions]
    assert notes == [
        ["in the case {'number': 2, 'word': 'zwei'}"],
        ["in the case {'number': 3, 'word': 'drei'}"],
    ]


def test_other_parameters_are_passed_to_pytest() -> None:
    @for_each("number", [1, 2])
    def check(number: int, platform: str) -> None:
        assert platform * number

    assert list(inspect.signature(check).parameters) == ["platform"]
    check(platform="web")


async def test_cases_of_a_test_that_waits_run_as_well() -> None:
    ran = []

    @for_each("number", [1, 2, 3])
    async def check(number: int) -> None:
        await asyncio.sleep(0)
        ran.append(number)
        assert number != 2

    with pytest.raises(ExceptionGroup, match="1 of 3 cases failed"):
        await check()
    assert ran == [1, 2, 3]


def test_two_tables_give_every_pair() -> None:
    ran = []

    @for_each("word", ["one", "two"])
    @for_each("number", [1, 2])
    def check(number: int, word: str) -> None:
        ran.append((word, number))

    check()
    assert ran == [("one", 1), ("one", 2), ("two", 1), ("two", 2)]
