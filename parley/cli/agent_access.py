"""Opens the agents and pools of a configuration for a command, also while Parley runs."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeVar

from msgspec import Struct

from gateway.errors import BadInput
from gateway.extensions import ExtensionRegistry
from gateway.message import Place
from gateway.people import Audience, PersonId, Principal, Role
from gateway.ports.clock import SystemClock
from memory.agents.model import AgentSummary, PoolSummary
from memory.agents.overview import LEAST
from memory.agents.services import AgentServices
from memory.model.scope import RequestScope
from memory.service.handle import Memory
from parley.cli.memory_access import (
    PLATFORM,
    caller_for,
    chosen_tenants,
    opened_memory,
)
from parley.cli.stores import settings_with_database
from parley.config import Settings
from parley.security.tokens import person_of
from parley.wiring.extensions import load_extensions
from parley.wiring.storage import Storage

NO_AGENT: Final = "There is no agent {text!r}. `parley agents list` shows them."
NO_POOL: Final = "There is no pool {text!r}. `parley pools list` shows them."
AMBIGUOUS: Final = "Several ids begin with {text!r}. Write more of the id."
OPERATOR: Final = PersonId(PLATFORM, "main", "operator")

T = TypeVar("T")


class OpenedAgents(Struct, frozen=True):
    """The agents of the configured tenants, or of one."""

    services: AgentServices
    memory: Memory
    storage: Storage
    settings: Settings
    extensions: ExtensionRegistry
    tenants: tuple[str, ...]

    async def agents(self) -> list[AgentSummary]:
        """All agents, with numbers and without names."""
        overview = self.services.overview
        return [
            one for each in self.tenants for one in await overview.all_agents(operator_of(each))
        ]

    async def pools(self) -> list[PoolSummary]:
        """All pools, with numbers and without names."""
        overview = self.services.overview
        return [one for each in self.tenants for one in await overview.all_pools(operator_of(each))]

    async def agent(self, text: str) -> AgentSummary:
        """The agent with this id, or whose id begins so. Raises `BadInput`."""
        agents = [one for one in await self.agents() if _fits(one.id, text)]
        return _only(agents, text, NO_AGENT)

    async def pool(self, text: str) -> PoolSummary:
        """The pool with this id, or whose id begins so. Raises `BadInput`."""
        pools = [one for one in await self.pools() if _fits(one.pool.id, text)]
        return _only(pools, text, NO_POOL)

    async def person(self, person: str) -> RequestScope:
        """A request of a person. Raises `BadInput` for a person who may be several."""
        given = person_of(person)
        caller = await caller_for(self.settings, self.storage, self.extensions, given)
        return (await self.memory.for_principal(caller)).request


def with_agents(
    config: Path | None, job: Callable[[OpenedAgents], Awaitable[T]], tenant: str = ""
) -> T:
    """The result of `job` with the agents. Raises `BadInput` where memory is off."""
    settings = settings_with_database(config)
    extensions = load_extensions(settings)
    tenants = chosen_tenants(settings, extensions, tenant)

    async def run() -> T:
        async with opened_memory(settings) as (storage, memory, services):
            return await job(
                OpenedAgents(services, memory, storage, settings, extensions, tuple(tenants))
            )

    return asyncio.run(run())


def operator_of(tenant: str) -> RequestScope:
    """The request of the user of the terminal, who reads the numbers of a tenant."""
    person = str(OPERATOR)
    place = Place(PLATFORM, "main", person, Audience.DIRECT)
    principal = Principal(tenant, OPERATOR, Role.OPERATOR)
    return RequestScope(principal, (person,), place, SystemClock().now())


def _fits(id_: str, text: str) -> bool:
    return len(text) >= LEAST and id_.startswith(text.lower())


def _only(matches: list[T], text: str, unknown: str) -> T:
    if not matches:
        raise BadInput(unknown.format(text=text[:40]))
    if len(matches) > 1:
        raise BadInput(AMBIGUOUS.format(text=text[:40]))
    return matches[0]
