"""The checks of a Discord account for `parley doctor`."""

import asyncio
from collections.abc import Sequence
from typing import Final

import aiohttp
import discord

from adapters.discord.client import AccountHTTP
from adapters.discord.commands import definitions, registered, same
from adapters.discord.errors import PORTAL, start_error
from adapters.discord.manifest import DiscordSettings
from adapters.shared.json_readers import (
    JsonObject,
    as_mapping,
    identifier,
    integer,
    objects,
    text,
)
from gateway.ports import Check, CheckCause, CommandSpec

DOCTOR_SECONDS: Final = 30.0
READS_MESSAGES: Final = 1 << 18 | 1 << 19
"""Application flags GATEWAY_MESSAGE_CONTENT and GATEWAY_MESSAGE_CONTENT_LIMITED."""
SEES_MEMBERS: Final = 1 << 14 | 1 << 15
"""Application flags GATEWAY_GUILD_MEMBERS and GATEWAY_GUILD_MEMBERS_LIMITED."""
READS_HISTORY: Final = 1 << 16
ADMINISTRATOR: Final = 1 << 3
PERMISSIONS: Final = 1 << 6 | 1 << 10 | 1 << 11 | 1 << 14 | 1 << 15 | 1 << 16 | 1 << 38
"""Add reactions, view channels, send, embed links, attach files, read history, send in threads."""

_TROUBLE: Final = (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError)


async def diagnose(settings: DiscordSettings, commands: tuple[CommandSpec, ...]) -> list[Check]:
    """The checks in the order in which they build on each other. Never raises."""
    checks: list[Check] = []
    http = AccountHTTP(settings.api_base, settings.gateway_url)
    try:
        async with asyncio.timeout(DOCTOR_SECONDS):
            await http.static_login(settings.token.get_secret_value().strip())
            checks.append(Check("token", True, "Discord accepts the token"))
            application = as_mapping(await http.application_info())
            application_id = identifier(application, "id")
            checks += [_application(settings, application), _intent(application)]
            checks += [_members(application)] if settings.members_intent else []
            guilds = objects(await http.get_guilds(200), 200)
            checks.append(_servers(application_id, guilds))
            checks += _histories(application_id, guilds)
            checks.append(await _commands(http, application_id, settings, commands))
    except _TROUBLE as error:
        checks.append(_failed(error, first=not checks))
    finally:
        await http.close()
    return checks


def _failed(error: Exception, *, first: bool) -> Check:
    failure = start_error(error)
    if isinstance(error, discord.LoginFailure):
        return Check("token", False, failure.problem, failure.advice, "credential")
    cause: CheckCause = "" if isinstance(error, discord.HTTPException) else "unreachable"
    name = "token" if first and not cause else "connection"
    return Check(name, False, failure.problem, failure.advice, cause)


def _application(settings: DiscordSettings, application: JsonObject) -> Check:
    actual, name = identifier(application, "id"), text(application, "name", 100)
    expected = settings.application_id
    if expected in ("", actual):
        return Check("application", True, f"the token belongs to {name} ({actual})")
    advice = "Correct platforms.discord.application_id, or use the token of that application."
    detail = f"the token belongs to {actual}, not to {expected}"
    return Check("application", False, detail, advice, "wrong_app")


def _intent(application: JsonObject) -> Check:
    if (integer(application, "flags") or 0) & READS_MESSAGES:
        return Check("message content intent", True, "the bot may read messages")
    advice = f"Switch on Message Content Intent at {PORTAL}, page Bot."
    detail = "the bot may not read messages"
    return Check("message content intent", False, detail, advice, "permission")


def _members(application: JsonObject) -> Check:
    if (integer(application, "flags") or 0) & SEES_MEMBERS:
        return Check("server members intent", True, "Discord reports who leaves")
    advice = f"Switch on Server Members Intent at {PORTAL}, page Bot, or remove members_intent."
    detail = "the bot may not see who leaves"
    return Check("server members intent", False, detail, advice, "permission")


def _histories(application_id: str, guilds: Sequence[JsonObject]) -> list[Check]:
    """A failed check for servers in which the bot may not read earlier messages. Discord names the
    bot's permissions in a server; a channel can still deny them."""
    permissions = ((guild, text(guild, "permissions", 40)) for guild in guilds)
    names = [
        text(guild, "name", 50)
        for guild, bits in permissions
        if bits.isdecimal() and not int(bits) & (READS_HISTORY | ADMINISTRATOR)
    ]
    if not names:
        return []
    detail = f"the bot may not read earlier messages in {', '.join(names[:5])}"
    advice = (
        "Without them it sees no thread that it is called into, and misses messages of an outage."
        f" Give its role Read Message History, or invite it again: {invite(application_id)}"
    )
    return [Check("read message history", False, detail, advice, "permission")]


def _servers(application_id: str, guilds: Sequence[JsonObject]) -> Check:
    names = [text(guild, "name", 50) for guild in guilds]
    if names:
        return Check("servers", True, f"the bot is in {len(names)}: {', '.join(names[:5])}")
    advice = f"Invite it: {invite(application_id)}"
    detail = "the bot is in no server; direct messages need a common server"
    return Check("servers", False, detail, advice, "permission")


def invite(application_id: str) -> str:
    """The address that adds the bot to a server, with the permissions that it needs."""
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
        commands_now = await registered(http, application_id, settings.guild_id)
    except discord.HTTPException as error:
        advice = (
            "Check platforms.discord.guild_id; the bot must be invited with applications.commands."
        )
        detail = f"Discord refuses them {where} ({error.code})"
        return Check("commands", False, detail, advice, "permission")
    if same(commands_now, definitions(commands, everywhere=not settings.guild_id)):
        return Check("commands", True, f"{len(commands)} registered {where}")
    advice = "No action is needed: `parley run` registers them when it starts."
    return Check("commands", True, f"not registered {where}, or out of date", advice)
