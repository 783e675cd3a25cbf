"""Of two updates of one shared memory one wins; the other one gets both texts."""

import asyncio
from dataclasses import dataclass

import pytest

from db import Statement
from gateway.errors import BadInput, NotFound
from memory.agents.model import (
    Agent,
    Permission,
    Pool,
    SharedMemory,
    SharedScope,
    SharedUpdate,
    UpdateOutcome,
)
from memory.model.record import Kind, SourceType, Trust
from memory.ports.memories import Filter
from tests.memory.agents.conftest import Agents
from tests.memory.isolation.base import CITED

TEAM = SharedScope.TEAM
OLD, NEW, OTHER = (
    "The login fails at noon",
    f"Per {CITED} tokens expire",
    f"Per {CITED} hosts differ",
)


@dataclass
class Scene:
    """Ada shared a memory with Ben's agent."""

    agents: Agents
    ada: Agent
    ben: Agent
    pool: Pool
    memory: str

    async def update(self, name: str, text: str, version: int = 1) -> SharedUpdate:
        agent = self.ada if name == "ada" else self.ben
        request = await self.agents.request(name)
        updated = await self.agents.wired.pools.update_shared(
            request, self.pool.id, self.memory, agent.id, version, text
        )
        assert isinstance(updated, SharedUpdate)
        return updated

    async def shown(self) -> tuple[str, int]:
        (entry,) = await self.agents.entries("ben", self.pool, self.ben)
        return entry.record.content, entry.shared.version


@pytest.fixture
async def scene(agents: Agents) -> Scene:
    agents.rig.verifier.known.add(CITED)
    ada, ben = await agents.agent("ada"), await agents.agent("ben")
    pool = await agents.pool("ada", ada, ben)
    memory = await agents.remember("ada", OLD)
    shared = await agents.wired.pools.share_memory(
        await agents.request(), pool.id, memory, ada.id, TEAM
    )
    assert isinstance(shared, SharedMemory)
    return Scene(agents, ada, ben, pool, memory)


async def test_an_update_of_the_present_version_makes_the_next_one(scene: Scene) -> None:
    updated = await scene.update("ada", NEW)
    assert (updated.outcome, updated.version, updated.text) == (UpdateOutcome.UPDATED, 2, NEW)
    assert await scene.shown() == (NEW, 2)
    later = f"Per {CITED} tokens expire at noon"
    assert (await scene.update("ada", later, 2)).outcome is UpdateOutcome.UPDATED
    assert await scene.shown() == (later, 3)
    handle = await scene.agents.handle()
    own, reply = [match.record for match in await handle.read.search(Filter())]
    assert reply.content == OLD, "the person's own sentence stays"
    assert own.content == later
    assert (own.provenance.agent, own.provenance.trust) == (scene.ada.id, Trust.LOW)
    assert own.provenance.source is SourceType.AI_INFERENCE


async def test_the_update_of_another_person_leaves_the_owner_s_memory_as_it_is(
    scene: Scene,
) -> None:
    assert (await scene.update("ben", NEW)).outcome is UpdateOutcome.UPDATED
    assert await scene.shown() == (NEW, 2)
    ada, ben = await scene.agents.handle(), await scene.agents.handle("ben")
    assert [m.record.content for m in await ada.read.search(Filter())] == [OLD]
    assert [m.record.content for m in await ben.read.search(Filter())] == [NEW]


@pytest.mark.parametrize("names", [("ada", "ben"), ("ben", "ben"), ("ada", "ada")])
@pytest.mark.both_engines
async def test_the_loser_of_two_updates_gets_both_texts(
    scene: Scene, names: tuple[str, str]
) -> None:
    first, second = names
    one, other = await asyncio.gather(scene.update(first, NEW), scene.update(second, OTHER))
    (won,) = [made for made in (one, other) if made.outcome is UpdateOutcome.UPDATED]
    (lost,) = [made for made in (one, other) if made.outcome is UpdateOutcome.CONFLICT]
    assert (won.version, lost.version) == (2, 2)
    assert {lost.text, lost.own_text} == {NEW, OTHER}
    assert lost.text == won.text
    assert await scene.shown() == (won.text, 2)
    results = []
    for name in ("ada", "ben"):
        handle = await scene.agents.handle(name)
        results += [m.record.content for m in await handle.read.search(Filter())]
    assert lost.own_text not in results, "what lost is not kept"


