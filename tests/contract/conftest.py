"""The suite runs for the cases that a test is for; the others do not count as skipped here."""

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    unfit = [item for item in items if is_of_suite(item) and skipped(item)]
    if unfit:
        config.hook.pytest_deselected(items=unfit)
        items[:] = [item for item in items if item not in unfit]
    for item in items:
        if is_of_suite(item) and "[postgres]" in item.name:
            item.add_marker(pytest.mark.xdist_group("postgres"))


def is_of_suite(item: pytest.Item) -> bool:
    """True if the test takes an adapter or a memory as its case."""
    return bool({"case", "memory_case"}.intersection(getattr(item, "fixturenames", ())))


def skipped(item: pytest.Item) -> bool:
    """True if the adapter kit skips a test, because it is not for this case."""
    return item.get_closest_marker("skip") is not None
