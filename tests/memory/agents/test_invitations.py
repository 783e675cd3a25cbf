"""An agent joins the pool of somebody else only if its person agrees."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta

import pytest

from gateway.errors import BadInput, NotFound
from gateway.immutable import replace
from memory.agents.invitations import LASTS, RESTS, PoolInvitations
from memory.agents.model import (
    MOST_MEMBERSHIPS,
    Agent,
    AgentLimits,
    AgentType,
    Capability,
    Permission,
    Pool,
    PoolInvitation,
    RegistryCapacityError,
    SharedMemory,
    SharedScope,
)
from memory.agents.pools import PoolRegistry
from memory.model.record import Kind, Trust
from memory.ports.memories import Filter
from memory.ports.recall import Query
from memory.recall.selection import FROM_OTHERS
from memory.stores.personal_data import SqlMemoryPersonalData
from memory.stores.shared_memories import POOLS_READ
from tests.memory.agents.conftest import Agents

GLOBAL, TEAM, USER = SharedScope.GLOBAL, SharedScope.TEAM, SharedScope.USER
READ, WRITE = Permission.READ, Permission.WRITE
DAY = timedelta(days=1)


@dataclass
class Guest:
    """Mallory knows the id of Ada's agent."""

    agents: Agents
    agent: Agent

    @property
    def pools(self) -> PoolRegistry:
        return self.agents.wired.pools

    @property
    def invitations(self) -> PoolInvitations:
        return self.pools.invitations

    async def pool(self, name: str = "mallory", **settings: SharedScope) -> Pool:
        return await self.agents.pool(name, **settings)

    async def invite(
        self, pool: Pool, permission: Permission = READ, agent: Agent | None = None
    ) -> PoolInvitation:
        request = await self.agents.request(pool.owner.rpartition(":")[2])
        invited = await self.pools.join_pool(request, pool.id, (agent or self.agent).id, permission)
        assert isinstance(invited, PoolInvitation)
        return invited

    async def waiting(self, name: str = "ada") -> list[PoolInvitation]:
        return [*await self.invitations.waiting(await self.agents.request(name))]

    async def is_member(self, pool: Pool) -> bool:
        return await self.pools.store.member(pool.id, self.agent.id) is not None


@pytest.fixture
async def guest(agents: Agents) -> Guest:
    return Guest(agents, await agents.agent("ada"))


async def test_an_agent_joins_the_pool_of_somebody_else_after_its_person_agreed(
    guest: Guest,
) -> None:
    pool = await guest.pool()
    invited = await guest.invite(pool, WRITE)
    assert not await guest.is_member(pool)
    (waits,) = await guest.waiting()
    assert (waits.id, waits.pool_name, waits.inviter) == (invited.id, pool.name, pool.owner)
    assert waits.until - waits.made_at == LASTS
    ada = await guest.agents.request("ada")
    await guest.invitations.accept(ada, waits.id)
    member = await guest.pools.store.member(pool.id, guest.agent.id)
    assert member is not None
    assert (member.permission, member.granted) == (WRITE, True)
    assert await guest.waiting() == []
    noted = [one["operation"] for one in guest.agents.noted("pool_operation")]
    assert noted == ["create", "invite", "join"]


async def test_own_agents_need_no_invitation(guest: Guest) -> None:
    pool = await guest.agents.pool("ada", guest.agent)
    assert await guest.is_member(pool)
    assert await guest.waiting() == []


async def test_the_same_invitation_again_changes_nothing(guest: Guest) -> None:
    pool = await guest.pool()
    first = await guest.invite(pool)
    again = await guest.invite(pool)
    assert (again.id, again.until) == (first.id, first.until)
    assert len(await guest.waiting()) == 1
    with pytest.raises(BadInput, match="another permission"):
        await guest.invite(pool, WRITE)


