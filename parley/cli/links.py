"""`parley page` and `parley console link`: links that sign one browser in to a running program."""

import sys
from typing import Annotated, Final

import typer

from gateway.errors import StartError, UsageError
from gateway.people import DEFAULT_TENANT
from gateway.ports.clock import SystemClock
from parley.cli.known_people import check_account, seen_person
from parley.cli.options import Config
from parley.cli.running_program import address_of, fetch, request_to
from parley.cli.stores import (
    command_settings,
    require_database,
    settings_with_database,
    with_storage,
)
from parley.config import Settings
from parley.console.mount import sessions_of
from parley.console.viewer import LOCAL_OPERATOR
from parley.http.access_layers import PATH
from parley.security.tokens import person_of
from parley.wiring.extensions import load_extensions
from parley.wiring.storage import Storage

OFF: Final = "The console is off: set console.enabled."
NO_PORT: Final = "server.port is 0, so the address is unknown: set server.port, or console.url."
NOT_RUNNING: Final = "No Parley answers on {address}."
START: Final = (
    "Start it with `parley run`, with the same configuration; in a container, run this there."
)
NO_PAGE: Final = "This process serves no page: platforms.web.enabled is off, or its role is worker."


def link(
    person: Annotated[
        str, typer.Argument(help="PLATFORM:ACCOUNT:ID, such as telegram:main:123.")
    ] = "",
    operator: Annotated[
        bool,
        typer.Option("--operator", help="For yourself, as an owner without a chat account."),
    ] = False,
    tenant: Annotated[str, typer.Option(help="The tenant that --operator sees.")] = DEFAULT_TENANT,
    config: Config = None,
) -> int:
    """Print a link that signs one browser in, once."""
    if bool(person) == operator:
        raise typer.BadParameter("write a person, or --operator", param_hint="PERSON")
    settings = settings_with_database(config)
    if not settings.console.enabled:
        raise UsageError(OFF)
    if settings.server.port == 0 and settings.console.url is None:
        raise UsageError(NO_PORT)
    made = _for_person(settings, person) if person else _new(settings, tenant, str(LOCAL_OPERATOR))
    sys.stdout.write(f"{made}\n")
    who = person or "an owner without a chat account"
    sys.stderr.write(
        f"For {who}. It works once, within {settings.console.link_minutes} minutes; whoever opens "
        "it is signed in.\n"
    )
    return 0


def _for_person(settings: Settings, person: str) -> str:
    given = person_of(person)
    check_account(settings, given)
    require_database(settings, hot=True)

    async def job(storage: Storage) -> str:
        known = await seen_person(given, storage.stores.states)
        tenant = load_extensions(settings).tenant_of_person(known)
        return await _link(settings, storage, tenant, str(known))

    return with_storage(settings, job)


def _new(settings: Settings, tenant: str, person: str) -> str:
    return with_storage(settings, lambda storage: _link(settings, storage, tenant, person))


async def _link(settings: Settings, storage: Storage, tenant: str, person: str) -> str:
    sessions = sessions_of(settings, storage, SystemClock(), lambda: address_of(settings))
    return await sessions.link(tenant, person)


def page(config: Config = None) -> int:
    """Print links to the pages of a running program. Each admits one browser within ten minutes."""
    settings = command_settings(config)
    request = request_to(settings, PATH, method="POST")
    try:
        links = fetch(request).get("links")
    except (OSError, ValueError) as error:
        raise StartError(NOT_RUNNING.format(address=request.host), START) from error
    if not isinstance(links, list):
        raise StartError(f"The program on {request.host} gives no link.", START)
    if not links:
        raise StartError(NO_PAGE)
    sys.stdout.write("".join(f"{link}\n" for link in links))
    return 0
