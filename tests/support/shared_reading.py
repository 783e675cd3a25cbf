"""Work on source files that every process of a run would do, done once on a tree that is new.

Compiling the modules, rewriting the asserts of the tests and looking for the constants that
Hypothesis tries takes a process 20 seconds, and all processes do it in the same order at the same
time. The results are in files, so each process begins with a part of its own and finds the rest.

The parts of pytest 9.1 and Hypothesis that are used here are private; `test_shared_reading.py`
shows that they do what is expected of them.
"""

import compileall
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TypeVar

import pytest
from _pytest.assertion import rewrite

ROOT = Path(__file__).resolve().parents[2]
Item = TypeVar("Item")


def own_part(config: pytest.Config) -> tuple[int, int] | None:
    """The number of this process of a run and their count; None in a run of one process."""
    given = getattr(config, "workerinput", None)
    if given is None:
        return None
    return int(given["workerid"].removeprefix("gw")), int(given["workercount"])


def source_files(root: Path = ROOT) -> list[Path]:
    """Every module of the tree, in an order that is the same in each process."""
    folders = sorted(one for one in root.iterdir() if one.is_dir() and one.name[0] != ".")
    return [file for folder in folders for file in sorted(folder.rglob("*.py"))]


def compile_part(config: pytest.Config, files: Sequence[Path], number: int, count: int) -> None:
    """Write the compiled form of one of `count` parts of these files, where it is missing."""
    if sys.dont_write_bytecode:
        return
    for file in files[number::count]:
        if file.name.startswith("test_"):
            _rewrite(config, file)
        else:
            compileall.compile_file(file, quiet=2)


def compiled_test(file: Path) -> Path:
    """The file in which pytest keeps the compiled form of a test."""
    return rewrite.get_cache_dir(file) / (file.name.removesuffix(".py") + rewrite.PYC_TAIL)


def _rewrite(config: pytest.Config, file: Path) -> None:
    written = compiled_test(file)
    if rewrite._read_pyc(file, written) is None and rewrite.try_makedirs(written.parent):
        try:
            read, code = rewrite._rewrite_test(file, config)
        except SyntaxError:
            return  # the collection reports it
        rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, read, written)


def read_constants(number: int, count: int) -> None:
    """Read the constants of all modules, beginning with one of `count` parts of them."""
    providers = import_module("hypothesis.internal.constants_ast")
    for module in beginning_with(list(sys.modules.values()), number, count):
        file = getattr(module, "__file__", None)
        if file is not None and providers.is_local_module_file(file):
            providers.constants_from_module(module)


def beginning_with(items: list[Item], number: int, count: int) -> list[Item]:
    """All of them, in turn from the first of one of `count` parts."""
    start = len(items) * number // count
    return items[start:] + items[:start]
