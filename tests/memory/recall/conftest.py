"""A store to ask."""

from collections.abc import AsyncIterator

import pytest

from tests.memory.recall.making import Asking, asking


@pytest.fixture
async def here() -> AsyncIterator[Asking]:
    """An empty SQLite store with a retriever over it."""
    async with asking() as empty:
        yield empty
