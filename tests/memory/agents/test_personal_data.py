"""The agents, pools and shares of a person are exported and erased with the person."""

from memory.agents.model import SharedMemory, SharedScope
from memory.model.record import Draft, Kind, Scope
from memory.ports.memories import Filter
from memory.transfer.exporter import personal_file
from memory.transfer.importer import LineOutcome, bring_in
from tests.memory.agents.conftest import Agents

TEAM = SharedScope.TEAM
TABLES = {"agents", "agent_sessions", "pools", "pool_members", "pool_memories"}


async def test_everything_of_agents_is_exported_and_erased_with_their_person(
    agents: Agents,
) -> None:
    ada, ben = await agents.agent("ada"), await agents.agent("ben")
    hers, his = await agents.pool("ada", ada, ben), await agents.pool("ben", ada, ben)
    pools, registry = agents.wired.pools, agents.wired.registry
    for name, agent in (("ada", ada), ("ben", ben)):
        request = await agents.request(name)
        assert (await registry.start_session(request, agent.id)).agent == agent.id
        memory = await agents.remember(name, f"The cupboard of {name} is green")
        for pool in (hers, his):
            shared = await pools.share_memory(request, pool.id, memory, agent.id, TEAM)
            assert isinstance(shared, SharedMemory)
    handle = await agents.handle()
    rows = [row for row in await handle.privacy.export_all() if row["table"] in TABLES]
    counts = {name: sum(row["table"] == name for row in rows) for name in TABLES}
    assert counts == {
        "agents": 1,
        "agent_sessions": 1,
        "pools": 1,
        "pool_members": 2,
        "pool_memories": 2,
    }
    assert all(":ben" not in str(row) for row in rows)
    await handle.erasure.erase_all()
    assert [
        r for r in await (await agents.handle()).privacy.export_all() if r["table"] in TABLES
    ] == []
    assert await registry.agents_of(await agents.request()) == ()
    (entry,) = await agents.entries("ben", his, ben)
    assert "ben" in entry.record.content
    assert await pools.pools_of(await agents.request("ben")) == (his,)
    while await pools.prune():
        pass
    assert len(await agents.entries("ben", his, ben)) == 1


async def test_a_shared_project_memory_of_an_erased_person_leaves_the_pool(
    agents: Agents,
) -> None:
    root, ben = await agents.agent("root"), await agents.agent("ben")
    pool = await agents.pool("ben", root, ben)
    operator = await agents.operator()
    handle = await agents.handle("root", role=operator.principal.role)
    memory = await agents.remember(
        "root", "The demo is on Friday", scope=Scope.GLOBAL, role=operator.principal.role
    )
    shared = await agents.wired.pools.share_memory(operator, pool.id, memory, root.id, TEAM)
    assert isinstance(shared, SharedMemory)
    assert len(await agents.entries("ben", pool, ben)) == 1
    await handle.erasure.erase_all()
    assert await agents.entries("ben", pool, ben) == []


async def test_what_an_agent_keeps_for_itself_stays_so_through_an_export_and_an_import(
    agents: Agents,
) -> None:
    keeper, sibling = await agents.agent("ada"), await agents.agent("ada")
    by_keeper = await agents.handle(agent=keeper.id)
    draft = Draft("The cupboard is called Rosa", Kind.FACT, agent_private=True)
    waits = await by_keeper.write.remember(draft)
    person = await agents.handle()
    kept = (await person.review.approve(waits.review_id)).memory_id
    file, _ = await personal_file(person)
    assert await person.erasure.delete([kept]) == [kept]
    outcomes = [one.outcome async for one in bring_in(person, file) if one.id == kept]
    assert outcomes == [LineOutcome.STORED]
    record = await by_keeper.read.get(kept)
    assert record is not None
    assert (record.agent_private, record.provenance.agent) == (True, keeper.id)
    assert await (await agents.handle(agent=sibling.id)).read.get(kept) is None
    assert await person.read.search(Filter()) == []
