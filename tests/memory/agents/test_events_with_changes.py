"""A change of agents and pools is stored with its event, in one transaction, or not at all."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from db import Statement
from db.errors import StoreUnavailable
from memory.agents.model import Agent, AgentType, Handoff, Permission, Pool, SharedScope
from memory.model.scope import RequestScope
from tests.memory.agents.conftest import Agents

TEAM = SharedScope.TEAM
STATE = tuple(
    Statement(f"SELECT * FROM {table} ORDER BY {order}")
    for table, order in (
        *(("agents", "id"), ("pools", "id"), ("pool_members", "seq")),
        *(("pool_memories", "seq"), ("agent_handoffs", "id"), ("memories", "seq")),
    )
)
AWAY = Statement("ALTER TABLE agent_events RENAME TO agent_events_away")
BACK = Statement("ALTER TABLE agent_events_away RENAME TO agent_events")


@dataclass
class Stage:
    """Two agents of ada in her pool, one shared memory and one that is not, a pending handoff."""

    agents: Agents
    request: RequestScope
    writer: Agent
    other: Agent
    pool: Pool
    shared: str
    own: str
    handoff: Handoff

    async def state(self) -> list[object]:
        return [await self.agents.engine.fetch(one) for one in STATE]

    async def kinds(self) -> list[str]:
        page = await self.agents.wired.events.after(self.request)
        return [one.kind.value for one in page.events]


@pytest.fixture
async def stage(agents: Agents) -> Stage:
    request = await agents.request()
    writer, other = await agents.agent("ada"), await agents.agent("ada")
    pool = await agents.pool("ada", writer)
    shared, own = [await agents.remember("ada", f"The {word} is green") for word in ("mug", "jar")]
    assert await agents.wired.pools.share_memory(request, pool.id, shared, writer.id, TEAM)
    handoff = await agents.wired.handoffs.initiate_handoff(
        request, other.id, writer.id, {"task_description": "Write the form"}
    )
    assert handoff is not None
    return Stage(agents, request, writer, other, pool, shared, own, handoff)


async def _register(stage: Stage) -> object:
    registry = stage.agents.wired.registry
    return await registry.register_agent(stage.request, AgentType.HUMAN)


async def _update(stage: Stage) -> object:
    stage.agents.rig.verifier.known.add("ADR-003")
    return await stage.agents.wired.pools.update_shared(
        *(stage.request, stage.pool.id, stage.shared, stage.writer.id, 1),
        "Per ADR-003, the mug is blue",
    )


Change = Callable[[Stage], Awaitable[object]]
CHANGES: dict[str, tuple[Change, list[str]]] = {
    "register": (_register, ["agent.registered"]),
    "unregister": (
        lambda s: s.agents.wired.registry.unregister_agent(s.request, s.writer.id),
        ["agent.unregistered", "handoff.expired"],
    ),
    "create a pool": (
        lambda s: s.agents.wired.pools.create_pool(s.request, "more", TEAM),
        ["pool.created"],
    ),
    "delete a pool": (
        lambda s: s.agents.wired.pools.delete_pool(s.request, s.pool.id),
        ["pool.deleted"],
    ),
    "join": (
        lambda s: s.agents.wired.pools.join_pool(s.request, s.pool.id, s.other.id, Permission.READ),
        ["pool.joined"],
    ),
    "change a permission": (
        lambda s: s.agents.wired.pools.join_pool(
            s.request, s.pool.id, s.writer.id, Permission.READ
        ),
        ["pool.joined"],
    ),
    "leave": (
        lambda s: s.agents.wired.pools.leave_pool(s.request, s.pool.id, s.writer.id),
        ["pool.left"],
    ),
    "share": (
        lambda s: s.agents.wired.pools.share_memory(s.request, s.pool.id, s.own, s.writer.id, TEAM),
        ["pool.shared"],
    ),
    "share at another scope": (
        lambda s: s.agents.wired.pools.share_memory(
            s.request, s.pool.id, s.shared, s.writer.id, SharedScope.USER
        ),
        ["pool.shared"],
    ),
    "stop sharing": (
        lambda s: s.agents.wired.pools.unshare(s.request, s.pool.id, s.shared),
        ["pool.unshared"],
    ),
    "update": (_update, ["pool.updated"]),
    "take back": (
        lambda s: s.agents.wired.origins.take_back(s.request, s.writer.id),
        ["pool.unshared"],
    ),
    "accept a handoff": (
        lambda s: s.agents.wired.handoffs.accept_handoff(s.request, s.handoff.id, s.writer.id),
        ["handoff.accepted"],
    ),
}


@pytest.mark.parametrize("name", CHANGES)
async def test_a_change_whose_event_is_not_stored_does_not_happen(stage: Stage, name: str) -> None:
    change, events = CHANGES[name]
    engine, before, known = stage.agents.engine, await stage.state(), await stage.kinds()
    await engine.change(AWAY)
    with pytest.raises(StoreUnavailable):
        await change(stage)
    await engine.change(BACK)
    changed = await stage.state()
    if name == "update":  # the new text is stored by the write path, before the pool shows it
        assert len(changed.pop()) == len(before.pop()) + 1  # type: ignore[arg-type] # rows
    assert changed == before
    assert await stage.kinds() == known
    if name != "update":
        assert await change(stage)
        assert await stage.state() != before
        assert (await stage.kinds())[len(known) :] == events


async def test_an_update_and_its_event_are_stored_together(stage: Stage) -> None:
    known = await stage.kinds()
    assert await _update(stage)
    assert (await stage.kinds())[len(known) :] == ["pool.updated"]


async def test_what_changes_nothing_has_no_event(stage: Stage) -> None:
    pools, known = stage.agents.wired.pools, await stage.kinds()
    nobody = await stage.agents.request("bob")
    assert not await pools.leave_pool(stage.request, stage.pool.id, stage.other.id)
    assert not await pools.unshare(nobody, stage.pool.id, stage.shared)
    assert not await pools.delete_pool(nobody, stage.pool.id)
    assert not await stage.agents.wired.registry.unregister_agent(nobody, stage.writer.id)
    assert await stage.kinds() == known
