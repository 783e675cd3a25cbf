"""`parley token`: tokens with which people and their agents reach memory over HTTP and MCP."""

import asyncio
import secrets
import sys
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import Annotated, Final, TypeVar

import typer

from gateway.errors import UsageError
from gateway.ports.clock import SystemClock
from gateway.ports.rights import EVERY_SCOPE, TokenScope
from memory.agents.model import Agent
from memory.stores.api_tokens import MAX_NAME, ApiToken
from parley.cli.known_people import check_account, resolve_stored_person
from parley.cli.options import Config
from parley.cli.stores import read_settings, with_database
from parley.cli.terminal import show_rows
from parley.config import Settings
from parley.config.sections import MEMORY
from parley.security.keys import token_key
from parley.security.tokens import TokenClaims, issue, person_of
from parley.wiring.extensions import load_extensions
from parley.wiring.storage import MemoryStores

MAX_DAYS: Final = 365
ID_BYTES: Final = 6
NO_LIST: Final = (
    "The database is in the memory of the running program: it keeps no list of tokens or agents."
)
COLUMNS: Final = ("name", "person", "until", "scopes", "agent", "tenant")
MAX_AGENTS: Final = 10_000
LEAST: Final = 4
"""Characters of the id of an agent that have to be written."""
NO_AGENT: Final = (
    "{person} has no agent {text}. `parley agents list --person {person}` shows theirs, and "
    "`parley agents register {person}` makes one."
)
AMBIGUOUS: Final = "Several agents have an id that begins with {text}. Write more of it."

T = TypeVar("T")


def token(
    person: Annotated[
        str,
        typer.Argument(help="PLATFORM:ACCOUNT:ID, such as telegram:main:123; or list, or revoke."),
    ] = "",
    revoked: Annotated[str, typer.Argument(metavar="NAME", help="The token to revoke.")] = "",
    name: Annotated[str, typer.Option(help="The name of the token, which `revoke` needs.")] = "",
    days: Annotated[int, typer.Option(min=1, max=MAX_DAYS, help="Days until it expires.")] = 30,
    revoke_all: Annotated[
        bool, typer.Option("--revoke-all", help="Revoke every token instead.")
    ] = False,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="The token reads, and changes nothing.")
    ] = False,
    agent: Annotated[
        str,
        typer.Option(metavar="ID", help="The token is one of this agent of the person, alone."),
    ] = "",
    config: Config = None,
) -> int:
    """Print, list or revoke tokens."""
    if bool(person) == revoke_all:
        raise typer.BadParameter(
            "write a person, `list`, `revoke` and a name, or --revoke-all", param_hint="PERSON"
        )
    if bool(revoked) != (person == "revoke"):
        raise typer.BadParameter("`parley token revoke NAME`", param_hint="NAME")
    settings = read_settings(config)
    if revoke_all:
        _revoke_all(settings)
    elif person == "list":
        _list(settings)
    elif person == "revoke":
        _revoke(settings, revoked)
    else:
        scopes = frozenset({TokenScope.READ}) if read_only else EVERY_SCOPE
        _issue(settings, person, name, days, scopes, agent)
    return 0


def _issue(
    settings: Settings,
    person: str,
    name: str,
    days: int,
    scopes: frozenset[TokenScope],
    agent: str,
) -> None:
    """Print a token. Raises `BadInput` for a person of an account that is not configured, an agent
    of somebody else, and a name in use."""
    given = person_of(person)
    check_account(settings, given)
    known = asyncio.run(resolve_stored_person(given, settings))
    tenant = load_extensions(settings).tenant_of_person(known)
    if agent:
        agent = _agent_of(settings, tenant, str(known), agent)
    key, now = token_key(settings).get_or_create(), SystemClock().now()
    until = now + timedelta(days=days)
    id_ = secrets.token_hex(ID_BYTES)
    name = _checked(name or id_)
    if settings.database.url == MEMORY:
        id_ = name = ""
    else:
        kept = ApiToken(id_, name, tenant, str(known), now, until, scopes, agent)
        if not _with_stores(settings, lambda stores: stores.tokens.add(kept)):
            raise UsageError(f"There is a token {name} already: revoke it, or take another name.")
    claims = TokenClaims(known, tenant, until, id_, scopes, agent)
    sys.stdout.write(f"{issue(key, claims)}\n")
    advice = f" `parley token revoke {name}` revokes it." if name else ""
    acts = "act" if scopes == EVERY_SCOPE else "read"
    whose, who = (f"the agent {agent} of {known}", "agent") if agent else (known, "person")
    sys.stderr.write(
        f"For {whose}, until {until:%Y-%m-%d %H:%M} UTC. Anyone with this token can {acts} as this "
        f"{who}.{advice} `parley mcp config` prints the configuration of MCP clients.\n"
    )


def _agent_of(settings: Settings, tenant: str, person: str, text: str) -> str:
    """Return the id of the agent of this person, or of a linked identity, whose id begins so.
    Raises `BadInput` for none or several."""

    async def found(stores: MemoryStores) -> Sequence[Agent]:
        linked = await stores.links.linked(tenant, person)
        persons = [person, *(other.side.person for other in linked)]
        return await stores.agents.of_persons(tenant, persons, MAX_AGENTS)

    agents = _with_stores(settings, found) if len(text) >= LEAST else ()
    ids = [one.id for one in agents if one.id.startswith(text.lower())]
    if not ids:
        raise UsageError(NO_AGENT.format(person=person, text=text[:40]))
    if len(ids) > 1:
        raise UsageError(AMBIGUOUS.format(text=text[:40]))
    return ids[0]


def _list(settings: Settings) -> None:
    """Print the tokens that have not expired, without the tokens themselves."""
    now = SystemClock().now()
    tokens = _with_stores(settings, lambda stores: stores.tokens.listed(now))
    rows = (
        (
            one.name,
            one.person,
            f"{one.until:%Y-%m-%d %H:%M} UTC",
            ", ".join(sorted(one.scopes)),
            one.agent or "-",
            one.tenant,
        )
        for one in tokens
    )
    show_rows((), COLUMNS, rows, "No token is in use.")


def _revoke(settings: Settings, name: str) -> None:
    """Revoke one token at once. Raises `BadInput` where there is none of this name."""
    revoked = _with_stores(settings, lambda stores: stores.tokens.revoke(name))
    if revoked is None:
        raise UsageError(f"There is no token {name}. `parley token list` shows them.")
    sys.stdout.write(f"The token {revoked.name} of {revoked.person} is revoked.\n")


def _revoke_all(settings: Settings) -> None:
    """Revoke every token at once."""
    token_key(settings).revoke_all()
    if settings.database.url != MEMORY:
        _with_stores(settings, lambda stores: stores.tokens.clear())
    sys.stdout.write("Every token is revoked.\n")


def _with_stores(settings: Settings, job: Callable[[MemoryStores], Awaitable[T]]) -> T:
    if settings.database.url == MEMORY:
        raise UsageError(NO_LIST)

    return with_database(settings, lambda stores: job(stores.memory))


def _checked(name: str) -> str:
    if len(name) > MAX_NAME or not name.isprintable() or name.strip() != name or ":" in name:
        raise UsageError(
            f"A name has at most {MAX_NAME} characters, no colon and no control characters."
        )
    return name
