"""Agents belong to a person, and everything they do stays within that person's reach."""

import asyncio

import pytest

from gateway.errors import BadInput, NotFound
from gateway.immutable import replace
from memory.agents.model import (
    DEFAULT_CAPABILITIES,
    Agent,
    AgentLimits,
    AgentSession,
    AgentType,
    Capability,
    RegistryCapacityError,
    SharedScope,
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


async def test_a_session_ends_after_thirty_minutes_without_use(agents: Agents) -> None:
    registry, ada = agents.wired.registry, await agents.request()
    agent = await registry.register_agent(ada, AgentType.HUMAN)
    session = await registry.start_session(ada, agent.id)
    for _ in range(3):
        await agents.clock.advance(20 * 60)
        assert (await registry.use_session(ada, session.id)).agent == agent.id
    with pytest.raises(NotFound):
        await registry.use_session(await agents.request("ben"), session.id)
    await agents.clock.advance(30 * 60)
    with pytest.raises(NotFound, match="has ended"):
        await registry.use_session(ada, session.id)
    assert await registry.prune() == 1
    await agents.clock.advance(24 * 3600)
    assert await registry.prune() == 1
    assert await registry.prune() == 0


async def test_the_limit_of_sessions_is_reached_and_left_again(agents: Agents) -> None:
    registry, ada = agents.limited(sessions=2).wired.registry, await agents.request()
    agent = await registry.register_agent(ada, AgentType.HUMAN)
    first = await registry.start_session(ada, agent.id)
    await registry.start_session(ada, agent.id)
    with pytest.raises(RegistryCapacityError, match="2 open sessions"):
        await registry.start_session(ada, agent.id)
    assert not await registry.end_session(await agents.request("ben"), first.id)
    assert await registry.end_session(ada, first.id)
    assert not await registry.end_session(ada, first.id)
    await registry.start_session(ada, agent.id)
    await agents.clock.advance(31 * 60)
    await registry.start_session(ada, agent.id)


async def test_one_person_does_not_use_up_what_is_for_all(agents: Agents) -> None:
    small = agents.limited(agents_per_person=2, sessions_per_person=1, pools_per_person=1)
    registry, pools = small.wired.registry, small.wired.pools
    for name in ("ada", "ben"):
        request = await agents.request(name)
        first, _ = [await registry.register_agent(request, AgentType.HUMAN) for _ in range(2)]
        with pytest.raises(RegistryCapacityError, match=r"You have 2 agents .*agents_per_person"):
            await registry.register_agent(request, AgentType.HUMAN)
        session = await registry.start_session(request, first.id)
        with pytest.raises(RegistryCapacityError, match="You have 1 open sessions"):
            await registry.start_session(request, first.id)
        assert await registry.end_session(request, session.id)
        await registry.start_session(request, first.id)
        pool = await pools.create_pool(request, "first", SharedScope.USER)
        with pytest.raises(RegistryCapacityError, match="You have 1 pools"):
            await pools.create_pool(request, "second", SharedScope.USER)
        assert await pools.delete_pool(request, pool.id)
        await pools.create_pool(request, "second", SharedScope.USER)
        assert await registry.unregister_agent(request, first.id)
        await registry.register_agent(request, AgentType.HUMAN)


async def test_every_use_of_an_agent_is_in_the_audit(agents: Agents) -> None:
    registry, ada = agents.limited(agents=1, sessions=1).wired.registry, await agents.request()
    with pytest.raises(BadInput, match="name: at most 100 characters, not 101"):
        await registry.register_agent(ada, AgentType.HUMAN, name="x" * 101)
    agent = await registry.register_agent(ada, AgentType.HUMAN, name="x" * 100)
    session = await registry.start_session(ada, agent.id)
    for attempt in (
        registry.register_agent(ada, AgentType.HUMAN),
        registry.start_session(ada, agent.id),
    ):
        with pytest.raises(RegistryCapacityError):
            await attempt
    assert await registry.end_session(ada, session.id)
    assert not await registry.end_session(ada, session.id)
    assert await registry.unregister_agent(ada, agent.id)
    assert not await registry.unregister_agent(ada, agent.id)
    assert [one["operation"] for one in agents.noted("agent_auth")] == [
        *("register", "session", "session_end", "unregister"),
    ]
    assert agents.noted("permission_denied") == [
        {"operation": "register", "reason": "full"},
        {"operation": "session", "reason": "full"},
    ]


@pytest.mark.both_engines
async def test_limits_hold_for_writers_at_once(agents: Agents) -> None:
    registry, ada = agents.limited(agents=5, sessions=3).wired.registry, await agents.request()
    made = await asyncio.gather(
        *(registry.register_agent(ada, AgentType.HUMAN) for _ in range(15)), return_exceptions=True
    )
    kept = [one for one in made if isinstance(one, Agent)]
    assert len(kept) == len(await registry.agents_of(ada)) == 5
    begun = await asyncio.gather(
        *(registry.start_session(ada, kept[0].id) for _ in range(15)), return_exceptions=True
    )
    assert sum(isinstance(one, AgentSession) for one in begun) == 3


async def test_an_agent_acts_as_itself_only(agents: Agents) -> None:
    registry, ada = agents.wired.registry, await agents.request()
    first = await registry.register_agent(ada, AgentType.HUMAN)
    second = await registry.register_agent(ada, AgentType.HUMAN)
    acting = await registry.acting(ada, first.id)
    assert acting.agent == first.id
    with pytest.raises(NotFound):
        await registry.own(acting, second.id)
    assert not await registry.unregister_agent(acting, second.id)
    session = await registry.start_session(ada, second.id)
    with pytest.raises(NotFound, match="has ended"):
        await registry.use_session(acting, session.id)
    assert agents.noted("permission_denied")[-1] == {"operation": "agent", "agent": first.id}
    assert not await registry.end_session(acting, session.id)
    assert (await registry.use_session(ada, session.id)).agent == second.id


async def test_agents_of_a_common_pool_are_known_without_their_person(agents: Agents) -> None:
    registry = agents.wired.registry
    ada = await registry.register_agent(await agents.request(), AgentType.HUMAN, name="hers")
    ben = await agents.agent("ben")
    await agents.pool("ada", ada, ben)
    known = await registry.get_agent(await agents.request("ben"), ada.id)
    assert known == replace(ada, owner="", name="")
    eve = await agents.agent("eve")
    assert await registry.get_agent(await agents.request("ben"), eve.id) is None
    dan = await agents.agent("dan")
    await agents.pool("dan", eve, dan)
    assert await registry.get_agent(await agents.request("ben"), eve.id) is None, "others' pool"
    assert await registry.get_agent(await agents.request("dan"), eve.id) is not None
    elsewhere = await agents.request("dan", tenant="other")
    assert await registry.get_agent(elsewhere, eve.id) is None
    assert await registry.get_agent(await agents.request("dan"), ada.id) is None, (
        "in no pool of dan"
    )


async def test_the_sessions_of_an_agent_end_with_it(agents: Agents) -> None:
    registry, ada = agents.wired.registry, await agents.request()
    agent = await registry.register_agent(ada, AgentType.HUMAN)
    session = await registry.start_session(ada, agent.id)
    assert await registry.unregister_agent(ada, agent.id)
    with pytest.raises(NotFound, match="has ended"):
        await registry.use_session(ada, session.id)
