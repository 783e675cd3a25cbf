"""A running program with its console, its HTTP interface, its MCP servers and its commands."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.parley.console.kit import Console, console_in, console_settings


@pytest.fixture
async def console(tmp_path: Path) -> AsyncIterator[Console]:
    settings = console_settings(tmp_path, agents={"agents_per_person": 1})
    async with console_in(settings) as started:
        yield started
