"""Opens the memory of one person, or the agents and pools, also while Parley runs."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final, TypeVar

import typer
from msgspec import Struct

from gateway.errors import ModelError, TenantUnknown, UsageError
from gateway.extensions import ExtensionRegistry
from gateway.immutable import replace
from gateway.message import Place
from gateway.pairing.admissions import role_with
from gateway.people import DEFAULT_TENANT, Audience, KnownIds, PersonId, Principal, Role
from gateway.ports import MembershipStatus, kept_ids
from gateway.ports.clock import SystemClock
from gateway.ports.memory import Caller
from gateway.turn.readers import Readers
from memory.actions.call import AgentServices
from memory.agents.model import AgentSummary, PoolSummary
from memory.agents.overview import LEAST
from memory.model.scope import RequestScope
from memory.ports.people import PersonCount
from memory.service.handle import Memory, MemoryHandle
from parley.cli.known_people import resolve_person
from parley.cli.stores import opened, settings_with_database
from parley.config import Settings
from parley.config.memory import BUILTIN
from parley.security.tokens import person_of
from parley.wiring.access import wire_access
from parley.wiring.extensions import load_extensions
from parley.wiring.live_configuration import stored_configuration
from parley.wiring.memory import close_backends, wire_memory
from parley.wiring.memory_backends import load_backends
from parley.wiring.policies import policies_of
from parley.wiring.recall import recall_models
from parley.wiring.storage import Storage

PLATFORM: Final = "cli"
MAX_PEOPLE: Final = 100_000
OFF: Final = "Memory is switched off (memory.enabled)."
NO_MEMORIES: Final = (
    "{person} has no memories. `parley memory people` lists the people with memories."
)
NO_TENANT: Final = "No account has a tenant of its own: name one with --tenant."
HOW_TO_NAME: Final = "name a person as PLATFORM:ACCOUNT:ID, as `parley memory people` shows it"
NO_AGENT: Final = "There is no agent {text!r}. `parley agents list` shows them."
NO_POOL: Final = "There is no pool {text!r}. `parley pools list` shows them."
AMBIGUOUS: Final = "Several ids begin with {text!r}. Write more of the id."
OPERATOR: Final = PersonId(PLATFORM, "main", "operator")

T = TypeVar("T")


Job = Callable[[MemoryHandle, Settings], Awaitable[T]]


def check_person(person: str) -> str:
    """The value of `--person`. Raises `typer.BadParameter` where it names no person."""
    if person.count(":") < 2:
        raise typer.BadParameter(HOW_TO_NAME, param_hint="--person")
    return person


def with_memory(
    person: str,
    config: Path | None,
    job: Job[T],
    *,
    allow_unknown: bool = False,
    load_models: bool = False,
) -> T:
    """The result of `job` with this person's memory; `load_models` loads the models of recall for
    it, which takes seconds.

    Raises `BadInput` when memory is off, `typer.BadParameter` without a person. A person without
    memories is refused, unless `allow_unknown` is set.
    """
    given = person_of(check_person(person))
    settings = settings_with_database(config)
    extensions = load_extensions(settings)

    async def run() -> T:
        async with opened_memory(settings, load_models=load_models) as (storage, memory, _):
            caller = await caller_for(settings, storage, extensions, given)
            known = await _known(storage, caller.principal.tenant)
            has_memories = allow_unknown or str(caller.principal.person) in {
                one.person for one in known
            }
            if not has_memories and settings.memory.places != (BUILTIN,):
                has_memories = bool(await (await memory.for_principal(caller)).read.count())
            if not has_memories:
                raise UsageError(NO_MEMORIES.format(person=person))
            return await job(await memory.for_principal(caller), settings)

    return asyncio.run(run())


class AssumedMembership:
    """Implements `MembershipCheck` without a platform: a person who was seen in a project lately
    counts as a member. The user of the terminal can read the database anyway."""

    async def belongs(self, person: str, project: str) -> MembershipStatus:
        """Always a member."""
        return MembershipStatus.MEMBER


def people_with_memories(config: Path | None, tenant: str) -> list[PersonCount]:
    """The people of a tenant with counts of their memories; without a tenant, those of all tenants
    of the configured accounts. Raises `BadInput` where these have no tenant of their own."""
    settings = settings_with_database(config)
    tenants = chosen_tenants(settings, load_extensions(settings), tenant)

    async def run() -> list[PersonCount]:
        async with opened_memory(settings) as (storage, *_):
            return [one for each in tenants for one in await _known(storage, each)]

    return asyncio.run(run())


def chosen_tenants(settings: Settings, extensions: ExtensionRegistry, tenant: str) -> list[str]:
    """The named tenant, or those of the accounts. Raises `BadInput` where there is none."""
    tenants = [tenant] if tenant else tenants_of_accounts(settings, extensions)
    if not tenants:
        raise UsageError(NO_TENANT)
    return tenants


def tenants_of_accounts(settings: Settings, extensions: ExtensionRegistry) -> list[str]:
    """The tenants to which whole accounts belong, without those that people decide on."""
    if not extensions.has_tenants:
        return [DEFAULT_TENANT]
    tenants = []
    for account in settings.accounts():
        place = Place(account.platform, account.name, "", Audience.DIRECT)
        with suppress(TenantUnknown):
            tenants.append(extensions.tenant_of(place, None))
    return list(dict.fromkeys(tenants))


@asynccontextmanager
async def opened_memory(
    settings: Settings, *, load_models: bool = False
) -> AsyncIterator[tuple[Storage, Memory, AgentServices]]:
    """The opened stores, the memory and the agents of a configuration. Raises `BadInput` where
    memory is off."""
    clock = SystemClock()
    storage, models = Storage(settings, clock), recall_models(settings)
    backends = load_backends(settings, clock)
    try:
        wired = wire_memory(
            settings, storage, clock, models, check=AssumedMembership(), backends=backends
        )
        if wired.memory is None or wired.consolidation is None or wired.agents is None:
            raise UsageError(OFF)
        async with opened(storage):
            await wired.start()
            await wired.consolidation.everything()
            if load_models:
                with suppress(ModelError):  # the result of recall names the missing model
                    await models.warm()
            yield storage, wired.memory, wired.agents
    finally:
        await models.close()
        await close_backends(backends)


async def caller_for(
    settings: Settings, storage: Storage, extensions: ExtensionRegistry, given: PersonId
) -> Caller:
    """The caller of a request that the user of the terminal makes for a person, in whose time zone
    days are counted."""
    person = await resolve_person(given, storage.stores.states) or given
    tenant = extensions.tenant_of_person(person)
    role = await _role(settings, storage, tenant, person)
    caller = _caller(Principal(tenant, person, role))
    readers = Readers(storage.people_languages, SystemClock())
    zone = await readers.zone(settings.time, tenant, str(person), caller.place)
    return replace(caller, zone=zone)


async def _known(storage: Storage, tenant: str) -> list[PersonCount]:
    return await storage.memory.counts.known(tenant, MAX_PEOPLE)


async def _role(settings: Settings, storage: Storage, tenant: str, person: PersonId) -> Role:
    """The person's role in chat: of the configured lists, or stored by an owner code. Raises
    `StoreUnavailable`."""
    admissions = wire_access(settings, storage, SystemClock()).admissions
    await admissions.refresh()
    state = storage.stores.states.of(person.platform, person.account)
    known = await kept_ids(state, person.id) or KnownIds()
    lists = policies_of((await stored_configuration(settings, storage)).settings).roles
    return role_with(admissions, lists, tenant, person, aliases=known.current)


def _caller(principal: Principal) -> Caller:
    person = principal.person
    return Caller(
        id=f"{PLATFORM}:{person}",
        principal=principal,
        name=str(person),
        place=Place(PLATFORM, "main", str(person), Audience.DIRECT),
        conversation=f"{PLATFORM}/{person}",
        at=SystemClock().now(),
    )


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
        raise UsageError(unknown.format(text=text[:40]))
    if len(matches) > 1:
        raise UsageError(AMBIGUOUS.format(text=text[:40]))
    return matches[0]
