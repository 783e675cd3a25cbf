"""Shows people their agents and pools with what each agent gave, and operators the numbers of all;
takes back what one agent wrote, shared and handed over since a time.

Operators see no names and no texts of other people's agents.

Taking back is for an agent that was compromised or that planted false memories. What it wrote
disappears as if it had never been stored, also where it is shared or waits for review; its other
shares end; its open handoffs are rejected.
"""

from datetime import datetime
from typing import Final

from msgspec import Struct

from gateway.errors import BadInput, NotFound
from gateway.immutable import replace
from gateway.people import Role
from gateway.ports import Clock
from gateway.text import text, verbatim
from memory.agents.model import Agent, AgentActivity, AgentSummary, Membership, PoolSummary
from memory.agents.pools import PoolRegistry
from memory.agents.registry import EVER, AgentRegistry
from memory.agents.stores.overview import SqlAgentOverview, SqlOrigins
from memory.model.record import Record
from memory.model.scope import RequestScope, access_scope_of
from memory.ports.memories import MemoryStore
from memory.recall.selection import displayable
from memory.stores.audit import Audit

MAX_LISTED: Final = 500
"""Agents and pools of one list."""
MAX_WRITTEN: Final = 20
"""Memories that the page of one agent shows."""
WHOLE: Final = 32
"""Characters of a whole id."""
LEAST: Final = 4
"""Characters of an id that a person has to type."""
UNKNOWN: Final = text("You have no agent with this id.")
AMBIGUOUS: Final = text("Several ids begin with '{id}'. Write more of the id.")
NO_POOL: Final = text("You have no pool with this id.")
ONLY_PEOPLE: Final = text("Only a person can list agents and pools, not an agent.")
ONLY_A_PERSON: Final = text("Only a person can take back what an agent gave.")
OPERATORS_ONLY: Final = text("Only operators see all agents and pools.")


class AgentPage(Struct, frozen=True):
    """An agent with its latest memories and its pools."""

    summary: AgentSummary
    written: tuple[Record, ...]
    memberships: tuple[Membership, ...]


class AgentOverview(Struct, frozen=True):
    """Lists agents and pools. Every method raises `StoreUnavailable`, and `NotFound` for the
    request of an agent: only people see these lists."""

    registry: AgentRegistry
    pools: PoolRegistry
    memories: MemoryStore
    store: SqlAgentOverview

    async def agents(self, request: RequestScope) -> tuple[AgentSummary, ...]:
        """Return the agents of the caller, first registered first, then unregistered agents whose
        memories are still there."""
        _check_person(request)
        access = access_scope_of(request)
        agents = (await self.registry.agents_of(request))[:MAX_LISTED]
        gone = await self.store.unregistered(access, MAX_LISTED)
        ids = [*(one.id for one in agents), *gone]
        active = await self.store.activity(replace(access, operates=False), ids)
        by_id: dict[str, Agent] = {one.id: one for one in agents}
        return tuple(
            AgentSummary(id_, by_id.get(id_), active.get(id_, AgentActivity())) for id_ in ids
        )

    async def all_agents(self, request: RequestScope) -> tuple[AgentSummary, ...]:
        """Return all agents of the tenant for operators, other people's without names. Raises
        `NotFound` for everybody else."""
        _check_operator(request)
        access = access_scope_of(request)
        agents = await self.store.of_tenant(access, MAX_LISTED)
        active = await self.store.activity(access, [one.id for one in agents])
        return tuple(
            AgentSummary(
                one.id,
                one if one.owner in request.persons else replace(one, name=""),
                active.get(one.id, AgentActivity()),
            )
            for one in agents
        )

    async def named(self, request: RequestScope, text: str) -> AgentSummary:
        """Return an agent of the caller by its id or the first characters of it, at least four.
        Raises `NotFound` for no agent, `BadInput` for several."""
        found = [one for one in await self.agents(request) if _fits(one.id, text)]
        if len(found) > 1:
            raise BadInput(AMBIGUOUS.of(id=verbatim(text[:40])))
        if not found:
            raise NotFound(UNKNOWN)
        return found[0]

    async def to_take_back(self, request: RequestScope, text: str) -> AgentSummary:
        """Return the agent whose gifts the caller may take back: an own one, or for an operator any
        origin in the tenant, by its whole id. Raises `NotFound`, `BadInput`."""
        try:
            return await self.named(request, text)
        except NotFound:
            if not (_operates(request) and len(text) == WHOLE):
                raise
        active = await self.store.activity(access_scope_of(request), [text])
        return AgentSummary(text, None, active.get(text, AgentActivity()))

    async def page(self, request: RequestScope, summary: AgentSummary) -> AgentPage:
        """Return what an agent of the caller wrote, latest first, and its pools."""
        access = replace(access_scope_of(request), operates=False)
        ids = await self.store.written(access, summary.id, MAX_WRITTEN)
        found = [await self.memories.get(access, id_) for id_ in ids]
        written = tuple(displayable(one) for one in found if one is not None)
        pools = await self.store.memberships(access, summary.id, MAX_LISTED)
        return AgentPage(summary, written, tuple(pools))

    async def in_pools_of_others(self, request: RequestScope) -> tuple[tuple[str, Membership], ...]:
        """Return the memberships of the caller's agents in pools of other people, with the id of
        the agent, the first joined first."""
        _check_person(request)
        access = access_scope_of(request)
        return tuple(await self.store.in_pools_of_others(access, MAX_LISTED))

    async def own_pools(self, request: RequestScope) -> tuple[PoolSummary, ...]:
        """Return the pools that the caller owns or has an agent in."""
        _check_person(request)
        pools = (await self.pools.pools_of(request))[:MAX_LISTED]
        return tuple(await self.store.counted(access_scope_of(request), pools))

    async def all_pools(self, request: RequestScope) -> tuple[PoolSummary, ...]:
        """Return all pools of the tenant for operators, other people's without names. Raises
        `NotFound` for everybody else."""
        _check_operator(request)
        found = await self.store.pools_of_tenant(access_scope_of(request), MAX_LISTED)
        return tuple(
            one
            if one.pool.owner in request.persons
            else replace(one, pool=replace(one.pool, name=""))
            for one in found
        )

    async def named_pool(self, request: RequestScope, text: str) -> PoolSummary:
        """Return a pool of the caller by its id or the first characters of it. Raises `NotFound`,
        `BadInput`."""
        found = [one for one in await self.own_pools(request) if _fits(one.pool.id, text)]
        if len(found) > 1:
            raise BadInput(AMBIGUOUS.of(id=verbatim(text[:40])))
        if not found:
            raise NotFound(NO_POOL)
        return found[0]


