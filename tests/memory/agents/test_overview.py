"""The lists of agents and pools: own ones with names and texts, everybody's as numbers."""

import pytest

from gateway.errors import BadInput, NotFound
from gateway.immutable import replace
from memory.agents.model import AgentActivity, Permission, SharedScope
from memory.model.record import Draft, Kind
from tests.memory.agents.conftest import Agents

TASK = {"task_description": "Write the form"}


async def wrote(agents: Agents, name: str, agent: str, text: str) -> str:
    """An agent wrote a memory, and its person approved it; its id."""
    handle = await agents.handle(name, agent=agent)
    waiting = await handle.write.infer(Draft(text, Kind.FACT))
    assert waiting.review_id, waiting
    result = await (await agents.handle(name)).review.approve(waiting.review_id)
    assert result.memory_id
    return result.memory_id


async def test_a_person_sees_what_each_own_agent_gave(agents: Agents) -> None:
    ada = await agents.request("ada")
    first = await agents.agent("ada")
    agents.clock.skip(1)
    second, other = await agents.agent("ada"), await agents.agent("bob")
    pool = await agents.pool("ada", first, other)
    memory = await wrote(agents, "ada", first.id, "The form has two fields")
    assert await agents.wired.pools.share_memory(ada, pool.id, memory, first.id, SharedScope.TEAM)
    handle = await agents.handle("ada", agent=first.id)
    await handle.write.infer(Draft("The form has a date field", Kind.FACT))
    assert await agents.wired.handoffs.initiate_handoff(ada, first.id, second.id, TASK)
    assert await agents.wired.handoffs.initiate_handoff(
        await agents.request("bob"), other.id, first.id, TASK
    )
    overview = agents.wired.overview
    listed = await overview.agents(ada)
    assert [(one.id, one.activity) for one in listed] == [
        (first.id, AgentActivity(memories=1, waiting=1, shares=1, handoffs=1)),
        (second.id, AgentActivity()),
    ]
    page = await overview.page(ada, listed[0])
    assert [record.content for record in page.written] == ["The form has two fields"]
    (membership,) = page.memberships
    assert (membership.pool, membership.permission, membership.shares) == (
        pool.id,
        Permission.WRITE,
        1,
    )
    (counted,) = await overview.own_pools(ada)
    assert (counted.pool.id, counted.members, counted.memories) == (pool.id, 2, 1)


async def test_an_unregistered_agent_is_listed_while_its_memories_are_there(
    agents: Agents,
) -> None:
    ada, gone = await agents.request("ada"), await agents.agent("ada")
    await wrote(agents, "ada", gone.id, "The form has two fields")
    await agents.wired.registry.unregister_agent(ada, gone.id)
    (listed,) = await agents.wired.overview.agents(ada)
    assert (listed.id, listed.agent, listed.activity) == (gone.id, None, AgentActivity(memories=1))
    assert await agents.wired.overview.agents(await agents.request("bob")) == ()
    assert (await agents.wired.origins.take_back(ada, gone.id)).memories == 1
    assert await agents.wired.overview.agents(ada) == ()


async def test_an_id_needs_four_characters_and_an_owner(agents: Agents) -> None:
    ada, bob = await agents.request("ada"), await agents.request("bob")
    own, overview = await agents.agent("ada"), agents.wired.overview
    assert (await overview.named(ada, own.id[:4])).id == own.id
    assert (await overview.named(ada, own.id.upper())).id == own.id
    for text in (own.id[:3], "", own.id[:31] + "x"):
        with pytest.raises(NotFound):
            await overview.named(ada, text)
    for step in (overview.named, overview.to_take_back):
        with pytest.raises(NotFound):
            await step(bob, own.id)


async def test_several_agents_with_the_same_beginning_need_more_of_the_id(agents: Agents) -> None:
    ids = iter(("abcd1" + "0" * 27, "abcd2" + "0" * 27))
    registry = replace(agents.wired.registry, make_id=lambda: next(ids))
    ada = await agents.request("ada")
    for _ in range(2):
        await registry.register_agent(ada, (await agents.agent("bob")).type)
    with pytest.raises(BadInput, match="Several ids begin"):
        await agents.wired.overview.named(ada, "abcd")
    assert (await agents.wired.overview.named(ada, "abcd2")).id.startswith("abcd2")


async def test_operators_see_numbers_of_everybody_and_no_names(agents: Agents) -> None:
    ada, root = await agents.request("ada"), await agents.operator()
    registry = agents.wired.registry
    named = await registry.register_agent(
        ada, (await agents.agent("bob")).type, name="Ada's secret project"
    )
    await agents.pool("ada", named)
    await wrote(agents, "ada", named.id, "The form has two fields")
    listed = {one.id: one for one in await agents.wired.overview.all_agents(root)}
    assert listed[named.id].activity == AgentActivity(memories=1)
    shown = listed[named.id].agent
    assert shown is not None
    assert (shown.name, shown.owner) == ("", named.owner)
    (pool,) = await agents.wired.overview.all_pools(root)
    assert (pool.pool.name, pool.members) == ("", 1)
    elsewhere = replace(root, principal=replace(root.principal, tenant="another"))
    assert await agents.wired.overview.all_agents(elsewhere) == ()
    assert await agents.wired.overview.all_pools(elsewhere) == ()


async def test_only_operators_list_everybody_and_no_agent_lists_at_all(agents: Agents) -> None:
    ada, agent = await agents.request("ada"), await agents.agent("ada")
    overview = agents.wired.overview
    for step in (overview.all_agents, overview.all_pools):
        with pytest.raises(NotFound, match="operators"):
            await step(ada)
    acting = replace(ada, agent=agent.id)
    for own in (overview.agents, overview.own_pools):
        with pytest.raises(NotFound, match="Only a person"):
            await own(acting)
    acting = replace(await agents.operator(), agent=agent.id)
    for step in (overview.all_agents, overview.all_pools):
        with pytest.raises(NotFound, match="Only a person"):
            await step(acting)


async def test_an_operator_takes_back_what_the_agent_of_another_person_shared(
    agents: Agents,
) -> None:
    ada, root = await agents.request("ada"), await agents.operator()
    bad, reader = await agents.agent("ada"), await agents.agent("bob")
    pool = await agents.pool("ada", bad, reader)
    memory = await wrote(agents, "ada", bad.id, "The planted port is 6666")
    await agents.wired.pools.share_memory(ada, pool.id, memory, bad.id, SharedScope.TEAM)
    result = await agents.wired.overview.to_take_back(root, bad.id)
    assert (result.agent, result.activity.shares) == (None, 1)
    await agents.wired.origins.take_back(root, result.id)
    assert await agents.entries("bob", pool, reader) == []
    (still,) = await agents.wired.overview.agents(ada)
    assert still.activity == AgentActivity(memories=1)
