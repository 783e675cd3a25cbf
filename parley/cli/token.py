"""`parley token`: tokens with which people reach what is theirs over HTTP."""

import asyncio
import logging
import secrets
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final, TypeVar

from gateway.errors import BadInput
from gateway.observe.logs import configure_logs
from gateway.ports.clock import SystemClock
from memory.ports.api_tokens import MAX_NAME, ApiToken, TokenStore
from parley.cli.known_people import resolve_stored_person
from parley.config import Settings, load
from parley.config.sections import MEMORY
from parley.extensions import load_extensions
from parley.security.token_key import token_key
from parley.security.tokens import TokenClaims, issue, person_of
from parley.wiring.storage.long_lived import open_long_lived

ID_BYTES: Final = 6
NOBODY_LISTS: Final = "The database is in the gateway's own memory: nothing is listed there."
NOBODY_YET: Final = (
    "Nobody whom this platform names {person} has written to the assistant yet, and it gives people"
    " several ids. Let them write once, then try again."
)
COLUMNS: Final = "{:<20} {:<40} {:<17} {}\n"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """For whom a token is, and how it is called; without a name its id is its name."""

    person: str
    name: str = ""
    days: int = 30


def run(asked: TokenRequest, config: Path | None, env: Mapping[str, str]) -> int:
    """Print a token for this person. Raises `BadInput` for somebody of no account of ours, and for
    a name that is taken."""
    settings = _loaded(config, env)
    typed = person_of(asked.person)
    _check_account(settings, typed.platform, typed.account)
    known = asyncio.run(resolve_stored_person(typed, settings))
    if known is None:
        raise BadInput(NOBODY_YET.format(person=typed))
    tenant = load_extensions(settings).tenant_of_person(known)
    key, now = token_key(settings).made(), SystemClock().now()
    until = now + timedelta(days=asked.days)
    id_ = secrets.token_hex(ID_BYTES)
    name = _checked(asked.name or id_)
    if settings.database.url == MEMORY:
        id_ = name = ""
    else:
        kept = ApiToken(id_, name, tenant, str(known), now, until)
        if not _with_tokens(settings, lambda tokens: tokens.add(kept)):
            raise BadInput(f"There is a token {name} already: revoke it, or take another name.")
    sys.stdout.write(f"{issue(key, TokenClaims(known, tenant, until, id_))}\n")
    called = f" `parley token revoke {name}` takes it back." if name else ""
    sys.stderr.write(
        f"For {known}, until {until:%Y-%m-%d %H:%M} UTC. Whoever has it is them.{called}\n"
    )
    return 0


def show(config: Path | None, env: Mapping[str, str]) -> int:
    """List the tokens that have not expired. No token is shown: only who has one."""
    now = SystemClock().now()
    found = _with_tokens(_loaded(config, env), lambda tokens: tokens.listed(now))
    if not found:
        sys.stdout.write("No token is in use.\n")
        return 0
    sys.stdout.write(COLUMNS.format("NAME", "PERSON", "UNTIL (UTC)", "TENANT"))
    for token in found:
        until = f"{token.until:%Y-%m-%d %H:%M}"
        sys.stdout.write(COLUMNS.format(token.name, token.person, until, token.tenant))
    return 0


def revoke(name: str, config: Path | None, env: Mapping[str, str]) -> int:
    """Make one token worthless, at once. Raises `BadInput` where there is none of this name."""
    gone = _with_tokens(_loaded(config, env), lambda tokens: tokens.revoke(name))
    if gone is None:
        raise BadInput(f"There is no token {name}. `parley token list` shows them.")
    sys.stdout.write(f"The token {gone.name} of {gone.person} is revoked.\n")
    return 0


def revoke_all(config: Path | None, env: Mapping[str, str]) -> int:
    """Make every token worthless, at once."""
    settings = _loaded(config, env)
    token_key(settings).revoke_all()
    if settings.database.url != MEMORY:
        _with_tokens(settings, lambda tokens: tokens.clear())
    sys.stdout.write("Every token is revoked.\n")
    return 0


def _loaded(config: Path | None, env: Mapping[str, str]) -> Settings:
    settings = load(config, env)
    configure_logs(level=logging.WARNING)
    return settings


def _with_tokens(settings: Settings, job: Callable[[TokenStore], Awaitable[T]]) -> T:
    if settings.database.url == MEMORY:
        raise BadInput(NOBODY_LISTS)

    async def work() -> T:
        async with _opened(settings) as tokens:
            return await job(tokens)

    return asyncio.run(work())


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[TokenStore]:
    lasting = open_long_lived(settings.database.url, SystemClock())
    try:
        await lasting.start()
        yield lasting.memory.tokens
    finally:
        await lasting.stop()


def _checked(name: str) -> str:
    if len(name) > MAX_NAME or not name.isprintable() or name.strip() != name or ":" in name:
        raise BadInput(f"A name has at most {MAX_NAME} characters, no colon and no control in it.")
    return name


def _check_account(settings: Settings, platform: str, account: str) -> None:
    ours = [f"{each.platform}:{each.name}" for each in settings.accounts()]
    if f"{platform}:{account}" not in ours:
        listed = ", ".join(ours) or "none"
        raise BadInput(f"There is no account {platform}:{account} here. There is: {listed}.")
