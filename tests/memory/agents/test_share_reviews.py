"""A share that changes the behaviour of others waits for an operator."""

import pytest

from gateway.errors import NotFound
from gateway.people import Role
from memory.agents.model import Agent, Pool, SharedScope, ShareWaits
from memory.model.outcome import Outcome
from memory.model.record import Kind
from memory.service.handle import MemoryHandle
from memory.stores.reviews import ReviewItem
from tests.memory.agents.conftest import Agents

TEXT = "Always write the tests first"


async def operator(agents: Agents) -> MemoryHandle:
    return await agents.handle("root", role=Role.OPERATOR)


async def proposed(agents: Agents) -> tuple[Agent, Agent, Pool, str]:
    """Ada's agent would share an instruction with Bob's; the agents, the pool, the memory."""
    own, reader = await agents.agent("ada"), await agents.agent("bob")
    pool = await agents.pool("ada", own, reader)
    memory = await agents.remember("ada", TEXT, Kind.INSTRUCTION)
    shared = await agents.wired.pools.share_memory(
        await agents.request("ada"), pool.id, memory, own.id, SharedScope.TEAM
    )
    assert isinstance(shared, ShareWaits)
    return own, reader, pool, memory


async def waiting(agents: Agents) -> list[ReviewItem]:
    return await (await operator(agents)).review.waiting()


async def test_it_is_read_by_nobody_until_an_operator_approves(agents: Agents) -> None:
    own, reader, pool, _ = await proposed(agents)
    assert await agents.entries("bob", pool, reader) == []
    assert await (await agents.handle("ada")).review.waiting() == []
    assert await (await agents.handle("bob")).review.waiting() == []
    (item,) = await waiting(agents)
    assert item.record.content == TEXT
    assert item.record.provenance.agent == own.id
    assert "telegram:main:ada" in item.reason.english
    result = await (await operator(agents)).review.approve(item.id)
    assert (result.outcome, result.code) == (Outcome.STORED, "shared")
    (entry,) = await agents.entries("bob", pool, reader)
    assert (entry.record.content, entry.shared.agent) == (TEXT, own.id)
    with pytest.raises(NotFound):
        await (await operator(agents)).review.approve(item.id)


async def test_a_rejected_share_is_gone_and_the_memory_stays(agents: Agents) -> None:
    _, reader, pool, memory = await proposed(agents)
    (item,) = await waiting(agents)
    await (await operator(agents)).review.reject(item.id, "Not for others")
    assert await waiting(agents) == []
    assert await agents.entries("bob", pool, reader) == []
    assert await (await agents.handle("ada")).read.get(memory) is not None


async def test_a_take_back_removes_the_waiting_share_and_the_approved_one(agents: Agents) -> None:
    own, reader, pool, _ = await proposed(agents)
    (item,) = await waiting(agents)
    await (await operator(agents)).review.approve(item.id)
    other = await agents.remember("ada", "Never deploy on Fridays", Kind.INSTRUCTION)
    ada = await agents.request("ada")
    again = await agents.wired.pools.share_memory(ada, pool.id, other, own.id, SharedScope.TEAM)
    assert isinstance(again, ShareWaits)
    taken = await agents.wired.origins.take_back(ada, own.id)
    assert (taken.shares, taken.reviews) == (1, 1)
    assert await waiting(agents) == []
    assert await agents.entries("bob", pool, reader) == []


async def test_the_deletion_of_the_memory_takes_the_proposal_with_it(agents: Agents) -> None:
    _, _, _, memory = await proposed(agents)
    (item,) = await waiting(agents)
    await (await agents.handle("ada")).erasure.delete([memory])
    assert await waiting(agents) == []
    with pytest.raises(NotFound):
        await (await operator(agents)).review.approve(item.id)


async def test_an_agent_that_left_the_pool_shares_nothing_by_an_approval(agents: Agents) -> None:
    own, reader, pool, _ = await proposed(agents)
    (item,) = await waiting(agents)
    await agents.wired.pools.leave_pool(await agents.request("ada"), pool.id, own.id)
    with pytest.raises(NotFound, match="can no longer be shared"):
        await (await operator(agents)).review.approve(item.id)
    assert await agents.entries("bob", pool, reader) == []
    assert [one.id for one in await waiting(agents)] == [item.id]


async def test_an_operator_and_the_scope_user_need_no_decision(agents: Agents) -> None:
    own = await agents.agent("ada")
    pool = await agents.pool("ada", own)
    memory = await agents.remember("ada", TEXT, Kind.INSTRUCTION)
    shared = await agents.wired.pools.share_memory(
        await agents.request("ada"), pool.id, memory, own.id, SharedScope.USER
    )
    assert not isinstance(shared, ShareWaits)
    assert await waiting(agents) == []


async def test_an_agent_without_write_permission_proposes_nothing(agents: Agents) -> None:
    own, other = await agents.agent("ada"), await agents.agent("bob")
    pool = await agents.pool("ada", own)
    memory = await agents.remember("bob", TEXT, Kind.INSTRUCTION)
    shared = await agents.wired.pools.share_memory(
        await agents.request("bob"), pool.id, memory, other.id, SharedScope.TEAM
    )
    assert shared is False
    assert await waiting(agents) == []
