"""Each limit is reached and left again at its real size. Bulk inserts fill the tables."""

from collections.abc import Awaitable, Mapping
from datetime import timedelta

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
from memory.agents.stores.handoffs import ADD, _params
from parley.config.memory import AgentsSection
from tests.memory.agents.conftest import Agents
from tests.memory.agents.making import another_task, handoff

pytestmark = pytest.mark.timeout(600)
full = pytest.mark.nightly
LIMITS = AgentLimits()
SPECIFIED = {
    "agents": 10_000,
    "sessions": 50_000,
    "pools": 10_000,
    "pool_members": 1_000,
    "pool_memories": 100_000,
    "query_results": 100,
    "handoffs": 50_000,
    "pending_per_target": 100,
    "handoff_seconds": 3_600,
}
"""The capacities of Memory as a Service."""
OF_ONE_PERSON = {
    "agents_per_person": 100,
    "sessions_per_person": 500,
    "pools_per_person": 50,
    "handoffs_per_person": 1_000,
    "memberships_per_person": 100,
    "pool_members_per_person": 20,
}
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
    await put_rows(
        agents, statement, [{**values, "id": f"row-{number}"} for number in range(count)]
    )


async def put_rows(
    agents: Agents, statement: Statement, all_rows: list[Mapping[str, object]]
) -> None:
    for begin in range(0, len(all_rows), AT_ONCE):
        rows = all_rows[begin : begin + AT_ONCE]

        def work(rows: list[Mapping[str, object]] = rows) -> Work[None]:
            yield from execute(statement, *rows)

        await agents.engine.run(work)


async def refused(attempt: Awaitable[object], sentence: str) -> None:
    """The attempt exceeds a limit, and the caller reads this."""
    with pytest.raises(RegistryCapacityError) as raised:
        await attempt
    assert type(raised.value) is RegistryCapacityError
    assert str(raised.value) == sentence


def test_every_limit_is_a_default_of_the_configuration() -> None:
    defaults = AgentsSection().model_dump()
    limits = LIMITS.model_dump()
    expected = SPECIFIED | OF_ONE_PERSON
    assert {name: defaults[name] for name in expected} == expected
    assert {name: limits[name] for name in expected} == expected
    assert limits["pending_from_person"] == 20


@full
async def test_the_limit_of_agents(agents: Agents) -> None:
    registry, ada = agents.wired.registry, await agents.request()
    await put(agents, AGENT, LIMITS.agents - 1)
    last = await registry.register_agent(ada, AgentType.HUMAN)
    await refused(
        registry.register_agent(ada, AgentType.HUMAN),
        "There are 10,000 agents already, the maximum of this installation. Unregister one first."
        " An operator can raise `agents.agents`.",
    )
    assert await registry.unregister_agent(ada, last.id)
    await registry.register_agent(ada, AgentType.HUMAN)


@full
async def test_the_limits_of_one_person(agents: Agents) -> None:
    registry, pools, ada = agents.wired.registry, agents.wired.pools, await agents.request()
    agent = await registry.register_agent(ada, AgentType.HUMAN)
    at, person = int(agents.clock.now().timestamp() * 1_000_000), agent.owner
    for statement, count in (
        (AGENT, LIMITS.agents_per_person - 1),
        (POOL, LIMITS.pools_per_person),
        (SESSION, LIMITS.sessions_per_person),
    ):
        await put(agents, statement, count, at=at)
        table = str(statement.sqlite.split()[2])
        await agents.engine.change(
            Statement(f"UPDATE {table} SET person = :person"), {"person": person}
        )
    for attempt, what in (
        (registry.register_agent(ada, AgentType.HUMAN), "100 agents"),
        (pools.create_pool(ada, "more", TEAM), "50 pools"),
        (registry.start_session(ada, agent.id), "500 open sessions"),
    ):
        with pytest.raises(RegistryCapacityError, match=f"You have {what} already"):
            await attempt
    ben = await agents.request("ben")
    other = await registry.register_agent(ben, AgentType.HUMAN)
    await registry.start_session(ben, other.id)
    await pools.create_pool(ben, "more", TEAM)


@full
async def test_the_limit_of_sessions(agents: Agents) -> None:
    registry, ada = agents.wired.registry, await agents.request()
    agent = await registry.register_agent(ada, AgentType.HUMAN)
    at = int(agents.clock.now().timestamp() * 1_000_000)
    await put(agents, SESSION, LIMITS.sessions - 1, at=at)
    last = await registry.start_session(ada, agent.id)
    await refused(
        registry.start_session(ada, agent.id),
        "There are 50,000 open sessions already, the maximum of this installation. End one first."
        " An operator can raise `agents.sessions`.",
    )
    assert await registry.end_session(ada, last.id)
    await registry.start_session(ada, agent.id)


