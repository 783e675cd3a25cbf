"""A running simulator, and an adapter connected to it."""

from collections.abc import AsyncIterator

import pytest

from simulators.discord import DiscordSimulator
from tests.adapters.discord.rig import Rig, connected


@pytest.fixture
async def sim() -> AsyncIterator[DiscordSimulator]:
    simulator = DiscordSimulator()
    await simulator.start()
    yield simulator
    await simulator.stop()


@pytest.fixture
async def rig(sim: DiscordSimulator) -> AsyncIterator[Rig]:
    async with connected(sim) as rig:
        yield rig
