"""Opens one person's memory for a command, also while a gateway works on it."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from gateway.errors import BadInput, ModelError, TenantUnknown
from gateway.extensions import ExtensionRegistry
from gateway.message import Place
from gateway.observe.logs import configure_logs
from gateway.people import DEFAULT_TENANT, Audience, PersonId, Principal
from gateway.policy.roles import role_of
from gateway.ports import MembershipStatus
from gateway.ports.clock import SystemClock
from gateway.ports.memory import Caller
from memory.ports.personal_data import PersonCount
from memory.service.handle import Memory, MemoryHandle
from parley.cli.known_people import resolve_person
from parley.config import Settings, load
from parley.config.sections import MEMORY, sqlite_file
from parley.extensions import load_extensions
from parley.wiring.memory import wire_memory
from parley.wiring.policies import policies_of
from parley.wiring.recall_models import recall_models
from parley.wiring.storage import Storage

PLATFORM: Final = "cli"
MAX_PEOPLE: Final = 100_000
OFF: Final = "Memory is switched off (memory.enabled)."
WHO: Final = "A person is PLATFORM:ACCOUNT:ID, as `parley memory people` shows them."

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PersonOptions:
    """What every command is told: whose memory, and which configuration."""

    person: str
    config: Path | None
    env: Mapping[str, str]
    as_json: bool = False


Job = Callable[[MemoryHandle, Settings], Awaitable[T]]


def with_memory(
    wanted: PersonOptions, job: Job[T], *, stranger: bool = False, by_meaning: bool = False
) -> T:
    """The result of `job` with this person's memory; `by_meaning` loads the models of recall for
    it, which takes seconds.

    Raises `BadInput` when memory is off, or nothing is known of the person; with `stranger` that
    does not matter.
    """
    typed = person_of(wanted.person)

    async def run() -> T:
        async with _opened(settings, warm=by_meaning) as (storage, memory):
            person = await resolve_person(typed, storage.stores.states) or typed
            caller = _asker(settings, extensions, person)
            known = await _known(storage, caller.principal.tenant)
            if not stranger and str(person) not in {one.person for one in known}:
                raise BadInput(f"Nothing is remembered of {wanted.person}. {WHO}")
            return await job(await memory.for_principal(caller), settings)

    settings = readable(wanted.config, wanted.env)
    extensions = load_extensions(settings)
    return asyncio.run(run())


class AssumedMembership:
    """Implements `MembershipCheck` at the terminal, where no platform is connected: who was seen
    in a project lately counts as a member, because who runs this reads the database anyway."""

    async def belongs(self, person: str, project: str) -> MembershipStatus:
        """Always a member."""
        return MembershipStatus.MEMBER


def people(config: Path | None, env: Mapping[str, str], tenant: str = "") -> list[PersonCount]:
    """Of whom of a tenant there is something, and how much; without one, of whom of the tenants of
    the configured accounts. Raises `BadInput` where these have none of their own."""
    settings = readable(config, env)
    tenants = [tenant] if tenant else tenants_of_accounts(settings, load_extensions(settings))
    if not tenants:
        raise BadInput("No account has a tenant of its own: name one with --tenant.")

    async def run() -> list[PersonCount]:
        async with _opened(settings) as (storage, _):
            return [one for each in tenants for one in await _known(storage, each)]

    return asyncio.run(run())


def tenants_of_accounts(settings: Settings, extensions: ExtensionRegistry) -> list[str]:
    """The tenants to which whole accounts belong, without those that people decide on."""
    if not extensions.has_tenants:
        return [DEFAULT_TENANT]
    found = []
    for account in settings.accounts():
        place = Place(account.platform, account.name, "", Audience.DIRECT)
        with suppress(TenantUnknown):
            found.append(extensions.tenant_of(place, None))
    return list(dict.fromkeys(found))


def readable(config: Path | None, env: Mapping[str, str]) -> Settings:
    """The configuration. Raises `BadInput` where there is no database that could be read."""
    settings = load(config, env)
    configure_logs(level=logging.WARNING)
    file = sqlite_file(settings.database.url)
    if settings.database.url == MEMORY:
        raise BadInput("The database is in the gateway's own memory: nobody else can read it.")
    if file and not Path(file).exists():
        raise BadInput(f"There is no database at {file} yet.")
    return settings


def person_of(text: str) -> PersonId:
    """The person of `str(PersonId)`. Raises `BadInput` for anything else."""
    platform, _, rest = text.partition(":")
    account, _, own = rest.partition(":")
    if not (platform and account and own):
        raise BadInput(WHO)
    return PersonId(platform, account, own)


@asynccontextmanager
async def _opened(
    settings: Settings, *, warm: bool = False
) -> AsyncIterator[tuple[Storage, Memory]]:
    clock = SystemClock()
    storage, models = Storage(settings, clock), recall_models(settings)
    try:
        wired = wire_memory(
            settings,
            storage.memory,
            storage.personal,
            storage.stores.states,
            storage.history,
            clock,
            models,
            check=AssumedMembership(),
            working=storage.working,
        )
        if wired.memory is None or wired.consolidation is None:
            raise BadInput(OFF)
        await storage.start(exclusive=False)
        await wired.consolidation.everything()
        if warm:
            with suppress(ModelError):  # recall says of itself what it went without
                await models.warm()
        yield storage, wired.memory
    finally:
        await models.close()
        await storage.stop()


async def _known(storage: Storage, tenant: str) -> list[PersonCount]:
    return await storage.memory.census.known(tenant, MAX_PEOPLE)


def _asker(settings: Settings, extensions: ExtensionRegistry, person: PersonId) -> Caller:
    place = _place(str(person))
    role = role_of(person, policies_of(settings).roles)
    return Caller(
        id=f"{PLATFORM}:{person}",
        principal=Principal(extensions.tenant_of_person(person), person, role),
        name=str(person),
        place=place,
        conversation=f"{PLATFORM}/{person}",
        at=SystemClock().now(),
    )


def _place(person: str) -> Place:
    return Place(PLATFORM, "main", person, Audience.DIRECT)