@full
async def test_the_limit_of_pools(agents: Agents) -> None:
    pools, ada = agents.wired.pools, await agents.request()
    await put(agents, POOL, LIMITS.pools - 1)
    last = await pools.create_pool(ada, "last", TEAM)
    await refused(
        pools.create_pool(ada, "more", TEAM),
        "There are 10,000 pools already, the maximum of this installation. Delete one first."
        " An operator can raise `agents.pools`.",
    )
    assert await pools.delete_pool(ada, last.id)
    await pools.create_pool(ada, "again", TEAM)


@full
async def test_the_limits_of_members_and_of_shared_memories(agents: Agents) -> None:
    pools, ada = agents.wired.pools, await agents.request()
    sharer, other = await agents.agent("ada"), await agents.agent("ada")
    pool = await agents.pool("ada", sharer)
    await put(agents, MEMBER, LIMITS.pool_members - 1, pool=pool.id)
    await refused(
        pools.join_pool(ada, pool.id, other.id, Permission.WRITE),
        "There are 1,000 members in this pool already, the maximum of this installation. Remove one"
        " first. An operator can raise `agents.pool_members`.",
    )
    await put(agents, SHARE, LIMITS.pool_memories - 1, pool=pool.id, agent=sharer.id)
    first, second = [
        await agents.remember("ada", f"The {word} is green") for word in ("mug", "jar")
    ]
    assert isinstance(await pools.share_memory(ada, pool.id, first, sharer.id, TEAM), SharedMemory)
    await refused(
        pools.share_memory(ada, pool.id, second, sharer.id, TEAM),
        "There are 100,000 shared memories in this pool already, the maximum of this installation."
        " Stop sharing one first. An operator can raise `agents.pool_memories`.",
    )
    assert await pools.unshare(ada, pool.id, first)
    shared = await pools.share_memory(ada, pool.id, second, sharer.id, TEAM)
    assert isinstance(shared, SharedMemory)
    assert shared.members == LIMITS.pool_members


async def test_a_handoff_expires_after_an_hour(agents: Agents) -> None:
    ada, source, target = (
        await agents.request(),
        await agents.agent("ada"),
        await agents.agent("ada"),
    )
    manager = agents.wired.handoffs
    made = await manager.initiate_handoff(ada, source.id, target.id, another_task())
    assert made is not None
    assert (made.ttl_seconds, made.until - made.created_at) == (3_600, timedelta(hours=1))
    agents.clock.skip(3_599)
    assert len(await manager.get_pending_handoffs(ada, target.id) or ()) == 1
    agents.clock.skip(1)
    assert await manager.get_pending_handoffs(ada, target.id) == ()
    late = await manager.accept_handoff(ada, made.id, target.id)
    assert late is not None
    assert late.outcome == "expired"


async def test_a_hundred_handoffs_wait_for_one_target(agents: Agents) -> None:
    ada, source, target = (
        await agents.request(),
        await agents.agent("ada"),
        await agents.agent("ada"),
    )
    manager = agents.wired.handoffs
    for _ in range(100):
        assert await manager.initiate_handoff(ada, source.id, target.id, another_task())
    await refused(
        manager.initiate_handoff(ada, source.id, target.id, another_task()),
        "target: 100 handoffs wait for this receiver, the maximum. Try again when some are"
        " accepted, rejected or expired.",
    )
    waiting = await manager.get_pending_handoffs(ada, target.id) or ()
    assert len(waiting) == 100
    assert await manager.accept_handoff(ada, waiting[0].id, target.id)
    assert await manager.initiate_handoff(ada, source.id, target.id, another_task())


@full
async def test_the_limit_of_handoffs(agents: Agents) -> None:
    ada, source, target = (
        await agents.request(),
        await agents.agent("ada"),
        await agents.agent("ada"),
    )
    manager, now = agents.wired.handoffs, agents.clock.now()
    some = handoff(source, "telegram:main:bob", created_at=now)
    row = _params(some)
    rows: list[Mapping[str, object]] = [
        {**row, "id": f"row-{number}", "source_owner": f"test:main:{number % 20}"}
        for number in range(LIMITS.handoffs - 1)
    ]
    await put_rows(agents, ADD, rows)
    last = await manager.initiate_handoff(ada, source.id, target.id, another_task())
    assert last is not None
    await refused(
        manager.initiate_handoff(ada, source.id, target.id, another_task()),
        "There are 50,000 handoffs, the maximum. Ended ones are deleted after 7 days.",
    )
    assert await manager.reject_handoff(ada, last.id, target.id)
    assert await manager.cleanup_terminal_handoffs() == 1
    assert await manager.initiate_handoff(ada, source.id, target.id, another_task())