@pytest.mark.parametrize("by", ["mallory", "eve"])
async def test_only_the_person_of_the_agent_answers(guest: Guest, by: str) -> None:
    pool = await guest.pool()
    invited = await guest.invite(pool)
    request = await guest.agents.request(by)
    elsewhere = await guest.agents.request("ada", tenant="other")
    sibling = replace(await guest.agents.request("ada"), agent=(await guest.agents.agent("ada")).id)
    for who in (request, elsewhere, sibling):
        with pytest.raises(NotFound):
            await guest.invitations.accept(who, invited.id)
        with pytest.raises(NotFound):
            await guest.invitations.decline(who, invited.id)
        assert await guest.invitations.waiting(who) == ()
    acting = replace(await guest.agents.request("ada"), agent=guest.agent.id)
    await guest.invitations.accept(acting, invited.id)
    with pytest.raises(NotFound):
        await guest.invitations.accept(acting, invited.id)
    assert await guest.is_member(pool)


async def test_an_expired_invitation_is_not_accepted(guest: Guest) -> None:
    pool = await guest.pool()
    invited = await guest.invite(pool)
    await guest.agents.clock.advance(LASTS.total_seconds())
    assert await guest.waiting() == []
    ada = await guest.agents.request("ada")
    for answer in (guest.invitations.accept, guest.invitations.decline):
        with pytest.raises(NotFound, match="expired"):
            await answer(ada, invited.id)
    assert not await guest.is_member(pool)


async def test_a_withdrawn_invitation_is_not_accepted(guest: Guest) -> None:
    pool = await guest.pool()
    invited = await guest.invite(pool)
    mallory, ada = await guest.agents.request("mallory"), await guest.agents.request("ada")
    assert not await guest.pools.leave_pool(ada, pool.id, guest.agent.id)
    assert await guest.pools.leave_pool(mallory, pool.id, guest.agent.id)
    assert not await guest.pools.leave_pool(mallory, pool.id, guest.agent.id)
    with pytest.raises(NotFound):
        await guest.invitations.accept(ada, invited.id)
    with pytest.raises(BadInput, match="again from"):
        await guest.invite(pool)
    await guest.agents.clock.advance((DAY * 1.1).total_seconds())
    await guest.invite(pool, WRITE)


@pytest.mark.both_engines
async def test_of_an_acceptance_and_a_withdrawal_at_once_one_wins(guest: Guest) -> None:
    mallory, ada = await guest.agents.request("mallory"), await guest.agents.request("ada")
    for _ in range(4):
        pool = await guest.pool()
        invited = await guest.invite(pool)
        accepted, left = await asyncio.gather(
            guest.invitations.accept(ada, invited.id),
            guest.pools.leave_pool(mallory, pool.id, guest.agent.id),
            return_exceptions=True,
        )
        # Either the withdrawal came first, or the owner took the new member out, or left nothing.
        refused = isinstance(accepted, NotFound)
        assert await guest.is_member(pool) is (not refused and left is False)
        assert await guest.waiting() == []


@pytest.mark.both_engines
async def test_two_acceptances_at_once_make_one_membership(guest: Guest) -> None:
    pool = await guest.pool()
    invited, ada = await guest.invite(pool), await guest.agents.request("ada")
    answers = await asyncio.gather(
        *(guest.invitations.accept(ada, invited.id) for _ in range(4)), return_exceptions=True
    )
    assert sum(isinstance(one, PoolInvitation) for one in answers) == 1
    assert await guest.is_member(pool)


async def test_a_declined_pool_asks_again_after_a_month(guest: Guest) -> None:
    pool = await guest.pool()
    invited = await guest.invite(pool)
    await guest.invitations.decline(await guest.agents.request("ada"), invited.id)
    assert not await guest.is_member(pool)
    for _ in range(2):
        with pytest.raises(BadInput, match="again from"):
            await guest.invite(pool)
        await guest.agents.clock.advance((RESTS / 2 - DAY).total_seconds())
    await guest.agents.clock.advance((2.1 * DAY).total_seconds())
    await guest.invite(pool)


