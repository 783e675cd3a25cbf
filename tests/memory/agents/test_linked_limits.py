"""The limits of one person are the same for all their linked accounts together."""

import pytest

from gateway.message import Place
from gateway.people import Audience
from memory.agents.model import (
    AgentType,
    Permission,
    RegistryCapacityError,
    SharedScope,
)
from memory.model.scope import RequestScope
from tests.memory.agents.conftest import API, Agents

HUMAN, TEAM, READ = AgentType.HUMAN, SharedScope.TEAM, Permission.READ
SLACK = Place("slack", "main", "", Audience.DIRECT)


async def accounts(agents: Agents) -> tuple[RequestScope, RequestScope]:
    """The requests of one person from two accounts, which they linked."""
    rig = agents.rig
    first, second = rig.caller("ada", at=API), rig.caller("ada", at=SLACK)
    await rig.link(first, second)
    handles = [await rig.memory.for_principal(caller) for caller in (first, second)]
    return handles[0].request, handles[1].request


async def test_agents_and_sessions_count_for_all_accounts(agents: Agents) -> None:
    first, second = await accounts(agents)
    registry = agents.limited(agents_per_person=2, sessions_per_person=2).wired.registry
    mine = [await registry.register_agent(one, HUMAN) for one in (first, second)]
    for one in (first, second):
        with pytest.raises(RegistryCapacityError, match="You have 2 agents already"):
            await registry.register_agent(one, HUMAN)
    for agent in mine:
        await registry.start_session(first, agent.id)
    with pytest.raises(RegistryCapacityError, match="You have 2 open sessions already"):
        await registry.start_session(second, mine[1].id)
    other = await agents.request("ben")
    await registry.register_agent(other, HUMAN)


async def test_pools_and_memberships_count_for_all_accounts(agents: Agents) -> None:
    first, second = await accounts(agents)
    limited = agents.limited(
        pools_per_person=2, memberships_per_person=3, pool_members_per_person=2
    )
    pools, registry = limited.wired.pools, limited.wired.registry
    own = [await pools.create_pool(one, "ours", TEAM) for one in (first, second)]
    with pytest.raises(RegistryCapacityError, match="You have 2 pools already"):
        await pools.create_pool(second, "ours", TEAM)
    mine = [await registry.register_agent(one, HUMAN) for one in (first, second, second)]
    for agent in mine[:2]:
        assert await pools.join_pool(first, own[0].id, agent.id, READ) is True
    with pytest.raises(RegistryCapacityError, match="You have 2 agents in this pool already"):
        await pools.join_pool(first, own[0].id, mine[2].id, READ)
    assert await pools.join_pool(first, own[1].id, mine[0].id, READ) is True
    with pytest.raises(RegistryCapacityError, match="You have 3 memberships in pools already"):
        await pools.join_pool(second, own[1].id, mine[2].id, READ)


async def test_invitations_count_for_all_accounts_of_both_sides(agents: Agents) -> None:
    first, second = await accounts(agents)
    limited = agents.limited(invitations_to_person_from_one=2, invitations_per_inviter=3)
    pools, registry = limited.wired.pools, limited.wired.registry
    ben, eve, dan = [await agents.agent(name) for name in ("ben", "eve", "dan")]
    for one in (first, second):
        pool = await pools.create_pool(one, "ours", TEAM)
        await pools.join_pool(one, pool.id, ben.id, READ)
    pool = await pools.create_pool(second, "ours", TEAM)
    with pytest.raises(RegistryCapacityError, match="2 times"):
        await pools.join_pool(second, pool.id, ben.id, READ)
    await pools.join_pool(second, pool.id, eve.id, READ)
    with pytest.raises(RegistryCapacityError, match="3 invitations into your pools"):
        await pools.join_pool(first, pool.id, dan.id, READ)

    theirs = await agents.request("ben")
    mine = [await registry.register_agent(one, HUMAN) for one in (first, second)]
    asked = [await pools.create_pool(theirs, "theirs", TEAM) for _ in range(3)]
    await pools.join_pool(theirs, asked[0].id, mine[0].id, READ)
    await pools.join_pool(theirs, asked[1].id, mine[1].id, READ)
    with pytest.raises(RegistryCapacityError, match="2 times"):
        await pools.join_pool(theirs, asked[2].id, mine[1].id, READ)


async def test_handoffs_count_for_all_accounts(agents: Agents) -> None:
    first, second = await accounts(agents)
    limited = agents.limited(handoffs_per_person=1)
    registry, handoffs = limited.wired.registry, limited.wired.handoffs
    mine = [await registry.register_agent(one, HUMAN) for one in (first, second)]
    task = {"task_description": "Write the form"}
    assert await handoffs.initiate_handoff(first, mine[0].id, mine[1].id, task)
    with pytest.raises(RegistryCapacityError, match="handoffs"):
        await handoffs.initiate_handoff(second, mine[1].id, mine[0].id, task)
