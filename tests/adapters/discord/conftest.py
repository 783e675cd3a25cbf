"""A running simulator, and an adapter connected to it."""

from collections.abc import AsyncIterator

import discord
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
def identifying_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library waits 5 s before it identifies anew, for Discord's limit alone."""

    async def at_once(*_: object, initial: bool = False) -> None:
        del initial

    monkeypatch.setattr(discord.Client, "before_identify_hook", at_once)


@pytest.fixture
async def rig(sim: DiscordSimulator) -> AsyncIterator[Rig]:
    async with connected(sim) as rig:
        yield rig
