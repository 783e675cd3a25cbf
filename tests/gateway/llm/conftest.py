"""The simulated services."""

from collections.abc import AsyncIterator

import pytest

from simulators.anthropic import AnthropicSimulator
from simulators.openai import OpenAISimulator


@pytest.fixture
async def claude() -> AsyncIterator[AnthropicSimulator]:
    simulator = AnthropicSimulator()
    await simulator.start()
    yield simulator
    await simulator.stop()


@pytest.fixture
async def compatible() -> AsyncIterator[OpenAISimulator]:
    simulator = OpenAISimulator()
    await simulator.start()
    yield simulator
    await simulator.stop()
