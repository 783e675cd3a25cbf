"""Agents and pools over both databases."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.immutable import replace
from gateway.message import Place
from gateway.people import Audience, Role
from gateway.ports.memory import Caller
from memory.agents.model import (
    Agent,
    AgentLimits,
    AgentType,
    Permission,
    Pool,
    PoolEntry,
    PoolInvitation,
    SharedScope,
)
from memory.model.record import Draft, Kind, Scope
from memory.model.scope import RequestScope
from memory.service.handle import MemoryHandle
from parley.wiring.agents import WiredAgents, wire_agents
from parley.wiring.storage import MemoryStores
from tests.memory.rig import Rig, rig_on
from tests.support.clock import FakeClock
from tests.support.databases import Engine, sqlite_database, started

API = Place("telegram", "main", "", Audience.DIRECT)
ROOM = Place("telegram", "main", "-100", Audience.PRIVATE_ROOM)


@dataclass
class Agents:
    """People who have agents."""

    rig: Rig
    wired: WiredAgents
    engine: Engine
    clock: FakeClock
    projects: dict[str, str] = field(default_factory=dict)

    def limited(self, **limits: int) -> "Agents":
        """The same with other limits."""
        wired = wire_agents(
            self.rig.stores, self.rig.people, self.rig.path, self.clock, AgentLimits(**limits)
        )
        return replace(self, wired=wired)

    async def handle(
        self, name: str = "ada", *, agent: str = "", tenant: str = "", **caller: Any
    ) -> MemoryHandle:
        """The memory of a person in private."""
        request: Caller = self.rig.caller(name, at=API, **caller)
        if tenant:
            request = replace(request, principal=replace(request.principal, tenant=tenant))
        handle = await self.rig.memory.for_principal(request)
        return handle.for_agent(agent) if agent else handle

    async def request(self, name: str = "ada", **caller: Any) -> RequestScope:
        """A request of a person in private."""
        return (await self.handle(name, **caller)).request

    async def operator(self, name: str = "root") -> RequestScope:
        return await self.request(name, role=Role.OPERATOR)

    async def remember(
        self, name: str, text: str, kind: Kind = Kind.FACT, scope: Scope = Scope.USER, **who: Any
    ) -> str:
        """Store a memory of a person; its id."""
        handle = await self.handle(name, **who)
        result = await handle.write.remember(Draft(text, kind, scope=scope))
        assert result.memory_id, result
        return result.memory_id

    async def agent(self, name: str, kind: AgentType = AgentType.CLAUDE_CODE) -> Agent:
        """Register an agent of a person."""
        return await self.wired.registry.register_agent(await self.request(name), kind)

    async def pool(
        self, owner: str, *members: Agent, scope: SharedScope = SharedScope.TEAM
    ) -> Pool:
        """A pool of a person, with members that may write."""
        request = await self.request(owner)
        pool = await self.wired.pools.create_pool(request, "auth refactor", scope)
        for member in members:
            await self.join(owner, pool, member)
        return pool

    async def join(
        self, owner: str, pool: Pool, agent: Agent, permission: Permission = Permission.WRITE
    ) -> None:
        """Add an agent to a pool of this person; the person of another one's agent accepts."""
        request = await self.request(owner)
        joined = await self.wired.pools.join_pool(request, pool.id, agent.id, permission)
        assert joined
        if isinstance(joined, PoolInvitation):
            invited = await self.request(agent.owner.rpartition(":")[2])
            await self.wired.pools.invitations.accept(invited, joined.id)

    async def entries(self, name: str, pool: Pool, agent: Agent) -> list[PoolEntry]:
        """The texts that an agent reads in a pool."""
        result = await self.wired.pools.query_shared(
            await self.request(name), pool.id, agent.id, SharedScope.GLOBAL
        )
        assert isinstance(result, tuple)
        return list(result)

    def noted(self, action: str) -> list[Mapping[str, str | int]]:
        """The details of the audit entries of an action."""
        entries = self.rig.noted.entries
        return [dict(entry.details) for entry in entries if entry.action == action]


@pytest.fixture
async def agents(engine: Engine, clock: FakeClock) -> AsyncIterator[Agents]:
    async with started(sqlite_database(":memory:")) as hot:
        stores = MemoryStores(engine, clock)
        rig = rig_on(stores, hot, clock)
        wired = wire_agents(stores, rig.people, rig.path, clock, AgentLimits())
        yield Agents(rig, wired, engine, clock)
