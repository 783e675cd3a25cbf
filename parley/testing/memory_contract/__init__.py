"""The contract suite of memory: what people store is found, by them alone, and is deleted when they
delete it.

`from parley.testing.memory_contract import *` takes over every test and its fixture; the module
then names its configurations in `MEMORY_CASES`.
"""

from collections.abc import AsyncIterator
from pathlib import Path

try:
    import pytest as pytest
    import pytest_asyncio as pytest_asyncio
except ImportError as error:
    raise ImportError(
        "parley.testing needs pytest and pytest-asyncio: pip install 'parley-gateway[testing]'"
    ) from error

from parley.testing.case import MemoryCase
from parley.testing.marks import suite_of
from parley.testing.memory_contract import port, service
from parley.testing.memory_stage import MemoryStage, opened_memory

MODULES = (service, port)
"""The modules of the suite; `port` tests a backend without the gateway's checks around it."""


@pytest_asyncio.fixture
async def memory(memory_case: MemoryCase, tmp_path: Path) -> AsyncIterator[MemoryStage]:
    """An opened, empty memory."""
    async with opened_memory(memory_case, tmp_path) as stage:
        yield stage


TESTS = {name: test for module in MODULES for name, test in suite_of(module).items()}
"""Every test by name."""
globals().update(TESTS)
__all__ = [*TESTS, "memory"]  # noqa: PLE0604 - names of the tests