async def test_an_update_of_an_earlier_version_is_a_conflict(scene: Scene) -> None:
    await scene.update("ben", NEW)
    late = await scene.update("ada", OTHER)
    assert (late.outcome, late.version) == (UpdateOutcome.CONFLICT, 2)
    assert (late.text, late.own_text) == (NEW, OTHER)
    assert "Merge" in late.reason.english
    assert (await scene.update("ada", OTHER, 2)).version == 3
    noted = [one["operation"] for one in scene.agents.noted("pool_operation")]
    assert noted[-3:] == ["update", "update_conflict", "update"]


@pytest.mark.both_engines
async def test_fifteen_updates_at_once_make_one_version(scene: Scene) -> None:
    texts = [f"Per {CITED} host{number} node{number} fails" for number in range(15)]
    made = await asyncio.gather(*(scene.update("ben", text) for text in texts))
    won = [one for one in made if one.outcome is UpdateOutcome.UPDATED]
    assert len(won) == 1
    assert await scene.shown() == (won[0].text, 2)


async def test_an_update_without_a_source_waits_and_is_applied_after_its_approval(
    scene: Scene,
) -> None:
    text = "The server is called Rosa"
    waits = await scene.update("ben", text)
    assert (waits.outcome, waits.text) == (UpdateOutcome.REVIEW, OLD)
    assert await scene.shown() == (OLD, 1)
    handle = await scene.agents.handle("ben")
    await handle.review.approve(waits.review_id)
    assert (await scene.update("ben", text)).outcome is UpdateOutcome.UPDATED
    assert await scene.shown() == (text, 2)


async def test_a_text_that_waits_leaves_the_pool_as_it_is_until_it_is_applied(scene: Scene) -> None:
    await scene.update("ada", NEW)
    text = "The tokens expire at noon"
    waits = await scene.update("ada", text, 2)
    assert (waits.outcome, await scene.shown()) == (UpdateOutcome.REVIEW, (NEW, 2))
    handle = await scene.agents.handle()
    await handle.review.approve(waits.review_id)
    assert await scene.shown() == (NEW, 2), "the update of one's own agent"
    assert (await scene.update("ada", text, 2)).outcome is UpdateOutcome.UPDATED
    assert await scene.shown() == (text, 3)


async def test_an_update_needs_write_permission_and_a_shared_memory(scene: Scene) -> None:
    agents, pools = scene.agents, scene.agents.wired.pools
    eve = await agents.agent("eve")
    request = await agents.request("eve")
    question = (scene.pool.id, scene.memory, eve.id, 1, NEW)
    assert await pools.update_shared(request, *question) is False
    assert await pools.join_pool(request, scene.pool.id, eve.id, Permission.READ)
    assert await pools.update_shared(request, *question) is False
    with pytest.raises(NotFound):
        await pools.update_shared(
            await agents.request(), scene.pool.id, "mem-none", scene.ada.id, 1, NEW
        )
    assert await scene.shown() == (OLD, 1)


async def test_what_changes_behaviour_is_not_updated_for_others(agents: Agents) -> None:
    agents.rig.verifier.known.add(CITED)
    root, ben = await agents.agent("root"), await agents.agent("ben")
    pool = await agents.pool("root", root, ben)
    memory = await agents.remember("root", "Answer in French", Kind.INSTRUCTION)
    pools = agents.wired.pools
    assert await pools.share_memory(await agents.operator(), pool.id, memory, root.id, TEAM)
    with pytest.raises(BadInput, match="changes how"):
        await pools.update_shared(
            await agents.request("ben"), pool.id, memory, ben.id, 1, f"Per {CITED} obey"
        )


