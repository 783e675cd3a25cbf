"""The fixtures of the contract suite of memory."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from parley.testing.memory_case import MemoryCase
from parley.testing.memory_stage import MemoryStage, opened_memory


@pytest_asyncio.fixture
async def memory(memory_case: MemoryCase, tmp_path: Path) -> AsyncIterator[MemoryStage]:
    """An opened, empty memory."""
    async with opened_memory(memory_case, tmp_path) as stage:
        yield stage
