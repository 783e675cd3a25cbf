"""The contract suite: everything that an adapter can do works, and what its manifest declares is
true.

`from parley.testing.contract import *` takes over every test and its fixtures; the module then
names its adapters in `ADAPTER_CASES`.
"""

try:
    import pytest as pytest
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
from parley.testing.suites import suite_of

MODULES = (
    *(asking, features, life, live, manifests, privacy, receiving),
    *(rendered, rooms, sending),
)
"""The modules of the suite."""


TESTS = {name: test for module in MODULES for name, test in suite_of(module).items()}
"""Every test by name."""
globals().update(TESTS)
__all__ = [*TESTS, "stage", "unhurried"]  # noqa: PLE0604 - names of the tests
