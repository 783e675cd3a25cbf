"""The people who may know of a pool, bring agents into it and take them out, by its scope."""

from dataclasses import dataclass, field

import pytest

from gateway.errors import BadInput, NotFound
from gateway.immutable import replace
from memory.agents.model import (
    Agent,
    AgentEvent,
    AgentLimits,
    EventKind,
    Permission,
    Pool,
    PoolMember,
    SharedMemory,
    SharedScope,
)
from memory.agents.pools import NO_PROJECT, PoolRegistry
from memory.agents.stores.pools import ReplacedText
from memory.model.outcome import Outcome
from memory.model.record import Draft, Kind
from memory.model.scope import RequestScope
from tests.memory.agents.conftest import Agents
from tests.memory.stores.records import record

GLOBAL, TEAM, PROJECT, USER = (SharedScope[name] for name in ("GLOBAL", "TEAM", "PROJECT", "USER"))
READ, WRITE = Permission.READ, Permission.WRITE


@dataclass
class Projects:
    """The people in each project."""

    people: set[tuple[str, str]] = field(default_factory=set)

    async def reaches(self, request: RequestScope, project: str) -> bool:
        return (request.principal.person.id, project) in self.people


@dataclass
class Stage:
    """Pools that ask `projects` who belongs where."""

    agents: Agents
    pools: PoolRegistry
    projects: Projects

    async def in_project(self, name: str, project: str = "p") -> RequestScope:
        return replace(await self.agents.request(name), project=project)

    async def texts(self, request: RequestScope, pool: Pool, agent: Agent) -> list[str]:
        result = await self.pools.query_shared(request, pool.id, agent.id, GLOBAL)
        assert isinstance(result, tuple)
        return [entry.record.content for entry in result]

    async def share(
        self, request: RequestScope, pool: Pool, agent: Agent, scope: SharedScope
    ) -> None:
        memory = await self.agents.remember(request.principal.person.id, "The mug is green")
        shared = await self.pools.share_memory(request, pool.id, memory, agent.id, scope)
        assert isinstance(shared, SharedMemory)


@pytest.fixture
def stage(agents: Agents) -> Stage:
    projects = Projects()
    return Stage(agents, replace(agents.wired.pools, reaches=projects.reaches), projects)


async def test_people_of_other_companies_create_no_pool_for_the_team(stage: Stage) -> None:
    mal = await stage.agents.request("mal", outside=True)
    with pytest.raises(BadInput, match="people of other companies cannot create pools"):
        await stage.pools.create_pool(mal, "ours", TEAM)
    assert (await stage.pools.create_pool(mal, "mine", USER)).scope is USER


async def test_a_pool_and_a_share_of_a_project_need_a_project(stage: Stage) -> None:
    ada, agent = await stage.agents.request("ada"), await stage.agents.agent("ada")
    with pytest.raises(BadInput) as raised:
        await stage.pools.create_pool(ada, "auth", PROJECT)
    assert str(raised.value) == NO_PROJECT.english
    pool = await stage.agents.pool("ada", agent)
    memory = await stage.agents.remember("ada", "The jar is green")
    with pytest.raises(BadInput) as raised:
        await stage.pools.share_memory(ada, pool.id, memory, agent.id, PROJECT)
    assert str(raised.value) == NO_PROJECT.english


async def test_a_share_of_a_project_is_read_where_the_reader_chose_that_project(
    stage: Stage,
) -> None:
    ada, ben = await stage.agents.agent("ada"), await stage.agents.agent("ben")
    pool = await stage.agents.pool("ada", ada)
    assert await stage.pools.join_pool(await stage.agents.request("ben"), pool.id, ben.id, READ)
    await stage.share(await stage.in_project("ada"), pool, ada, PROJECT)
    assert await stage.texts(await stage.in_project("ben"), pool, ben) == ["The mug is green"]
    assert await stage.texts(await stage.in_project("ben", "q"), pool, ben) == []
    assert await stage.texts(await stage.agents.request("ben"), pool, ben) == []


async def test_the_members_of_a_project_join_its_pool_and_read_while_they_are_members(
    stage: Stage,
) -> None:
    ada, ben, eve = [await stage.agents.agent(name) for name in ("ada", "ben", "eve")]
    owner = await stage.in_project("ada")
    pool = await stage.pools.create_pool(owner, "auth", PROJECT)
    assert pool.project == "p"
    assert await stage.pools.join_pool(owner, pool.id, ada.id, WRITE)
    await stage.share(owner, pool, ada, PROJECT)
    stage.projects.people.add(("ben", "p"))
    by_ben, by_eve = await stage.agents.request("ben"), await stage.agents.request("eve")
    assert await stage.pools.join_pool(by_ben, pool.id, ben.id, READ)
    assert await stage.texts(by_ben, pool, ben) == ["The mug is green"]
    with pytest.raises(NotFound):
        await stage.pools.join_pool(by_eve, pool.id, eve.id, READ)
    with pytest.raises(NotFound):
        await stage.pools.query_shared(by_eve, pool.id, eve.id, GLOBAL)
    stage.projects.people.clear()
    assert await stage.texts(by_ben, pool, ben) == []
    await stage.agents.join("ada", pool, eve, READ)
    assert await stage.texts(by_eve, pool, eve) == ["The mug is green"], "the owner invited it"


