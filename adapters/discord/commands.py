"""Registering slash commands, only when they changed: Discord limits registrations a day."""

from collections.abc import Mapping
from typing import Final

from discord.http import HTTPClient

from adapters.discord.json_readers import mapping, mappings
from gateway.ports import CommandSpec

CHAT_INPUT, STRING = 1, 3
MAX_DESCRIPTION: Final = 100
IN_SERVERS, IN_DIRECT_MESSAGES = 0, 1

Definition = dict[str, object]


def definitions(commands: tuple[CommandSpec, ...], *, everywhere: bool) -> list[Definition]:
    """The commands as Discord wants them; `everywhere` also offers them in direct messages."""
    places: Definition = {"contexts": [IN_SERVERS, IN_DIRECT_MESSAGES]} if everywhere else {}
    return [
        {
            "type": CHAT_INPUT,
            "name": command.name,
            "description": command.description[:MAX_DESCRIPTION] or command.name,
            "options": _options(command),
            **places,
        }
        for command in commands
    ]


def _options(command: CommandSpec) -> list[Definition]:
    if not command.takes_arguments:
        return []
    name, required = command.argument_name, not command.argument_optional
    described = (command.argument_help or name.capitalize())[:MAX_DESCRIPTION]
    return [{"type": STRING, "name": name, "description": described, "required": required}]


def same(registered: object, wanted: list[Definition]) -> bool:
    """Whether what Discord has is what is wanted; facts that Discord adds do not matter."""
    have = {str(command.get("name")): command for command in mappings(registered)}
    return len(have) == len(wanted) and all(
        _like(have.get(str(command["name"])), command) for command in wanted
    )


def _like(have: Mapping[str, object] | None, wanted: Mapping[str, object]) -> bool:
    if have is None:
        return False
    for name, value in wanted.items():
        if name == "options":
            options = mappings(have.get("options"))
            expected = mappings(value)
            if len(options) != len(expected) or not all(map(_like, options, expected)):
                return False
        elif name == "contexts":
            if sorted(map(str, _listed(have.get(name)))) != sorted(map(str, _listed(value))):
                return False
        elif have.get(name, False if name == "required" else None) != value:
            return False
    return True


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


async def register(
    http: HTTPClient, application_id: str, guild_id: str, commands: tuple[CommandSpec, ...]
) -> bool:
    """Bring the registered commands up to date; True when they had changed.

    With a `guild_id` they are registered for that server alone. Raises discord.py's errors.
    """
    wanted = definitions(commands, everywhere=not guild_id)
    if same(await registered(http, application_id, guild_id), wanted):
        return False
    payload: list[object] = list(wanted)
    if guild_id:
        await http.bulk_upsert_guild_commands(application_id, guild_id, payload)  # type: ignore[arg-type]  # the library's own TypedDict
    else:
        await http.bulk_upsert_global_commands(application_id, payload)  # type: ignore[arg-type]  # the library's own TypedDict
    return True


async def registered(http: HTTPClient, application_id: str, guild_id: str) -> list[Definition]:
    """The commands that Discord knows. Raises discord.py's errors."""
    found: object = (
        await http.get_guild_commands(application_id, guild_id)
        if guild_id
        else await http.get_global_commands(application_id)
    )
    return [dict(mapping(command)) for command in mappings(found)]