def _fits(id_: str, text: str) -> bool:
    return len(text) >= LEAST and id_.startswith(text.lower())


def _check_person(request: RequestScope) -> None:
    if request.agent:
        raise NotFound(ONLY_PEOPLE)


def _check_operator(request: RequestScope) -> None:
    _check_person(request)
    if not _operates(request):
        raise NotFound(OPERATORS_ONLY)


def _operates(request: RequestScope) -> bool:
    return request.principal.role.at_least(Role.OPERATOR)


MAX_BATCHES: Final = 1_000


class TakenBack(Struct, frozen=True):
    """The numbers of what was taken back."""

    memories: int
    shares: int
    handoffs: int
    reviews: int


class Origins(Struct, frozen=True):
    """Takes back what agents gave. Every method raises `StoreUnavailable`."""

    registry: AgentRegistry
    store: SqlOrigins
    audit: Audit
    clock: Clock

    async def take_back(
        self, request: RequestScope, agent_id: str, since: datetime = EVER
    ) -> TakenBack:
        """Take back everything that an agent gave since then, as far as the caller may: the agent's
        person, or an operator, who also ends shares and handoffs of other people's agents in the
        tenant. The agent may be unregistered already. Raises `NotFound` for the request of an
        agent: only a person takes back."""
        if request.agent:
            raise NotFound(ONLY_A_PERSON)
        access = access_scope_of(replace(request, agent=""))
        memories = await self.registry.take_back(request, agent_id, since)
        shares = handoffs = reviews = 0
        for _ in range(MAX_BATCHES):
            gone = await self.store.take_back(access, agent_id, since, self.clock.now())
            shares, handoffs = shares + gone.shares, handoffs + gone.handoffs
            reviews += gone.reviews
            if not gone.any:
                break
        taken = TakenBack(memories, shares, handoffs, reviews)
        await self.audit.note(
            "pool_operation",
            request,
            operation="take_back",
            agent=agent_id[:64],
            memories=memories,
            shares=shares,
            handoffs=handoffs,
            reviews=reviews,
        )
        return taken