async def test_only_the_owner_brings_agents_of_others_and_gives_write_permission(
    stage: Stage,
) -> None:
    ada, ben, eve = [await stage.agents.agent(name) for name in ("ada", "ben", "eve")]
    pool = await stage.agents.pool("ada", ada)
    by_ben = await stage.agents.request("ben")
    with pytest.raises(NotFound):
        await stage.pools.join_pool(by_ben, pool.id, eve.id, READ)
    assert await stage.pools.join_pool(by_ben, pool.id, ben.id, WRITE) is False
    assert await stage.pools.join_pool(by_ben, pool.id, ben.id, READ)
    own = await stage.agents.pool("ada", ada, scope=USER)
    owner = await stage.agents.request("ada")

    async def held() -> tuple[Permission, bool]:
        member = await stage.pools.store.member(pool.id, ben.id)
        assert member is not None
        return member.permission, member.granted

    assert await held() == (READ, False)
    assert await stage.pools.join_pool(owner, pool.id, ben.id, WRITE)
    assert await held() == (WRITE, True)
    assert await stage.pools.join_pool(by_ben, pool.id, ben.id, READ)
    assert await held() == (WRITE, True), "a member does not change what the owner gave"
    assert await stage.pools.join_pool(owner, pool.id, ben.id, READ)
    assert await held() == (READ, True)
    with pytest.raises(NotFound):
        await stage.pools.join_pool(owner, own.id, eve.id, READ)
    with pytest.raises(NotFound):
        await stage.pools.join_pool(owner, pool.id, "0" * 32, READ)
    elsewhere = await stage.agents.request("ben", tenant="other")
    spy = await stage.agents.wired.registry.register_agent(elsewhere, ben.type)
    with pytest.raises(NotFound):
        await stage.pools.join_pool(owner, pool.id, spy.id, READ)


async def test_an_agent_of_another_company_reads_where_the_owner_added_it(stage: Stage) -> None:
    ada, mal = await stage.agents.agent("ada"), await stage.agents.agent("mal")
    by_mal = await stage.agents.request("mal", outside=True)
    pool = await stage.agents.pool("ada", ada)
    await stage.share(await stage.agents.request("ada"), pool, ada, TEAM)
    with pytest.raises(NotFound):
        await stage.pools.query_shared(by_mal, pool.id, mal.id, GLOBAL)
    await stage.agents.join("ada", pool, mal, READ)
    assert await stage.texts(by_mal, pool, mal) == ["The mug is green"]


async def test_agents_are_taken_out_by_their_person_or_the_owner(stage: Stage) -> None:
    first, second, ben = [await stage.agents.agent(name) for name in ("ada", "ada", "ben")]
    pool = await stage.agents.pool("ada", first, second, ben)
    owner, by_ben = await stage.agents.request("ada"), await stage.agents.request("ben")
    assert not await stage.pools.leave_pool(by_ben, pool.id, first.id)
    acting = replace(owner, agent=first.id)
    assert not await stage.pools.leave_pool(acting, pool.id, second.id), "another agent"
    assert not await stage.pools.leave_pool(acting, pool.id, ben.id), "another person's agent"
    elsewhere = await stage.agents.request("ada", tenant="other")
    assert not await stage.pools.leave_pool(elsewhere, pool.id, first.id)
    assert await stage.pools.leave_pool(acting, pool.id, first.id)
    assert await stage.pools.leave_pool(owner, pool.id, ben.id)
    assert [one.agent for one in await stage.pools.members_of(owner, pool.id)] == [second.id]


async def test_a_client_that_read_a_private_repository_names_no_pool_for_others(
    stage: Stage,
) -> None:
    request = replace(await stage.agents.request("ada"), from_repository=True)
    for scope, named in ((USER, "def secret(): ..."), (TEAM, None)):
        pool = await stage.pools.create_pool(request, "def secret(): ...", scope)
        assert pool.name == (named or f"pool {pool.id[:4]}")
        assert await stage.pools.pools_of(request) == (pool,)
        assert await stage.pools.delete_pool(request, pool.id)


async def test_a_pool_is_deleted_by_its_owner_or_an_operator(stage: Stage) -> None:
    ada, ben = await stage.agents.agent("ada"), await stage.agents.agent("ben")
    first, second = [await stage.agents.pool("ada", ada, ben) for _ in range(2)]
    assert not await stage.pools.delete_pool(await stage.agents.request("ben"), first.id)
    elsewhere = await stage.agents.request("ada", tenant="other")
    assert not await stage.pools.delete_pool(elsewhere, first.id)
    assert await stage.pools.delete_pool(await stage.agents.request("ada"), first.id)
    assert await stage.pools.delete_pool(await stage.agents.operator(), second.id)
    owner = await stage.agents.request("ada")
    for pool in (first, second):
        assert await stage.pools.store.members(pool.id, 10) == []
        with pytest.raises(NotFound):
            await stage.pools.members_of(owner, pool.id)