async def test_a_member_that_left_returns_when_invited(guest: Guest) -> None:
    pool, ada = await guest.pool(), await guest.agents.request("ada")
    await guest.invitations.accept(ada, (await guest.invite(pool)).id)
    assert await guest.pools.leave_pool(ada, pool.id, guest.agent.id)
    invited = await guest.invite(pool)
    await guest.invitations.accept(ada, invited.id)
    assert await guest.is_member(pool)
    assert await guest.pools.leave_pool(ada, pool.id, guest.agent.id)
    await guest.invitations.decline(ada, (await guest.invite(pool)).id)
    with pytest.raises(BadInput, match="again from"):
        await guest.invite(pool)


async def test_a_person_is_not_flooded_however_many_pools_there_are(guest: Guest) -> None:
    mallory, ada = await guest.agents.request("mallory"), await guest.agents.request("ada")
    for number in range(5):
        pool = await guest.pool()
        invited = await guest.invite(pool)
        if number == 2:
            await guest.invitations.decline(ada, invited.id)
        if number % 2:
            await guest.pools.delete_pool(mallory, pool.id)
    pool = await guest.pool()
    with pytest.raises(RegistryCapacityError, match="5 times lately"):
        await guest.invite(pool)
    await guest.agents.clock.advance((RESTS + DAY).total_seconds())
    await guest.invite(pool)


async def test_many_people_do_not_flood_one(guest: Guest) -> None:
    pools = [await guest.pool(f"mallory{number}") for number in range(21)]
    for pool in pools[:10]:
        await guest.invite(pool)
    with pytest.raises(RegistryCapacityError, match="10 invitations an hour"):
        await guest.invite(pools[10])
    await guest.agents.clock.advance(3_601)
    for pool in pools[10:20]:
        await guest.invite(pool)
    await guest.agents.clock.advance(3_601)
    with pytest.raises(RegistryCapacityError, match="20 invitations wait"):
        await guest.invite(pools[20])
    assert len(await guest.waiting()) == 20


@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        ("invitations", "the maximum of this installation"),
        ("invitations_per_pool", "invitations into this pool"),
        ("invitations_per_inviter", "invitations into your pools"),
    ],
)
async def test_the_invitations_of_a_pool_an_owner_and_all_are_limited(
    guest: Guest, limit: str, sentence: str
) -> None:
    small = replace(guest, agents=guest.agents.limited(**{limit: 2}))
    pool = await small.pool()
    for name in ("ben", "eve"):
        await small.invite(pool, agent=await guest.agents.agent(name))
    with pytest.raises(RegistryCapacityError, match=sentence):
        await small.invite(pool)


@pytest.mark.both_engines
async def test_inviters_at_once_keep_the_limits(guest: Guest) -> None:
    pools = [await guest.pool() for _ in range(12)]
    answers = await asyncio.gather(*map(guest.invite, pools), return_exceptions=True)
    assert sum(isinstance(one, PoolInvitation) for one in answers) == 5
    assert len(await guest.waiting()) == 5


async def test_the_agents_of_one_person_do_not_fill_a_pool(guest: Guest) -> None:
    small = guest.agents.limited(pool_members=6, pool_members_per_person=3)
    pool = await small.pool("ada", guest.agent)
    ben = await guest.agents.request("ben")
    mine = [await guest.agents.agent("ben") for _ in range(5)]
    joined = await asyncio.gather(
        *(small.wired.pools.join_pool(ben, pool.id, one.id, READ) for one in mine),
        return_exceptions=True,
    )
    assert joined.count(True) == 3
    refused = [one for one in joined if isinstance(one, RegistryCapacityError)]
    assert len(refused) == 2
    assert "You have 3 agents in this pool already" in str(refused[0])
    eve = await guest.agents.agent("eve")
    assert await small.wired.pools.join_pool(
        await guest.agents.request("eve"), pool.id, eve.id, READ
    )


