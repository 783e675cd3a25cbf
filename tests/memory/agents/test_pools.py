"""Agents share memories in pools, and read only what is shared with them."""

import asyncio
import threading

import psycopg
import pytest

from db import Statement
from db.sqlite import SqliteDatabase
from gateway.errors import BadInput, NotFound
from gateway.immutable import replace
from gateway.people import Role
from memory.agents.model import (
    Agent,
    AgentType,
    Capability,
    Permission,
    Pool,
    RegistryCapacityError,
    SharedMemory,
    SharedScope,
)
from memory.model.record import Draft, Kind, Scope
from memory.ports.memories import Filter
from memory.ports.recall import Query
from memory.recall import selection
from safety.secret_detection.detect import Redaction, redact_secrets
from tests.memory.agents.conftest import Agents
from tests.support.patience import PATIENCE
from tests.support.waiting import eventually

TEAM, USER, GLOBAL = SharedScope.TEAM, SharedScope.USER, SharedScope.GLOBAL
PROJECT, PRIVATE = SharedScope.PROJECT, SharedScope.AGENT_PRIVATE
READ, WRITE = Permission.READ, Permission.WRITE


async def texts(
    agents: Agents, name: str, pool: Pool, agent: Agent, widest: SharedScope = GLOBAL
) -> list[str]:
    """The texts that an agent reads in a pool."""
    request = await agents.request(name)
    found = await agents.wired.pools.query_shared(request, pool.id, agent.id, widest)
    assert isinstance(found, tuple)
    return [entry.record.content for entry in found]


async def test_a_shared_memory_is_read_by_the_members_of_the_pool(agents: Agents) -> None:
    ada, ben = await agents.agent("ada"), await agents.agent("ben")
    pool = await agents.pool("ada", ada, ben)
    memory = await agents.remember("ada", "The login bug is in auth.py")
    shared = await agents.wired.pools.share_memory(
        await agents.request(), pool.id, memory, ada.id, TEAM
    )
    assert isinstance(shared, SharedMemory)
    assert (shared.pool, shared.members, shared.version) == (pool.id, 2, 1)
    assert await texts(agents, "ben", pool, ben) == ["The login bug is in auth.py"]
    (entry,) = await agents.entries("ben", pool, ben)
    assert entry.record.provenance.person == entry.record.provenance.message_id == ""
    assert agents.noted("cross_agent_read")[0]["results"] == 1
    eve = await agents.agent("eve")
    asked = await agents.wired.pools.query_shared(
        await agents.request("eve"), pool.id, eve.id, GLOBAL
    )
    assert asked is False
    assert agents.noted("permission_denied")[-1]["operation"] == "query"


async def test_an_agent_finds_shared_memories_in_its_searches_and_its_person_does_not(
    agents: Agents,
) -> None:
    ada, ben = await agents.agent("ada"), await agents.agent("ben")
    pool = await agents.pool("ada", ada, ben)
    memory = await agents.remember("ada", "The login bug is in auth.py")
    await agents.wired.pools.share_memory(await agents.request(), pool.id, memory, ada.id, TEAM)
    by_agent = await agents.handle("ben", agent=ben.id)
    by_person = await agents.handle("ben")
    assert await agents.rig.stores.memories.get(by_agent.access, memory) is not None
    assert await agents.rig.stores.memories.get(by_person.access, memory) is None
    for filters in (Filter(), Filter(text="login bug"), Filter(text="log", unfinished=True)):
        (found,) = await by_agent.read.search(filters)
        assert found.record.id == memory
        assert not found.record.provenance.person
        assert await by_person.read.search(filters) == []
    query = Query("Where is the login bug?", agents.clock.now())
    (recalled,) = (await by_agent.read.recall(query)).results
    assert recalled.record.id == memory
    assert (await by_person.read.recall(query)).results == ()
    reads = [entry for entry in agents.noted("cross_agent_read") if entry["agent"] == ben.id]
    assert len(reads) == 4


async def test_a_query_has_100_results_unless_it_says_how_many(agents: Agents) -> None:
    ada = await agents.agent("ada")
    pool = await agents.pool("ada", ada)
    pools, request = agents.limited(query_results=2).wired.pools, await agents.request()
    for word in ("cellar", "attic", "roof"):
        memory = await agents.remember("ada", f"The {word} is called Rosa")
        assert await pools.share_memory(request, pool.id, memory, ada.id, TEAM)
    found = await pools.query_shared(request, pool.id, ada.id, TEAM)
    assert [entry.record.content for entry in found or ()] == [
        "The roof is called Rosa",
        "The attic is called Rosa",
    ]
    assert len(await pools.query_shared(request, pool.id, ada.id, TEAM, 3) or ()) == 3
    for wrong in (0, 1_001):
        with pytest.raises(BadInput, match=f"^max_results: 1 to 1,000, not {wrong}$"):
            await pools.query_shared(request, pool.id, ada.id, TEAM, wrong)