async def test_the_owner_needs_no_member_to_manage_a_pool(stage: Stage) -> None:
    owner = await stage.agents.request("ada")
    pool = await stage.agents.pool("ada", scope=USER)
    agent = await stage.agents.agent("ada")
    assert await stage.pools.members_of(owner, pool.id) == ()
    assert await stage.pools.join_pool(owner, pool.id, agent.id, READ)
    assert await stage.pools.query_shared(owner, pool.id, agent.id, GLOBAL) == ()
    with pytest.raises(NotFound):
        await stage.pools.members_of(await stage.agents.request("ben"), pool.id)
    elsewhere = await stage.agents.request("ada", tenant="other")
    with pytest.raises(NotFound):
        await stage.pools.members_of(elsewhere, pool.id)


async def test_membership_in_one_pool_opens_no_other(stage: Stage) -> None:
    ada, ben = await stage.agents.agent("ada"), await stage.agents.agent("ben")
    await stage.agents.pool("ada", ada, ben)
    own = await stage.agents.pool("ada", ada, scope=USER)
    by_ben = await stage.agents.request("ben")
    with pytest.raises(NotFound):
        await stage.pools.members_of(by_ben, own.id)
    with pytest.raises(NotFound):
        await stage.pools.query_shared(by_ben, own.id, ben.id, GLOBAL)


async def test_the_store_keeps_tenants_apart(stage: Stage) -> None:
    ada = await stage.agents.agent("ada")
    pool, store = await stage.agents.pool("ada", ada), stage.pools.store
    await stage.share(await stage.agents.request("ada"), pool, ada, TEAM)
    (entry,) = await stage.agents.entries("ada", pool, ada)
    elsewhere, memory = replace(pool, tenant="other"), entry.shared.memory
    at, kind = stage.agents.clock.now(), EventKind.POOL_DELETED
    event = AgentEvent(kind, "other", at)
    assert await store.get("other", pool.id) is None
    assert not await store.includes(elsewhere, [ada.owner])
    assert await store.of_persons("other", [ada.owner], 10) == []
    assert not await store.remove(elsewhere, event)
    ben = await stage.agents.agent("ben")
    joins = PoolMember(pool.id, ben.id, READ, at)
    foreigner = store.join(
        elsewhere, joins, "telegram:main:ben", AgentLimits(), event, replaces=False, new=True
    )
    assert await foreigner == "missing"
    assert not await store.unshare("other", [ada.owner], pool.id, memory, event, any_=True)
    assert not await store.unshare("default", ["p"], pool.id, memory, event, any_=False)
    new = ReplacedText(pool.id, memory, ada.id, memory, 1)
    assert not await store.replace_text("other", new, event)
    assert not await store.replace_text("default", replace(new, agent="0" * 32), event)
    assert not await store.replace_text("default", replace(new, expected=2), event)
    foreign = await stage.agents.remember("ada", "The jar is blue", tenant="other")
    assert not await store.replace_text("default", replace(new, record_id=foreign), event)
    await stage.agents.join("ada", pool, ben, READ)
    assert not await store.replace_text("default", replace(new, agent=joins.agent), event)
    assert len(await stage.agents.entries("ada", pool, ada)) == 1
    assert await store.replace_text("default", new, event)


async def test_turns_and_replaced_memories_are_not_shared(stage: Stage) -> None:
    agent, ada = await stage.agents.agent("ada"), await stage.agents.handle("ada")
    pool = await stage.agents.pool("ada", agent)
    old = await stage.agents.remember("ada", "The mug is green")
    draft = Draft("The mug is blue", Kind.FACT, supersedes=old)
    assert (await ada.write.remember(draft)).outcome is Outcome.STORED
    person = ada.access.person
    turn = record("Where is the mug?", person, tenant="default", role="user", conversation="c")
    await stage.agents.rig.stores.memories.keep_turns(ada.access, [turn])
    assert await stage.agents.rig.stores.memories.get(ada.access, turn.id) is not None
    for memory in (old, turn.id):
        with pytest.raises(NotFound, match="that can be shared"):
            await stage.pools.share_memory(ada.request, pool.id, memory, agent.id, TEAM)


async def test_a_shared_memory_that_is_replaced_is_not_read_any_more(stage: Stage) -> None:
    agent, ada = await stage.agents.agent("ada"), await stage.agents.handle("ada")
    pool = await stage.agents.pool("ada", agent)
    await stage.share(ada.request, pool, agent, TEAM)
    (entry,) = await stage.agents.entries("ada", pool, agent)
    draft = Draft("The mug is blue", Kind.FACT, supersedes=entry.shared.memory)
    assert (await ada.write.remember(draft)).outcome is Outcome.STORED
    assert await stage.agents.entries("ada", pool, agent) == []
