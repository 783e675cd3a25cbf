"""The checks of a Discord account for `parley doctor`."""

import asyncio
from collections.abc import Sequence
from typing import Final

import aiohttp
import discord

from adapters.discord.client import AccountHTTP
from adapters.discord.commands import definitions, registered, same
from adapters.discord.errors import PORTAL, WRONG_APPLICATION, start_error
from adapters.discord.manifest import DiscordSettings
from adapters.shared.json_readers import (
    JsonObject,
    as_mapping,
    identifier,
    integer,
    objects,
)
from adapters.shared.json_readers import text as text_at
from gateway.ports import Check, CheckCause, CommandSpec
from gateway.text import Text, counted, text, verbatim

DOCTOR_SECONDS: Final = 30.0
READS_MESSAGES: Final = 1 << 18 | 1 << 19
"""Application flags GATEWAY_MESSAGE_CONTENT and GATEWAY_MESSAGE_CONTENT_LIMITED."""
SEES_MEMBERS: Final = 1 << 14 | 1 << 15
"""Application flags GATEWAY_GUILD_MEMBERS and GATEWAY_GUILD_MEMBERS_LIMITED."""
READS_HISTORY: Final = 1 << 16
ADMINISTRATOR: Final = 1 << 3
PERMISSIONS: Final = 1 << 6 | 1 << 10 | 1 << 11 | 1 << 14 | 1 << 15 | 1 << 16 | 1 << 38
"""Add reactions, view channels, send, embed links, attach files, read history, send in threads."""

# Translators: commands; "where" is "everywhere" or "in the server {id}".
_REGISTERED: Final = counted("{count} registered {where}", "{count} registered {where}")
_TROUBLE: Final = (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError)


async def diagnose(settings: DiscordSettings, commands: tuple[CommandSpec, ...]) -> list[Check]:
    """The checks in the order in which they build on each other. Never raises."""
    checks: list[Check] = []
    http = AccountHTTP(settings.api_base, settings.gateway_url)
    try:
        async with asyncio.timeout(DOCTOR_SECONDS):
            await http.static_login(settings.token.get_secret_value().strip())
            checks.append(Check("token", True, text("Discord accepts the token")))
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
        return Check("token", False, failure.said, failure.step, "credential")
    cause: CheckCause = "" if isinstance(error, discord.HTTPException) else "unreachable"
    name = "token" if first and not cause else "connection"
    return Check(name, False, failure.said, failure.step, cause)


def _application(settings: DiscordSettings, application: JsonObject) -> Check:
    actual, title = identifier(application, "id"), text_at(application, "name", 100)
    expected = settings.application_id
    if expected in ("", actual):
        detail = text("the token belongs to {owner}", owner=verbatim(f"{title} ({actual})"))
        return Check("application", True, detail)
    advice = WRONG_APPLICATION
    detail = text(
        "the token belongs to {owner}, not to {other}",
        owner=verbatim(actual),
        other=verbatim(expected),
    )
    return Check("application", False, detail, advice, "wrong_app")


def _intent(application: JsonObject) -> Check:
    if (integer(application, "flags") or 0) & READS_MESSAGES:
        return Check("message content intent", True, text("the bot may read messages"))
    advice = text("Switch on Message Content Intent at {page}, page Bot.", page=verbatim(PORTAL))
    detail = text("the bot may not read messages")
    return Check("message content intent", False, detail, advice, "permission")


def _members(application: JsonObject) -> Check:
    if (integer(application, "flags") or 0) & SEES_MEMBERS:
        return Check("server members intent", True, text("Discord reports who leaves"))
    advice = text(
        "Switch on Server Members Intent at {page}, page Bot, or remove `members_intent`.",
        page=verbatim(PORTAL),
    )
    detail = text("the bot may not see who leaves")
    return Check("server members intent", False, detail, advice, "permission")


def _histories(application_id: str, guilds: Sequence[JsonObject]) -> list[Check]:
    """A failed check for servers in which the bot may not read earlier messages. Discord names the
    bot's permissions in a server; a channel can still deny them."""
    permissions = ((guild, text_at(guild, "permissions", 40)) for guild in guilds)
    names = [
        text_at(guild, "name", 50)
        for guild, bits in permissions
        if bits.isdecimal() and not int(bits) & (READS_HISTORY | ADMINISTRATOR)
    ]
    if not names:
        return []
    detail = text("the bot may not read earlier messages in {servers}", servers=_listed(names))
    advice = text(
        "Without them it sees no thread that it is called into, and misses messages of an outage. "
        "Give its role Read Message History, or invite it again: {address}",
        address=verbatim(invite(application_id)),
    )
    return [Check("read message history", False, detail, advice, "permission")]


def _servers(application_id: str, guilds: Sequence[JsonObject]) -> Check:
    names = [text_at(guild, "name", 50) for guild in guilds]
    if names:
        said = counted(
            "the bot is in {count} server: {servers}",
            "the bot is in {count} servers: {servers}",
            count=len(names),
            servers=_listed(names),
        )
        return Check("servers", True, said)
    advice = text("Invite it: {address}", address=verbatim(invite(application_id)))
    detail = text("the bot is in no server; direct messages need a common server")
    return Check("servers", False, detail, advice, "permission")


def _listed(names: Sequence[str]) -> Text:
    """Return the first names."""
    return verbatim(", ".join(names[:5]))


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
    where: Text = text("everywhere")
    if settings.guild_id:
        where = text("in the server {id}", id=verbatim(settings.guild_id))
    try:
        commands_now = await registered(http, application_id, settings.guild_id)
    except discord.HTTPException as error:
        advice = text(
            "Check `platforms.discord.guild_id`; the bot must be invited with "
            "`applications.commands`."
        )
        # Translators: "where" is "everywhere" or "in the server {id}".
        detail = text(
            "Discord refuses them {where} ({code})", where=where, code=verbatim(str(error.code))
        )
        return Check("commands", False, detail, advice, "permission")
    if same(commands_now, definitions(commands, everywhere=not settings.guild_id)):
        return Check("commands", True, _REGISTERED.of(count=len(commands), where=where))
    advice = text("No action is needed: `parley run` registers them when it starts.")
    # Translators: "where" is "everywhere" or "in the server {id}".
    detail = text("not registered {where}, or out of date", where=where)
    return Check("commands", True, detail, advice)
