"""Every form of a test has its turn, and a test keeps its own."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping

import pytest

from tests.support.by_day import one_of, two_of

NAMES = [f"test_{number}" for number in range(100)]
FIXTURES = """
import pytest
from tests.support.by_day import leave_forms_to_the_night

def pytest_collection_modifyitems(items): leave_forms_to_the_night(items)

@pytest.fixture(params=["sqlite", "postgres"])
def engine(request): return request.param

@pytest.fixture
def second_engine(engine): return engine

@pytest.fixture(params=["discord", "slack", "telegram", "whatsapp"])
def variant(request): return request.param
"""
TESTS = """
import pytest

def test_one(engine): ...

@pytest.mark.parametrize("number", [1, 2])
def test_numbers(engine, number): ...

@pytest.mark.both_engines
def test_writers(engine): ...

def test_processes(second_engine): ...

def test_platforms(variant): ...
"""


PLACES = ("tests/memory/agents", "tests/memory/agents/stores", "tests/gateway/stores", "tests/e2e")


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Mapping[tuple[str, str], list[str]]:
    """The forms that a run by day has, by folder and test."""
    tree = tmp_path_factory.mktemp("tree")
    (tree / "pytest.ini").write_text("[pytest]\nmarkers = both_engines\n  nightly\n")
    (tree / "conftest.py").write_text(FIXTURES)
    for number, place in enumerate(PLACES):
        (tree / place).mkdir(parents=True, exist_ok=True)
        (tree / place / f"test_{number}.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "not nightly"]
    paths = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    done = subprocess.run(
        command, cwd=tree, env=paths, capture_output=True, text=True, check=True, timeout=60
    )
    found: dict[tuple[str, str], list[str]] = {}
    for file, test, form in re.findall(r"^(.+)/.+::(\w+)\[(.+)\]$", done.stdout, re.MULTILINE):
        found.setdefault((file, test), []).append(form)
    return found


@pytest.mark.parametrize("count", [1, 2, 3, 4, 6])
def test_two_forms_are_chosen_and_each_form_by_some_test(count: int) -> None:
    forms = range(count)
    chosen = [two_of(forms, name) for name in NAMES]
    assert {len(set(pair)) for pair in chosen} == {min(count, 2)}
    assert {form for pair in chosen for form in pair} == set(forms)
    assert chosen == [two_of(forms, name) for name in NAMES]


def test_one_form_is_chosen_and_each_form_by_some_test() -> None:
    assert {one_of("abcdef", name) for name in NAMES} == set("abcdef")


def test_above_the_stores_one_engine_is_left_unless_the_database_decides(
    left: Mapping[tuple[str, str], list[str]],
) -> None:
    place = "tests/memory/agents"
    assert len(left[place, "test_one"]) == 1
    assert left[place, "test_numbers"] in (
        ["sqlite-1", "sqlite-2"],
        ["postgres-1", "postgres-2"],
        ["1-sqlite", "2-sqlite"],
        ["1-postgres", "2-postgres"],
    )
    assert len(left[place, "test_writers"]) == 2
    assert len(left[place, "test_processes"]) == 2
    assert len(left[place, "test_platforms"]) == 4


@pytest.mark.parametrize("place", ["tests/gateway/stores", "tests/memory/agents/stores"])
def test_the_stores_keep_both_engines(
    left: Mapping[tuple[str, str], list[str]], place: str
) -> None:
    assert len(left[place, "test_one"]) == 2


def test_end_to_end_two_platforms_are_left(left: Mapping[tuple[str, str], list[str]]) -> None:
    assert len(left["tests/e2e", "test_platforms"]) == 2
    assert len(left["tests/e2e", "test_one"]) == 2
