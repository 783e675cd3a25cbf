"""The pytest plugin of the contract suites, found by pytest where Parley is installed.

It acts on tests with the argument `case` only, in modules with `ADAPTER_CASES`, and on those with
`memory_case`, in modules with `MEMORY_CASES`. It imports nothing of Parley before.
"""

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from parley.testing.case import AdapterCase

CASES = "ADAPTER_CASES"
SUITE = "parley.testing.contract"
MISSING = f"{CASES} is missing: name your adapters, {CASES} = (AdapterCase(...),)"
MEMORY_CASES = "MEMORY_CASES"
MEMORY_SUITE = "parley.testing.memory_contract"
MEMORY_MISSING = f"{MEMORY_CASES} is missing: name your memory, {MEMORY_CASES} = (MemoryCase(...),)"
pytest.register_assert_rewrite("parley.testing")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks of the contract suite."""
    for line in (
        "proves(name): of the contract suite: for adapters that have this",
        "lacks(name): of the contract suite: for adapters that do not have it",
        "where(condition, reason): of the contract suite: for cases that meet the condition",
    ):
        config.addinivalue_line("markers", line)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test of the suite once for each case of the module; those for which it is not are
    skipped with the reason."""
    if (cases := _cases(metafunc, "case", CASES, SUITE, MISSING)) is not None:
        marks = list(metafunc.definition.iter_markers())
        metafunc.parametrize(
            "case",
            [pytest.param(case, marks=_skipped(case, marks), id=case.name) for case in cases],
        )
    memories = _cases(metafunc, "memory_case", MEMORY_CASES, MEMORY_SUITE, MEMORY_MISSING)
    if memories is not None:
        of_port = metafunc.function.__module__ == f"{MEMORY_SUITE}.port"
        skip = pytest.mark.skip(reason="Parley's own memory is no backend of the port")
        parameters = [
            pytest.param(case, id=case.name, marks=[skip] if of_port and not case.backend else [])
            for case in memories
        ]
        metafunc.parametrize("memory_case", parameters)


def _cases(
    metafunc: pytest.Metafunc, argument: str, names: str, suite: str, missing: str
) -> "Sequence[Any] | None":
    """The cases of a module for a test with this argument; None for any other test."""
    if argument not in metafunc.fixturenames:
        return None
    cases = getattr(metafunc.module, names, None)
    if isinstance(cases, tuple | list):
        return cases
    if metafunc.function.__module__.startswith(f"{suite}."):
        raise pytest.Collector.CollectError(missing)
    return None


def _skipped(case: "AdapterCase", marks: list[pytest.Mark]) -> list[pytest.MarkDecorator]:
    """A mark that skips the test, if one of its marks excludes the adapter."""
    from parley.testing.marks import unfit  # noqa: PLC0415 - only where the suite is used

    reasons = [reason for mark in marks if (reason := unfit(case, mark))]
    return [pytest.mark.skip(reason=reasons[0])] if reasons else []
