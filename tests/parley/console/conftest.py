"""A running program with its console."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.parley.console.kit import Console, console_in, console_settings


@pytest.fixture
async def console(tmp_path: Path) -> AsyncIterator[Console]:
    async with console_in(console_settings(tmp_path)) as started:
        yield started
