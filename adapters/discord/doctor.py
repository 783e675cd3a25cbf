"""Is the account set up right? Questions to Discord, each with what to do about a "no"."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final

import aiohttp
import discord

from adapters.discord.api import AccountHTTP
from adapters.discord.commands import definitions, registered, same
from adapters.discord.connection import PORTAL, start_error
from adapters.discord.manifest import DiscordSettings
from adapters.discord.raw import identity, integer, mapping, mappings, text
from gateway.ports import Check, CommandSpec

DOCTOR_SECONDS: Final = 30.0
READS_MESSAGES: Final = 1 << 18 | 1 << 19
"""Application flags GATEWAY_MESSAGE_CONTENT and GATEWAY_MESSAGE_CONTENT_LIMITED."""
PERMISSIONS: Final = 1 << 6 | 1 << 10 | 1 << 11 | 1 << 14 | 1 << 15 | 1 << 16 | 1 << 38
"""Add reactions, view channels, send, embed links, attach files, read history, send in threads."""

_TROUBLE: Final = (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError)


async def diagnose(settings: DiscordSettings, commands: tuple[CommandSpec, ...]) -> list[Check]:
    """The checks in the order in which they build on each other. Never raises."""
    checks: list[Check] = []
    try:
        async with asyncio.timeout(DOCTOR_SECONDS), _http() as open_http:
            http = await open_http(settings)
            checks.append(Check("token", True, "Discord accepts the token"))
            application = mapping(await http.application_info())
            checks += [_application(settings, application), _intent(application)]
            checks.append(_servers(identity(application.get("id")), await http.get_guilds(200)))
            checks.append(
                await _commands(http, identity(application.get("id")), settings, commands)
            )
    except _TROUBLE as error:
        found = start_error(error)
        name = "connection" if checks else "token"
        checks.append(Check(name, False, found.problem, found.advice))
    return checks


@asynccontextmanager
async def _http() -> AsyncIterator["Opener"]:
    opener = Opener()
    try:
        yield opener
    finally:
        await opener.close()


class Opener:
    """Logs in once and closes whatever it opened."""

    def __init__(self) -> None:
        self._http: AccountHTTP | None = None

    async def __call__(self, settings: DiscordSettings) -> AccountHTTP:
        self._http = AccountHTTP(settings.api_base, settings.gateway_url)
        await self._http.static_login(settings.token.get_secret_value().strip())
        return self._http

    async def close(self) -> None:
        """Close the session, if there is one."""
        if self._http is not None:
            await self._http.close()


def _application(settings: DiscordSettings, application: Mapping[str, object]) -> Check:
    found, name = identity(application.get("id")), text(application.get("name"))[:100]
    wanted = settings.application_id
    if wanted in ("", found):
        return Check("application", True, f"the token belongs to {name} ({found})")
    advice = "Correct platforms.discord.application_id, or take the token of that application."
    return Check("application", False, f"the token belongs to {found}, not to {wanted}", advice)


def _intent(application: Mapping[str, object]) -> Check:
    if (integer(application.get("flags")) or 0) & READS_MESSAGES:
        return Check("message content intent", True, "the bot may read messages")
    advice = f"Switch on Message Content Intent at {PORTAL}, page Bot."
    return Check("message content intent", False, "the bot may not read messages", advice)


def _servers(application_id: str, guilds: object) -> Check:
    names = [text(guild.get("name"))[:50] for guild in mappings(guilds)]
    if names:
        return Check("servers", True, f"the bot is in {len(names)}: {', '.join(names[:5])}")
    advice = f"Invite it: {invite(application_id)}"
    return Check(
        "servers", False, "the bot is in no server; direct messages need a shared one", advice
    )


def invite(application_id: str) -> str:
    """The address that adds the bot, with the permissions it needs, to a server."""
    scopes = "bot%20applications.commands"
    return (
        "https://discord.com/oauth2/authorize"
        f"?client_id={application_id}&scope={scopes}&permissions={PERMISSIONS}"
    )


async def _commands(
    http: AccountHTTP,
    application_id: str,
    settings: DiscordSettings,
    commands: tuple[CommandSpec, ...],
) -> Check:
    where = f"in server {settings.guild_id}" if settings.guild_id else "everywhere"
    try:
        have = await registered(http, application_id, settings.guild_id)
    except discord.HTTPException as error:
        advice = (
            "Check platforms.discord.guild_id; the bot must be invited with applications.commands."
        )
        return Check("commands", False, f"Discord refuses them {where} ({error.code})", advice)
    if same(have, definitions(commands, everywhere=not settings.guild_id)):
        return Check("commands", True, f"{len(commands)} registered {where}")
    advice = "Nothing now: `parley run` registers them when it starts."
    return Check("commands", True, f"not registered {where}, or out of date", advice)
