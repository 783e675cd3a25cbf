"""Collects the tests of a contract suite."""

from inspect import iscoroutinefunction
from types import ModuleType
from typing import Any

import pytest


def suite_of(module: ModuleType) -> dict[str, Any]:
    """The tests of a module with its marks; asynchronous ones run also where pytest-asyncio is
    not in its automatic mode."""
    shared = getattr(module, "pytestmark", ())
    suite = {}
    for name, test in vars(module).items():
        if name.startswith("test_") and test.__module__ == module.__name__:
            for mark in (shared,) if isinstance(shared, pytest.MarkDecorator) else shared:
                mark(test)
            suite[name] = pytest.mark.asyncio(test) if iscoroutinefunction(test) else test
    return suite
