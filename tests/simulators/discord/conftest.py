"""A running simulator and a plain client."""

from collections.abc import AsyncIterator

import pytest

from simulators.discord import DiscordSimulator
from tests.simulators.discord.client import Client


@pytest.fixture
async def sim() -> AsyncIterator[DiscordSimulator]:
    simulator = DiscordSimulator()
    await simulator.start()
    yield simulator
    await simulator.stop()


@pytest.fixture
async def client(sim: DiscordSimulator) -> AsyncIterator[Client]:
    async with Client(sim) as client:
        yield client
