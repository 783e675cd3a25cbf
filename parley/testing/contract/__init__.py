"""The contract suite: everything that an adapter can do works, and what its manifest declares is
true.

`from parley.testing.contract import *` takes over every test and its fixtures; the module then
names its adapters in `ADAPTER_CASES`.
"""

from inspect import iscoroutinefunction
from types import ModuleType
from typing import Any

try:
    import pytest
    import pytest_asyncio as pytest_asyncio
except ImportError as error:
    raise ImportError(
        "parley.testing needs pytest and pytest-asyncio: pip install 'parley-gateway[testing]'"
    ) from error

from parley.testing.contract import (
    asking,
    features,
    life,
    live,
    manifests,
    privacy,
    receiving,
    rendered,
    rooms,
    sending,
)
from parley.testing.contract.fixtures import stage, unhurried

MODULES = (
    *(asking, features, life, live, manifests, privacy, receiving),
    *(rendered, rooms, sending),
)
"""The modules of the suite."""


def suite_of(module: ModuleType) -> dict[str, Any]:
    """The tests of a module with its marks; asynchronous ones run also where pytest-asyncio is
    not in its automatic mode."""
    shared = getattr(module, "pytestmark", ())
    found = {}
    for name, test in vars(module).items():
        if name.startswith("test_") and test.__module__ == module.__name__:
            for mark in (shared,) if isinstance(shared, pytest.MarkDecorator) else shared:
                mark(test)
            found[name] = pytest.mark.asyncio(test) if iscoroutinefunction(test) else test
    return found


TESTS = {name: test for module in MODULES for name, test in suite_of(module).items()}
"""Every test by name."""
globals().update(TESTS)
__all__ = [*TESTS, "stage", "unhurried"]  # noqa: PLE0604 - names of the tests
