"""Each limit is reached and left again at its real size. Bulk inserts fill the tables."""

from collections.abc import Mapping

import pytest

from db import Statement, Work, execute
from memory.agents.model import (
    AgentLimits,
    AgentType,
    Permission,
    RegistryCapacityError,
    SharedMemory,
    SharedScope,
)
from tests.memory.agents.conftest import Agents

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(600)]
LIMITS = AgentLimits()
TEAM = SharedScope.TEAM
AT_ONCE = 5_000
AGENT = Statement("""
    INSERT INTO agents (id, tenant, person, type, capabilities, registered_at, name)
    VALUES (:id, 'default', 'test:main:p', 'human', '[]', 0, '')
""")
SESSION = Statement("""
    INSERT INTO agent_sessions (id, tenant, person, agent, started_at, at)
    VALUES (:id, 'default', 'test:main:p', 'agent', 0, :at)
""")
POOL = Statement("""
    INSERT INTO pools (id, tenant, person, name, scope, project, created_at)
    VALUES (:id, 'default', 'test:main:p', 'full', 3, '', 0)
""")
MEMBER = Statement("""
    INSERT INTO pool_members (pool, agent, tenant, person, permission, granted, joined_at)
    VALUES (:pool, :id, 'default', 'test:main:p', 'read', true, 0)
""")
SHARE = Statement("""
    INSERT INTO pool_memories (pool, memory, number, tenant, person, agent, member, writer, scope,
        project, audiences, shared_at, version)
    SELECT :pool, :id, 0, 'default', person, agent, seq, seq, 3, '', 'x', 0, 1
    FROM pool_members WHERE pool = :pool AND agent = :agent
""")


async def put(agents: Agents, statement: Statement, count: int, **values: object) -> None:
    """Insert so many rows, with ids of their own."""
    for begin in range(0, count, AT_ONCE):
        rows: list[Mapping[str, object]] = [
            {**values, "id": f"row-{number}"}
            for number in range(begin, min(count, begin + AT_ONCE))
        ]

        def work(rows: list[Mapping[str, object]] = rows) -> Work[None]:
            yield from execute(statement, *rows)

        await agents.engine.run(work)


async def test_the_limit_of_agents(agents: Agents) -> None:
    registry, ada = agents.wired.registry, await agents.request()
    await put(agents, AGENT, LIMITS.agents - 1)
    last = await registry.register_agent(ada, AgentType.HUMAN)
    with pytest.raises(RegistryCapacityError, match="10,000 agents"):
        await registry.register_agent(ada, AgentType.HUMAN)
    assert await registry.unregister_agent(ada, last.id)
    await registry.register_agent(ada, AgentType.HUMAN)


async def test_the_limit_of_sessions(agents: Agents) -> None:
    registry, ada = agents.wired.registry, await agents.request()
    agent = await registry.register_agent(ada, AgentType.HUMAN)
    at = int(agents.clock.now().timestamp() * 1_000_000)
    await put(agents, SESSION, LIMITS.sessions - 1, at=at)
    last = await registry.start_session(ada, agent.id)
    with pytest.raises(RegistryCapacityError, match="50,000 open sessions"):
        await registry.start_session(ada, agent.id)
    assert await registry.end_session(ada, last.id)
    await registry.start_session(ada, agent.id)


async def test_the_limit_of_pools(agents: Agents) -> None:
    pools, ada = agents.wired.pools, await agents.request()
    await put(agents, POOL, LIMITS.pools - 1)
    last = await pools.create_pool(ada, "last", TEAM)
    with pytest.raises(RegistryCapacityError, match="10,000 pools"):
        await pools.create_pool(ada, "more", TEAM)
    assert await pools.delete_pool(ada, last.id)
    await pools.create_pool(ada, "again", TEAM)


async def test_the_limits_of_members_and_of_shared_memories(agents: Agents) -> None:
    pools, ada = agents.wired.pools, await agents.request()
    sharer, other = await agents.agent("ada"), await agents.agent("ada")
    pool = await agents.pool("ada", sharer)
    await put(agents, MEMBER, LIMITS.pool_members - 1, pool=pool.id)
    with pytest.raises(RegistryCapacityError, match="1,000 members"):
        await pools.join_pool(ada, pool.id, other.id, Permission.WRITE)
    await put(agents, SHARE, LIMITS.pool_memories - 1, pool=pool.id, agent=sharer.id)
    first, second = [
        await agents.remember("ada", f"The {word} is green") for word in ("mug", "jar")
    ]
    assert isinstance(await pools.share_memory(ada, pool.id, first, sharer.id, TEAM), SharedMemory)
    with pytest.raises(RegistryCapacityError, match="100,000 shared"):
        await pools.share_memory(ada, pool.id, second, sharer.id, TEAM)
    assert await pools.unshare(ada, pool.id, first)
    shared = await pools.share_memory(ada, pool.id, second, sharer.id, TEAM)
    assert isinstance(shared, SharedMemory)
    assert shared.members == LIMITS.pool_members
