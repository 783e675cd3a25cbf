"""The suite runs for the cases that a test is for; the others do not count as skipped here."""

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    unfit = [
        item for item in items if "case" in getattr(item, "fixturenames", ()) and skipped(item)
    ]
    if unfit:
        config.hook.pytest_deselected(items=unfit)
        items[:] = [item for item in items if item not in unfit]


def skipped(item: pytest.Item) -> bool:
    """True if the adapter kit skips a test, because it is not for this case."""
    return item.get_closest_marker("skip") is not None
