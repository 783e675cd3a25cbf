"""`parley knowledge bind | unbind | bindings`: the channels that are bound to a project."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Final, TypeVar

import typer

from gateway.errors import UsageError
from gateway.people import DEFAULT_TENANT
from gateway.ports.clock import SystemClock
from memory.knowledge.bindings import RoomBindings
from memory.stores.audit import Audit
from parley.cli.options import Config
from parley.cli.stores import read_settings, with_database
from parley.cli.terminal import print_text, show_rows
from parley.config import Settings
from parley.config.sections import MEMORY
from parley.security.keys import audit_key
from parley.wiring.storage import LongLived

T = TypeVar("T")
Channel = Annotated[
    str,
    typer.Argument(help="PLATFORM:ACCOUNT:WORKSPACE:CHANNEL, as `/project` shows it there."),
]
Tenant = Annotated[str, typer.Option("--tenant", help="The tenant of the channel.")]
NOT_KEPT: Final = (
    "The database is in the memory of the running program. Bind a channel there: `/project bind`."
)


def bind(
    channel: Channel,
    project: Annotated[str, typer.Argument(help="A project, such as slack:main:T0123.")],
    tenant: Tenant = DEFAULT_TENANT,
    config: Config = None,
) -> int:
    """Let people search the repositories of a project in a channel, also while Parley runs."""
    _with_bindings(read_settings(config), lambda some: some.bind(tenant, channel, project))
    print_text(f"{channel} is bound to {project}.\n")
    return 0


def unbind(channel: Channel, tenant: Tenant = DEFAULT_TENANT, config: Config = None) -> int:
    """End the binding of a channel, also while Parley runs."""
    project = _with_bindings(read_settings(config), lambda some: some.unbind(tenant, channel))
    if not project:
        raise UsageError(f"{channel} is not bound. `parley knowledge bindings` lists the channels.")
    print_text(f"{channel} is no longer bound to {project}.\n")
    return 0


def show(tenant: Tenant = DEFAULT_TENANT, config: Config = None) -> int:
    """List the bound channels of a tenant."""
    bound = _with_bindings(read_settings(config), lambda some: some.all(tenant))
    rows = ((one.channel, one.project, f"{one.at:%Y-%m-%d %H:%M} UTC") for one in bound)
    show_rows((), ("channel", "project", "since"), rows, "No channel is bound.")
    return 0


def _with_bindings(settings: Settings, job: Callable[[RoomBindings], Awaitable[T]]) -> T:
    if settings.database.url == MEMORY:
        raise UsageError(NOT_KEPT)
    clock, key = SystemClock(), audit_key(settings)

    async def work(stores: LongLived) -> T:
        audit = Audit(stores.memory.audit_on(key).append, key, clock)
        return await job(RoomBindings(stores.memory.room_bindings, audit, clock))

    return with_database(settings, work)
