"""Each change of agents and pools is an event, which wakes those who wait for it."""

import asyncio

import pytest

from gateway.errors import BadInput, NotFound
from memory.agents.model import AgentType, Permission, SharedScope
from memory.agents.stores.events import KEEP, MAX_PAGE
from tests.memory.agents.conftest import Agents
from tests.support.patience import PATIENCE


async def kinds(agents: Agents, name: str) -> list[str]:
    page = await agents.wired.events.after(await agents.request(name))
    return [one.kind.value for one in page.events]


async def test_registering_and_sharing_are_events_for_those_who_take_part(agents: Agents) -> None:
    ada, bob = await agents.request("ada"), await agents.request("bob")
    forge = await agents.wired.registry.register_agent(ada, AgentType.CLAUDE_CODE)
    other = await agents.wired.registry.register_agent(bob, AgentType.GPT_AGENT)
    pools = agents.wired.pools
    pool = await pools.create_pool(ada, "auth", SharedScope.TEAM)
    for request, agent in ((ada, forge), (bob, other)):
        permission = Permission.WRITE if request is ada else Permission.READ
        assert await pools.join_pool(request, pool.id, agent.id, permission)
    memory = await agents.remember("ada", "The form needs a second field")
    await pools.share_memory(ada, pool.id, memory, forge.id, SharedScope.TEAM)
    shared = ["pool.created", "pool.joined", "pool.joined", "pool.shared"]
    assert await kinds(agents, "ada") == ["agent.registered", *shared]
    assert await kinds(agents, "bob") == ["agent.registered", *shared]
    assert await kinds(agents, "eve") == []
    await pools.leave_pool(bob, pool.id, other.id)
    assert await kinds(agents, "bob") == ["agent.registered", "pool.joined", "pool.left"]
    last = (await agents.wired.events.after(ada)).events[-2]
    assert (last.pool, last.memory) == (pool.id, memory)


async def test_a_refused_operation_is_no_event(agents: Agents) -> None:
    ada = await agents.request("ada")
    with pytest.raises(BadInput):
        await agents.wired.pools.create_pool(ada, "", SharedScope.TEAM)
    with pytest.raises(NotFound):
        await agents.wired.registry.start_session(ada, "0" * 32)
    assert await kinds(agents, "ada") == []


async def test_an_event_of_this_process_ends_a_wait(agents: Agents) -> None:
    events, ada = agents.wired.events, await agents.request("ada")
    added = events.added
    waiting = asyncio.create_task(events.wait(added, asyncio.sleep(PATIENCE)))
    await asyncio.sleep(0)
    assert not waiting.done()
    await agents.wired.registry.register_agent(ada, AgentType.CLAUDE_CODE)
    async with asyncio.timeout(PATIENCE / 2):
        await waiting
        await events.wait(added, asyncio.sleep(PATIENCE))
    assert await kinds(agents, "ada") == ["agent.registered"]


async def test_a_wait_without_events_ends_with_its_timer(agents: Agents) -> None:
    events = agents.wired.events
    waiting = asyncio.create_task(events.wait(events.added, agents.clock.sleep(2)))
    await agents.clock.advance(1)
    assert not waiting.done()
    await agents.clock.advance(1)
    await waiting


async def test_the_arguments_of_a_page_are_checked(agents: Agents) -> None:
    ada = await agents.request("ada")
    with pytest.raises(BadInput, match="after"):
        await agents.wired.events.after(ada, -1)
    for limit in (0, MAX_PAGE + 1):
        with pytest.raises(BadInput, match="limit"):
            await agents.wired.events.after(ada, 0, limit)


async def test_events_are_kept_for_a_week(agents: Agents) -> None:
    ada = await agents.request("ada")
    await agents.wired.registry.register_agent(ada, AgentType.CLAUDE_CODE)
    agents.clock.skip(KEEP.total_seconds())
    assert await agents.wired.events.prune() == 0
    agents.clock.skip(1)
    assert await agents.wired.events.prune() == 1
    assert await kinds(agents, "ada") == []
