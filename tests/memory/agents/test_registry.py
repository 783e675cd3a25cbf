"""Agents belong to a person, and everything they do stays within that person's reach."""

import pytest

from gateway.errors import BadInput, NotFound
from memory.agents.model import (
    DEFAULT_CAPABILITIES,
    AgentLimits,
    AgentType,
    Capability,
    RegistryCapacityError,
)
from tests.memory.agents.conftest import Agents


def test_the_limits_are_those_of_the_specification() -> None:
    limits = AgentLimits()
    assert (limits.agents, limits.sessions, limits.pools) == (10_000, 50_000, 10_000)
    assert (limits.pool_members, limits.pool_memories) == (1_000, 100_000)
    assert (limits.handoffs, limits.pending_per_target) == (50_000, 100)
    assert (limits.query_results, limits.handoff_seconds) == (100, 3_600)


@pytest.mark.parametrize("agent_type", AgentType)
async def test_an_agent_has_the_capabilities_of_its_type(
    agents: Agents, agent_type: AgentType
) -> None:
    registry, ada = agents.wired.registry, await agents.request()
    agent = await registry.register_agent(ada, agent_type, name="builder")
    assert agent.capabilities == DEFAULT_CAPABILITIES[agent_type]
    assert len(bytes.fromhex(agent.id)) * 8 == 128
    assert await registry.get_agent(ada, agent.id) == agent
    assert await registry.agents_of(ada) == (agent,)
    assert agents.noted("agent_auth") == [{"operation": "register", "agent": agent.id}]


async def test_an_agent_can_have_fewer_capabilities_and_never_more(agents: Agents) -> None:
    registry, ada = agents.wired.registry, await agents.request()
    reads = [Capability.MEMORY_READ]
    agent = await registry.register_agent(ada, AgentType.CLAUDE_CODE, capabilities=reads)
    assert agent.capabilities == {Capability.MEMORY_READ}
    more = [Capability.MEMORY_WRITE]
    with pytest.raises(BadInput, match="custom_pipeline cannot have memory_write"):
        await registry.register_agent(ada, AgentType.CUSTOM_PIPELINE, capabilities=more)


async def test_agents_of_another_person_or_tenant_are_unknown(agents: Agents) -> None:
    registry = agents.wired.registry
    agent = await registry.register_agent(await agents.request(), AgentType.HUMAN)
    for other in (await agents.request("ben"), await agents.request(tenant="other")):
        assert await registry.get_agent(other, agent.id) is None
        assert await registry.agents_of(other) == ()
        assert not await registry.unregister_agent(other, agent.id)
        with pytest.raises(NotFound):
            await registry.own(other, agent.id)
        with pytest.raises(NotFound):
            await registry.start_session(other, agent.id)


async def test_the_limit_of_agents_is_reached_and_left_again(agents: Agents) -> None:
    small = agents.limited(agents=2)
    registry, ada = small.wired.registry, await agents.request()
    first = await registry.register_agent(ada, AgentType.HUMAN)
    await registry.register_agent(await agents.request("ben"), AgentType.HUMAN)
    with pytest.raises(RegistryCapacityError, match=r"2 agents .*Unregister"):
        await registry.register_agent(ada, AgentType.HUMAN)
    assert await registry.unregister_agent(ada, first.id)
    await registry.register_agent(ada, AgentType.HUMAN)
