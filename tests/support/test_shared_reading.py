"""The processes of a run share the work on source files, and find each other's results."""

import importlib.util
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook

from tests.support.shared_reading import (
    beginning_with,
    compile_part,
    read_constants,
    source_files,
)

NAMES = ("one", "test_three", "test_four", "two")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for folder in ("package", ".hidden"):
        (tmp_path / folder).mkdir()
        for name in NAMES:
            (tmp_path / folder / f"{name}.py").write_text("FOUND = 1\nassert FOUND == 1\n")
    return tmp_path


def not_again(*given: object) -> None:
    raise AssertionError(f"compiled again: {given}")


def test_all_modules_are_found_except_those_in_hidden_folders(tree: Path) -> None:
    assert [file.relative_to(tree).as_posix() for file in source_files(tree)] == [
        f"package/{name}.py" for name in sorted(NAMES)
    ]


def test_pytest_and_python_find_what_the_parts_compiled(
    tree: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = source_files(tree)
    for number in range(3):
        compile_part(request.config, files, number, 3)
    monkeypatch.setattr("_pytest.assertion.rewrite._rewrite_test", not_again)
    monkeypatch.setattr("importlib._bootstrap_external.SourceFileLoader.source_to_code", not_again)
    hook = request.config.pluginmanager.rewrite_hook
    assert isinstance(hook, AssertionRewritingHook)
    for file in files:
        spec = importlib.util.spec_from_file_location(
            file.stem, file, loader=hook if file.stem.startswith("test_") else None
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert module.FOUND == 1


def test_a_part_compiles_nothing_of_the_others(tree: Path, request: pytest.FixtureRequest) -> None:
    compile_part(request.config, source_files(tree), 0, 4)
    assert [file.name.partition(".")[0] for file in tree.rglob("*.pyc")] == ["one"]


def test_a_broken_test_is_left_to_the_collection(
    tree: Path, request: pytest.FixtureRequest
) -> None:
    broken = tree / "package" / "test_three.py"
    broken.write_text("def (")
    compile_part(request.config, [broken], 0, 1)
    assert not list(tree.rglob("*.pyc"))


def test_every_process_reads_all_constants_and_begins_with_its_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader = import_module("hypothesis.internal.constants_ast")
    providers = import_module("hypothesis.internal.conjecture.providers")
    assert providers.constants_from_module is reader.constants_from_module
    read: list[Sequence[str]] = []
    for number in range(2):
        names: list[str] = []
        monkeypatch.setattr(
            reader, "constants_from_module", lambda module, names=names: names.append(module)
        )
        read_constants(number, 2)
        read.append(names)
    assert read[0]
    assert set(read[0]) == set(read[1])
    assert read[0] != read[1]


def test_a_part_comes_first_and_nothing_is_left_out() -> None:
    assert [beginning_with([1, 2, 3, 4, 5], number, 2) for number in range(2)] == [
        [1, 2, 3, 4, 5],
        [3, 4, 5, 1, 2],
    ]
