"""The contract suite: everything that an adapter can do works, and what its manifest declares is
true.

`from parley.testing.contract import *` takes over every test and its fixtures; the module then
names its adapters in `ADAPTER_CASES`.
"""

from collections.abc import AsyncIterator

try:
    import pytest as pytest
    import pytest_asyncio as pytest_asyncio
except ImportError as error:
    raise ImportError(
        "parley.testing needs pytest and pytest-asyncio: pip install 'parley-gateway[testing]'"
    ) from error

from parley.testing.case import AdapterCase
from parley.testing.contract import (
    asking,
    features,
    life,
    live,
    manifests,
    receiving,
    rooms,
    sending,
)
from parley.testing.marks import suite_of
from parley.testing.stage import Stage, on_stage

MODULES = (asking, features, life, live, manifests, receiving, rooms, sending)
"""The modules of the suite."""


@pytest_asyncio.fixture
async def stage(case: AdapterCase) -> AsyncIterator[Stage]:
    """The connected adapter on its own platform."""
    async with on_stage(case) as made:
        yield made


@pytest.fixture
def unhurried(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevent redeliveries on a slow machine."""
    if stage.case.unhurried is not None:
        stage.case.unhurried(stage.platform, monkeypatch)


TESTS = {name: test for module in MODULES for name, test in suite_of(module).items()}
"""Every test by name."""
globals().update(TESTS)
__all__ = [*TESTS, "stage", "unhurried"]  # noqa: PLE0604 - names of the tests
