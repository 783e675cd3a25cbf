"""The fixtures of the contract suite."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from parley.testing.case import AdapterCase
from parley.testing.stage import Stage, on_stage


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