async def test_the_deletion_of_either_memory_ends_the_share(scene: Scene) -> None:
    await scene.update("ben", NEW)
    handle = await scene.agents.handle()
    assert await handle.erasure.delete([scene.memory]) == [scene.memory]
    assert await scene.agents.entries("ben", scene.pool, scene.ben) == []


async def test_the_deletion_of_the_text_that_took_its_place_ends_the_share(scene: Scene) -> None:
    await scene.update("ben", NEW)
    handle = await scene.agents.handle("ben")
    (new,) = await handle.read.search(Filter())
    assert await handle.erasure.delete([new.record.id]) == [new.record.id]
    assert await scene.agents.entries("ben", scene.pool, scene.ben) == []
    assert await scene.agents.engine.fetch(Statement("SELECT memory FROM pool_memories")) == []


async def test_the_text_of_an_agent_that_left_is_no_longer_shown(scene: Scene) -> None:
    await scene.update("ben", NEW)
    pools, owner = scene.agents.wired.pools, await scene.agents.request()
    assert await pools.leave_pool(owner, scene.pool.id, scene.ben.id)
    assert await scene.agents.entries("ada", scene.pool, scene.ada) == []
    shared = await pools.share_memory(owner, scene.pool.id, scene.memory, scene.ada.id, TEAM)
    assert isinstance(shared, SharedMemory)
    assert shared.version == 1


async def test_only_what_an_agent_reads_in_this_pool_is_updated(scene: Scene) -> None:
    agents, pools = scene.agents, scene.agents.wired.pools
    owner, by_ben = await agents.request(), await agents.request("ben")
    other = await agents.pool("ada", scene.ada, scene.ben)
    with pytest.raises(NotFound):
        await pools.update_shared(by_ben, other.id, scene.memory, scene.ben.id, 1, NEW)
    shared = await pools.share_memory(
        owner, scene.pool.id, scene.memory, scene.ada.id, SharedScope.USER
    )
    assert isinstance(shared, SharedMemory)
    with pytest.raises(NotFound):
        await scene.update("ben", NEW)
    assert (await scene.update("ada", NEW)).version == 2


async def test_a_memory_with_another_text_in_the_pool_is_not_shared_again(scene: Scene) -> None:
    await scene.update("ben", NEW)
    share = scene.agents.wired.pools.share_memory
    owner = await scene.agents.request()
    assert await share(owner, scene.pool.id, scene.memory, scene.ada.id, TEAM) is False
    assert await scene.shown() == (NEW, 2)


async def test_a_share_ends_with_the_agent_that_shared_it_whoever_wrote_its_text(
    scene: Scene,
) -> None:
    await scene.update("ben", NEW)
    pools, owner = scene.agents.wired.pools, await scene.agents.request()
    assert await pools.leave_pool(owner, scene.pool.id, scene.ada.id)
    assert await scene.agents.entries("ben", scene.pool, scene.ben) == []
    eve = await scene.agents.agent("eve")
    await scene.agents.join("ada", scene.pool, eve, Permission.READ)
    reader = await scene.agents.handle("eve", agent=eve.id)
    assert await reader.read.search(Filter()) == []


async def test_what_one_agent_wrote_can_be_taken_back(scene: Scene) -> None:
    await scene.update("ada", NEW)
    registry, owner = scene.agents.wired.registry, await scene.agents.request()
    assert await registry.take_back(await scene.agents.request("ben"), scene.ada.id) == 0
    assert await registry.unregister_agent(owner, scene.ada.id)
    assert await registry.take_back(owner, scene.ada.id) == 1
    assert await scene.agents.entries("ben", scene.pool, scene.ben) == []
    handle = await scene.agents.handle()
    assert [m.record.content for m in await handle.read.search(Filter())] == [OLD]
