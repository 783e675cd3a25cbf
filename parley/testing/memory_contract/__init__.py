"""The contract suite of memory: what people store is found, by them alone, and is deleted when they
delete it.

`from parley.testing.memory_contract import *` takes over every test and its fixture; the module
then names its configurations in `MEMORY_CASES`.
"""

try:
    import pytest as pytest
    import pytest_asyncio as pytest_asyncio
except ImportError as error:
    raise ImportError(
        "parley.testing needs pytest and pytest-asyncio: pip install 'parley-gateway[testing]'"
    ) from error

from parley.testing.memory_contract import deleting, isolation, port, remembering, secrets
from parley.testing.memory_contract.fixtures import memory
from parley.testing.suites import suite_of

MODULES = (remembering, isolation, deleting, secrets, port)
"""The modules of the suite; `port` tests a backend without the gateway's checks around it."""

TESTS = {name: test for module in MODULES for name, test in suite_of(module).items()}
"""Every test by name."""
globals().update(TESTS)
__all__ = [*TESTS, "memory"]  # noqa: PLE0604 - names of the tests