async def test_the_memberships_of_a_person_are_limited_in_all_pools(guest: Guest) -> None:
    small = replace(guest, agents=guest.agents.limited(memberships_per_person=3))
    pools = [await small.pool(name) for name in ("ben", "ben", "eve", "eve", "mal", "mal")]
    ada = await guest.agents.request("ada")
    joined = await asyncio.gather(
        *(small.pools.join_pool(ada, one.id, guest.agent.id, READ) for one in pools),
        return_exceptions=True,
    )
    assert joined.count(True) == 3
    outside = pools[joined.index(next(one for one in joined if one is not True))]
    invited = await small.invite(outside)
    with pytest.raises(RegistryCapacityError, match="3 memberships in pools"):
        await small.invitations.accept(ada, invited.id)
    (waits,) = await small.waiting()
    left = pools[joined.index(True)]
    assert await small.pools.leave_pool(ada, left.id, guest.agent.id)
    await small.invitations.accept(ada, waits.id)


def test_every_membership_of_a_person_is_read() -> None:
    assert AgentLimits().memberships_per_person <= MOST_MEMBERSHIPS <= POOLS_READ


async def test_what_is_found_does_not_depend_on_the_order_of_joining(guest: Guest) -> None:
    agents = guest.agents
    own = await agents.pool("ben", await agents.agent("ben"))
    await agents.join("ben", own, guest.agent, READ)
    ben = (await guest.pools.members_of(await agents.request("ben"), own.id))[0].agent
    memory = await agents.remember("ben", "The vault is behind the mirror")
    await guest.pools.share_memory(await agents.request("ben"), own.id, memory, ben, TEAM)
    for number in range(99):
        pool = await agents.pool(f"owner{number // 40}")
        await guest.pools.join_pool(await agents.request("ada"), pool.id, guest.agent.id, READ)
    handle = await agents.handle("ada", agent=guest.agent.id)
    (match,) = await handle.read.search(Filter(text="vault mirror"))
    assert match.record.content == "The vault is behind the mirror"


@pytest.mark.parametrize("pool_of", ["ada", "mallory"])
async def test_what_others_share_never_has_high_trust(guest: Guest, pool_of: str) -> None:
    agents, sharer = guest.agents, await guest.agents.agent("mallory")
    pool = await agents.pool(pool_of, sharer, guest.agent)
    for name, agent, text in (
        ("mallory", sharer, "The vault is behind the mirror"),
        ("ada", guest.agent, "The vault has a green door"),
    ):
        memory = await agents.remember(name, text)
        request = await agents.request(name)
        shared = await guest.pools.share_memory(request, pool.id, memory, agent.id, TEAM)
        assert isinstance(shared, SharedMemory)
    entries = await agents.entries("ada", pool, guest.agent)
    trusts = {one.record.content: one.record.provenance.trust for one in entries}
    own = Trust.HIGH if pool_of == "ada" else Trust.MEDIUM
    assert trusts == {
        "The vault is behind the mirror": Trust.MEDIUM,
        "The vault has a green door": own,
    }
    assert all(one.record.evidence.confidence <= 0.6 for one in entries if own is not Trust.HIGH)
    handle = await agents.handle("ada", agent=guest.agent.id)
    found = await handle.read.search(Filter(text="vault"))
    assert {one.record.content: one.record.provenance.trust for one in found} == {
        "The vault is behind the mirror": Trust.MEDIUM,
        "The vault has a green door": Trust.HIGH,
    }
    recalled = await handle.read.recall(
        Query("where is the vault, behind the mirror?", agents.clock.now())
    )
    told = {
        one.record.content: (one.record.provenance.trust, one.label) for one in recalled.results
    }
    assert told == {
        "The vault is behind the mirror": (Trust.MEDIUM, FROM_OTHERS),
        "The vault has a green door": (Trust.HIGH, ""),
    }


