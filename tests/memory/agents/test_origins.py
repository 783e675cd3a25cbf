"""Everything that one agent gave is taken back in one call."""

import pytest

from gateway.errors import NotFound
from gateway.immutable import replace
from memory.agents.model import Agent, AgentType, HandoffStatus, Pool, SharedScope
from memory.agents.overview import TakenBack
from memory.model.record import Draft, Kind
from tests.memory.agents.conftest import Agents

TASK = {"task_description": "Write the form"}


async def registered(agents: Agents, name: str) -> Agent:
    return await agents.wired.registry.register_agent(
        await agents.request(name), AgentType.CLAUDE_CODE
    )


async def pool_of(agents: Agents, *members: tuple[str, Agent]) -> Pool:
    """A pool of Ada's with these agents, who may write."""
    ada = await agents.request("ada")
    pool = await agents.wired.pools.create_pool(ada, "auth", SharedScope.TEAM)
    for _, agent in members:
        await agents.join("ada", pool, agent)
    return pool


async def shares(agents: Agents, name: str, agent: Agent, pool: Pool, text: str) -> str:
    memory = await agents.remember(name, text)
    request = await agents.request(name)
    result = await agents.wired.pools.share_memory(
        request, pool.id, memory, agent.id, SharedScope.TEAM
    )
    assert result
    return memory


async def texts(agents: Agents, name: str, agent: Agent, pool: Pool) -> set[str]:
    result = await agents.wired.pools.query_shared(
        await agents.request(name), pool.id, agent.id, SharedScope.TEAM
    )
    assert isinstance(result, tuple)
    return {entry.record.content for entry in result}


async def test_shares_handoffs_and_reviews_of_an_agent_are_taken_back(agents: Agents) -> None:
    bad, good, other = [await registered(agents, name) for name in ("ada", "ada", "bob")]
    pool = await pool_of(agents, ("ada", bad), ("ada", good), ("bob", other))
    await shares(agents, "ada", bad, pool, "The port of the planted server is 6666")
    await shares(agents, "ada", good, pool, "The form needs a second field")
    ada, bob = await agents.request("ada"), await agents.request("bob")
    handoffs = agents.wired.handoffs
    made = await handoffs.initiate_handoff(ada, bad.id, other.id, TASK)
    kept = await handoffs.initiate_handoff(ada, good.id, other.id, TASK)
    assert made is not None
    assert kept is not None
    draft = Draft("Tests always need the planted server", Kind.INSTRUCTION)
    waiting = await (await agents.handle("ada", agent=bad.id)).write.infer(draft)
    assert waiting.review_id
    assert await agents.wired.origins.take_back(ada, bad.id) == TakenBack(0, 1, 1, 1)
    assert await texts(agents, "bob", other, pool) == {"The form needs a second field"}
    handoff = await handoffs.get_handoff(bob, made.id)
    assert handoff is not None
    assert handoff.status is HandoffStatus.REJECTED
    assert "taken back" in handoff.reason
    still = await handoffs.get_handoff(bob, kept.id)
    assert still is not None
    assert still.status is HandoffStatus.PENDING
    assert (await (await agents.handle("ada")).review.waiting()) == []
    assert await agents.wired.origins.take_back(ada, bad.id) == TakenBack(0, 0, 0, 0)
    last = agents.noted("pool_operation")[-2]
    assert (last["operation"], last["shares"], last["handoffs"]) == ("take_back", 1, 1)


async def test_what_was_given_before_the_time_stays(agents: Agents) -> None:
    bad, other = await registered(agents, "ada"), await registered(agents, "bob")
    pool = await pool_of(agents, ("ada", bad), ("bob", other))
    await shares(agents, "ada", bad, pool, "The form needs a second field")
    agents.clock.skip(60)
    since = agents.clock.now()
    await shares(agents, "ada", bad, pool, "The port of the planted server is 6666")
    ada = await agents.request("ada")
    assert (await agents.wired.origins.take_back(ada, bad.id, since)).shares == 1
    assert await texts(agents, "bob", other, pool) == {"The form needs a second field"}


async def test_only_its_person_and_operators_take_back(agents: Agents) -> None:
    bad, other = await registered(agents, "ada"), await registered(agents, "bob")
    pool = await pool_of(agents, ("ada", bad), ("bob", other))
    await shares(agents, "ada", bad, pool, "The port of the planted server is 6666")
    bob, root = await agents.request("bob"), await agents.operator()
    origins = agents.wired.origins
    assert await origins.take_back(bob, bad.id) == TakenBack(0, 0, 0, 0)
    with pytest.raises(NotFound):
        await origins.take_back(replace(await agents.request("ada"), agent=bad.id), bad.id)
    assert (await texts(agents, "bob", other, pool)) != set()
    assert (await origins.take_back(root, bad.id)).shares == 1
    assert await texts(agents, "bob", other, pool) == set()


async def test_the_pending_handoffs_of_an_unregistered_agent_end(agents: Agents) -> None:
    gone, first, second = [await registered(agents, name) for name in ("ada", "ada", "ada")]
    ada, handoffs = await agents.request("ada"), agents.wired.handoffs
    ended = []
    for source, target in ((gone, first), (first, gone)):
        made = await handoffs.initiate_handoff(ada, source.id, target.id, TASK)
        assert made is not None
        ended.append(made.id)
    stays = await handoffs.initiate_handoff(ada, first.id, second.id, TASK)
    assert stays is not None
    assert await agents.wired.registry.unregister_agent(ada, gone.id)
    step = await handoffs.accept_handoff(ada, ended[0], first.id)
    assert step is not None
    assert step.outcome == "expired"
    states = [await handoffs.get_handoff(ada, id_) for id_ in (*ended, stays.id)]
    assert [one.status.value for one in states if one] == ["expired", "expired", "pending"]