async def test_long_results_are_searched_for_secrets_in_a_thread(
    agents: Agents, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = await agents.agent("ada")
    pool, request = await agents.pool("ada", ada), await agents.request()
    on_loop = []
    here = threading.get_ident()

    def noted(text: str) -> Redaction:
        if threading.get_ident() == here:
            on_loop.append(len(text))
        return redact_secrets(text)

    for number in range(15):
        text = f"Rack {number} has " + " ".join(f"slot{number}x{place}" for place in range(90))
        memory = await agents.remember("ada", text)
        await agents.wired.pools.share_memory(request, pool.id, memory, ada.id, TEAM)
    monkeypatch.setattr(selection, "redact_secrets", noted)
    selection._remembered.cache_clear()
    assert len(await texts(agents, "ada", pool, ada)) == 15
    assert sum(on_loop) <= selection.AT_ONCE


async def test_leaving_unsharing_and_deleting_take_effect_at_the_next_query(
    agents: Agents,
) -> None:
    ada, ben = await agents.agent("ada"), await agents.agent("ben")
    pool = await agents.pool("ada", ada, ben)
    pools, owner = agents.wired.pools, await agents.request()

    async def shared(text: str) -> str:
        memory = await agents.remember("ada", text)
        assert await pools.share_memory(owner, pool.id, memory, ada.id, TEAM)
        return memory

    first, second = await shared("The first cellar"), await shared("The second attic")
    await shared("The third roof")
    assert len(await texts(agents, "ben", pool, ben)) == 3
    assert await pools.unshare(owner, pool.id, first)
    assert await (await agents.handle()).erasure.delete([second]) == [second]
    assert await texts(agents, "ben", pool, ben) == ["The third roof"]
    assert await pools.leave_pool(owner, pool.id, ada.id)
    assert await texts(agents, "ben", pool, ben) == []
    assert await pools.join_pool(owner, pool.id, ada.id, WRITE)
    assert await texts(agents, "ben", pool, ben) == [], "what it shared before stays out"
    assert await pools.prune() == 1
    assert await pools.leave_pool(await agents.request("ben"), pool.id, ben.id)
    asked = await pools.query_shared(await agents.request("ben"), pool.id, ben.id, GLOBAL)
    assert asked is False


async def test_a_query_returns_shares_of_its_scope_or_narrower(agents: Agents) -> None:
    ada, ben = await agents.agent("ada"), await agents.agent("ben")
    pool = await agents.pool("ada", ada, ben)
    owner = await agents.request()
    for text, scope in (("For the team", TEAM), ("For Ada", USER), ("For this agent", PRIVATE)):
        memory = await agents.remember("ada", text)
        assert await agents.wired.pools.share_memory(owner, pool.id, memory, ada.id, scope)
    assert await texts(agents, "ben", pool, ben) == ["For the team"]
    assert await texts(agents, "ada", pool, ada) == ["For this agent", "For Ada", "For the team"]
    assert await texts(agents, "ada", pool, ada, USER) == ["For this agent", "For Ada"]
    assert await texts(agents, "ada", pool, ada, PRIVATE) == ["For this agent"]


async def test_only_the_owner_of_a_memory_shares_it(agents: Agents) -> None:
    ada, ben = await agents.agent("ada"), await agents.agent("ben")
    pool = await agents.pool("ada", ada, ben)
    memory = await agents.remember("ada", "The login bug is in auth.py")
    with pytest.raises(NotFound):
        await agents.wired.pools.share_memory(
            await agents.request("ben"), pool.id, memory, ben.id, TEAM
        )
    shared = agents.wired.pools.share_memory(await agents.request(), pool.id, memory, ada.id, TEAM)
    assert await shared
    with pytest.raises(NotFound, match="of yours"):
        await agents.wired.pools.share_memory(
            await agents.request("ben"), pool.id, memory, ben.id, TEAM
        )


async def test_a_memory_of_everybody_is_shared_by_operators_only(agents: Agents) -> None:
    root, ben = await agents.agent("root"), await agents.agent("ben")
    pool = await agents.pool("ben", root, ben)
    memory = await agents.remember(
        "root", "The demo is on Friday", scope=Scope.GLOBAL, role=Role.OPERATOR
    )
    pools, request = agents.wired.pools, await agents.request("ben")
    with pytest.raises(NotFound):
        await pools.share_memory(request, pool.id, memory, ben.id, TEAM)
    assert await pools.share_memory(await agents.operator(), pool.id, memory, root.id, TEAM)


async def test_a_missing_permission_and_a_missing_capability_are_told_apart(
    agents: Agents,
) -> None:
    ada, ben = await agents.agent("ada"), await agents.agent("ben")
    pipeline = await agents.agent("ben", AgentType.CUSTOM_PIPELINE)
    pools, request = agents.wired.pools, await agents.request("ben")
    pool = await agents.pool("ada", ada)
    memory = await agents.remember("ben", "The tests are slow")
    assert await pools.join_pool(request, pool.id, ben.id, WRITE) is False
    assert await pools.join_pool(request, pool.id, ben.id, READ) is True
    assert await pools.share_memory(request, pool.id, memory, ben.id, TEAM) is False
    assert await pools.join_pool(request, pool.id, pipeline.id, READ) is True
    assert await pools.share_memory(request, pool.id, memory, pipeline.id, TEAM) is None
    blind = await agents.wired.registry.register_agent(
        request, AgentType.GPT_AGENT, capabilities=[Capability.KB_SEARCH]
    )
    assert await pools.join_pool(request, pool.id, blind.id, READ) is None
    assert await pools.query_shared(request, pool.id, blind.id, TEAM) is None


async def test_a_share_is_never_wider_than_its_pool(agents: Agents) -> None:
    ada = await agents.agent("ada")
    pool = await agents.pool("ada", ada, scope=USER)
    memory = await agents.remember("ada", "The login bug is in auth.py")
    with pytest.raises(BadInput, match="wider"):
        await agents.wired.pools.share_memory(await agents.request(), pool.id, memory, ada.id, TEAM)


async def test_the_limits_of_pools_members_and_shares_are_reached_and_left_again(
    agents: Agents,
) -> None:
    small = agents.limited(pools=1, pool_members=2, pool_memories=1)
    pools, request = small.wired.pools, await agents.request()
    some = [await agents.agent("ada") for _ in range(3)]
    pool = await small.pool("ada", *some[:2])
    with pytest.raises(RegistryCapacityError, match="1 pools"):
        await pools.create_pool(request, "more", TEAM)
    with pytest.raises(RegistryCapacityError, match="2 members"):
        await pools.join_pool(request, pool.id, some[2].id, READ)
    first = await agents.remember("ada", "The first cellar")
    second = await agents.remember("ada", "The second attic")
    assert await pools.share_memory(request, pool.id, first, some[0].id, TEAM)
    with pytest.raises(RegistryCapacityError, match="1 shared"):
        await pools.share_memory(request, pool.id, second, some[1].id, TEAM)
    assert await pools.leave_pool(request, pool.id, some[0].id)
    assert await pools.share_memory(request, pool.id, second, some[1].id, TEAM)
    assert await pools.join_pool(request, pool.id, some[2].id, READ)
    assert await pools.delete_pool(request, pool.id)
    assert (await pools.create_pool(request, "more", TEAM)).name == "more"


async def test_pools_of_other_people_and_tenants_are_unknown(agents: Agents) -> None:
    ada = await agents.agent("ada")
    pools = agents.wired.pools
    own = await agents.pool("ada", ada, scope=USER)
    team = await agents.pool("ada", ada)
    for request, pool in (
        (await agents.request("ben"), own),
        (await agents.request("mal", outside=True), team),
        (await agents.request(tenant="other"), team),
    ):
        spy = await agents.wired.registry.register_agent(request, AgentType.HUMAN)
        with pytest.raises(NotFound):
            await pools.join_pool(request, pool.id, spy.id, READ)
        with pytest.raises(NotFound):
            await pools.query_shared(request, pool.id, spy.id, GLOBAL)
        assert await pools.pools_of(request) == ()
        assert not await pools.delete_pool(request, pool.id)
        assert not await pools.leave_pool(request, pool.id, ada.id)


async def test_a_pool_of_scope_agent_private_has_one_member(agents: Agents) -> None:
    first, second = await agents.agent("ada"), await agents.agent("ada")
    pool = await agents.pool("ada", first, scope=PRIVATE)
    with pytest.raises(RegistryCapacityError):
        await agents.wired.pools.join_pool(await agents.request(), pool.id, second.id, READ)


async def test_only_operators_create_global_pools_and_everybody_reads_them(
    agents: Agents,
) -> None:
    pools = agents.wired.pools
    with pytest.raises(BadInput, match="operators"):
        await pools.create_pool(await agents.request(), "all", GLOBAL)
    pool = await pools.create_pool(await agents.operator(), "all", GLOBAL)
    ben = await agents.agent("ben")
    assert await pools.join_pool(await agents.request("ben"), pool.id, ben.id, READ)


async def test_a_memory_that_an_agent_keeps_for_itself_is_read_by_that_agent_only(
    agents: Agents,
) -> None:
    keeper, sibling = await agents.agent("ada"), await agents.agent("ada")
    own = await agents.handle(agent=keeper.id)
    kept = await own.write.remember(
        Draft("The cupboard is called Rosa", Kind.FACT, agent_private=True)
    )
    person = await agents.handle()
    kept = await person.review.approve(kept.review_id)
    memories = agents.rig.stores.memories
    assert await memories.get(own.access, kept.memory_id) is not None
    other = await agents.handle(agent=sibling.id)
    assert await memories.get(other.access, kept.memory_id) is None
    assert await other.erasure.delete([kept.memory_id]) == []
    assert [one.id async for one in person.read.everything()] == [kept.memory_id]
    pool = await agents.pool("ada", keeper, sibling)
    with pytest.raises(NotFound):
        await agents.wired.pools.share_memory(
            replace(own.request), pool.id, kept.memory_id, keeper.id, TEAM
        )
    assert await person.erasure.delete([kept.memory_id]) == [kept.memory_id]


@pytest.mark.both_engines
async def test_the_limits_of_a_pool_hold_for_writers_at_once(agents: Agents) -> None:
    small = agents.limited(pool_members=6, pool_memories=5)
    pools, request = small.wired.pools, await agents.request()
    some = [await agents.agent("ada") for _ in range(15)]
    pool = await small.pool("ada", some[0])
    joined = await asyncio.gather(
        *(pools.join_pool(request, pool.id, one.id, READ) for one in some[1:]),
        return_exceptions=True,
    )
    assert joined.count(True) == 5
    assert len(await pools.members_of(request, pool.id)) == 6
    memories = [await agents.remember("ada", f"node{n} runs host{n} in rack{n}") for n in range(15)]
    shared = await asyncio.gather(
        *(pools.share_memory(request, pool.id, one, some[0].id, TEAM) for one in memories),
        return_exceptions=True,
    )
    assert sum(isinstance(one, SharedMemory) for one in shared) == 5
    assert sum(isinstance(one, RegistryCapacityError) for one in shared) == 10
    assert len(await agents.entries("ada", pool, some[0])) == 5


@pytest.mark.both_engines
async def test_a_share_loses_to_the_deletion_of_its_memory(agents: Agents) -> None:
    ada = await agents.agent("ada")
    pool = await agents.pool("ada", ada)
    pools, request, handle = agents.wired.pools, await agents.request(), await agents.handle()
    for number in range(10):
        memory = await agents.remember("ada", f"node{number} runs host{number}")
        shared, deleted = await asyncio.gather(
            pools.share_memory(request, pool.id, memory, ada.id, TEAM),
            handle.erasure.delete([memory]),
            return_exceptions=True,
        )
        assert isinstance(shared, SharedMemory | NotFound)
        assert deleted == [memory]
    assert await agents.entries("ada", pool, ada) == []
    rows = await agents.engine.fetch(Statement("SELECT memory FROM pool_memories"))
    assert rows == []


@pytest.mark.both_engines
async def test_writers_of_a_pool_do_not_wait_for_those_of_another(
    agents: Agents, request: pytest.FixtureRequest
) -> None:
    if isinstance(agents.engine, SqliteDatabase):
        pytest.skip("SQLite has one writer at a time")
    ada, person = await agents.agent("ada"), await agents.request()
    held, free = await agents.pool("ada", ada), await agents.pool("ada", ada)
    memories = {pool: await agents.remember("ada", f"{pool.id} runs") for pool in (held, free)}

    async def share(pool: Pool) -> object:
        memory = memories[pool]
        return await agents.wired.pools.share_memory(person, pool.id, memory, ada.id, TEAM)

    url = request.getfixturevalue("postgres_url")
    async with await psycopg.AsyncConnection.connect(url) as other:
        await other.execute("SELECT 1 FROM pools WHERE id = %s FOR UPDATE", (held.id,))
        waiting = asyncio.create_task(share(held))

        async def waits() -> bool:
            rows = await other.execute(
                "SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"
                " AND wait_event_type = 'Lock'"
            )
            return await rows.fetchone() is not None

        await eventually(waits)
        async with asyncio.timeout(PATIENCE):
            assert await share(free)
        assert not waiting.done()
        await other.rollback()
        assert await waiting