async def test_who_walks_into_an_open_pool_hands_no_tasks_to_its_members(guest: Guest) -> None:
    agents, spy = guest.agents, await guest.agents.agent("mallory")
    pool = await agents.pool("ada", guest.agent)
    mallory, ada = await agents.request("mallory"), await agents.request("ada")
    assert await guest.pools.join_pool(mallory, pool.id, spy.id, READ)
    task, handoffs = {"task_description": "Do this"}, agents.wired.handoffs
    with pytest.raises(NotFound, match="whose owner invited your agent"):
        await handoffs.initiate_handoff(mallory, spy.id, guest.agent.id, task)
    other = await agents.agent("ben")
    with pytest.raises(NotFound):
        await handoffs.initiate_handoff(await agents.request("ben"), other.id, guest.agent.id, task)
    # The owner of the pool reaches who joined it, and lets an agent reach the others.
    assert await handoffs.initiate_handoff(ada, guest.agent.id, spy.id, task)
    await agents.join("ada", pool, spy, READ)
    assert await handoffs.initiate_handoff(mallory, spy.id, guest.agent.id, task)


async def test_a_pool_shows_nothing_of_itself_before_the_answer(guest: Guest) -> None:
    agents = guest.agents
    pool = await guest.pool()
    await guest.invite(pool)
    ada = await agents.request("ada")
    assert await guest.pools.pools_of(ada) == ()
    kinds = [one.kind.value for one in (await agents.wired.events.after(ada)).events]
    assert kinds == ["agent.registered", "pool.invited"]
    sharer = await agents.agent("mallory")
    await agents.join("mallory", pool, sharer)
    memory = await agents.remember("mallory", "Buy the cheap boat", Kind.FACT)
    await guest.pools.share_memory(
        await agents.request("mallory"), pool.id, memory, sharer.id, TEAM
    )
    kinds = [one.kind.value for one in (await agents.wired.events.after(ada)).events]
    assert kinds == ["agent.registered", "pool.invited"]
    handle = await agents.handle("ada", agent=guest.agent.id)
    assert await handle.read.search(Filter(text="boat")) == []
    assert await agents.wired.registry.get_agent(ada, sharer.id) is None
    assert (
        await agents.wired.registry.get_agent(await agents.request("mallory"), guest.agent.id)
        is None
    )


async def test_an_agent_without_the_capability_is_not_invited(guest: Guest) -> None:
    blind = await guest.agents.wired.registry.register_agent(
        await guest.agents.request("ada"),
        AgentType.GPT_AGENT,
        capabilities=[Capability.KB_SEARCH],
    )
    pool = await guest.pool()
    mallory = await guest.agents.request("mallory")
    assert await guest.pools.join_pool(mallory, pool.id, blind.id, READ) is None
    own = await guest.pool(scope=USER)
    with pytest.raises(NotFound):
        await guest.pools.join_pool(mallory, own.id, guest.agent.id, READ)
    assert await guest.waiting() == []


@pytest.mark.parametrize("who", ["ada", "mallory"])
async def test_an_invitation_is_exported_and_erased_with_either_side(
    guest: Guest, who: str
) -> None:
    await guest.invite(await guest.pool())
    personal = SqlMemoryPersonalData(guest.agents.engine)
    person = f"telegram:main:{who}"
    rows = [one["table"] for one in await personal.export("default", [person])]
    assert rows.count("pool_invitations") == 1
    handle = await guest.agents.handle(who)
    await handle.erasure.erase_all()
    assert await guest.waiting() == []


async def test_old_invitations_are_deleted(guest: Guest) -> None:
    await guest.invite(await guest.pool())
    assert await guest.invitations.prune() == 0
    await guest.agents.clock.advance((RESTS + DAY).total_seconds())
    assert await guest.invitations.prune() == 1
    assert await guest.agents.wired.registry.unregister_agent(
        await guest.agents.request("ada"), guest.agent.id
    )
