"""The simulated Anthropic, and a provider that talks to it."""

from collections.abc import AsyncIterator

import pytest

from gateway.llm.anthropic.provider import AnthropicProvider
from simulators.anthropic import AnthropicSimulator


@pytest.fixture
async def claude() -> AsyncIterator[AnthropicSimulator]:
    simulator = AnthropicSimulator()
    await simulator.start()
    yield simulator
    await simulator.stop()


@pytest.fixture
async def provider(claude: AnthropicSimulator) -> AsyncIterator[AnthropicProvider]:
    made = AnthropicProvider("test-key", base_url=claude.base_url)
    yield made
    await made.close()
