"""Slash commands, registered only when they changed: Discord limits registrations a day."""

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from discord.http import HTTPClient

from adapters.shared.json_readers import JsonObject, array, items, objects
from gateway.ports import CommandSpec

CHAT_INPUT, STRING = 1, 3
MAX_DESCRIPTION: Final = 100
IN_SERVERS, IN_DIRECT_MESSAGES = 0, 1

Definition = dict[str, object]


def definitions(commands: tuple[CommandSpec, ...], *, everywhere: bool) -> list[Definition]:
    """The commands in Discord's form; `everywhere` also offers them in direct messages."""
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


def same(registered: object, expected: list[Definition]) -> bool:
    """True when the registered commands are the expected ones. Fields that Discord adds do not
    count."""
    actual = {str(command.get("name")): command for command in objects(registered)}
    return len(actual) == len(expected) and all(
        _same(actual.get(str(command["name"])), command) for command in expected
    )


def _same(actual: JsonObject | None, expected: JsonObject) -> bool:
    if actual is None:
        return False
    for name, value in expected.items():
        if name == "options":
            pairs = items(actual, name), items(expected, name)
            if len(pairs[0]) != len(pairs[1]) or not all(map(_same, *pairs)):
                return False
        elif name == "contexts":
            if sorted(map(str, array(actual, name))) != sorted(map(str, array(expected, name))):
                return False
        elif actual.get(name, False if name == "required" else None) != value:
            return False
    return True


class Registered(NamedTuple):
    """The result of a registration."""

    changed: bool
    ids: Mapping[str, str]
    """The ids of the commands by their names."""


async def register(
    http: HTTPClient, application_id: str, guild_id: str, commands: tuple[CommandSpec, ...]
) -> Registered:
    """Register the commands, if they changed.

    With a `guild_id` they are registered for that server only. Raises discord.py's errors.
    """
    expected = definitions(commands, everywhere=not guild_id)
    now = await registered(http, application_id, guild_id)
    if same(now, expected):
        return Registered(False, _ids(now))
    payload: list[object] = list(expected)
    made: object = (
        await http.bulk_upsert_guild_commands(application_id, guild_id, payload)  # type: ignore[arg-type]  # the library's own TypedDict
        if guild_id
        else await http.bulk_upsert_global_commands(application_id, payload)  # type: ignore[arg-type]  # the library's own TypedDict
    )
    return Registered(True, _ids(objects(made)))


def _ids(commands: Iterable[JsonObject]) -> Mapping[str, str]:
    return {str(one["name"]): str(one["id"]) for one in commands if one.get("id")}


_COMMAND: Final = re.compile(r"(?<!`)`/([a-z]{1,32})`(?!`)")


def with_mentions(content: str, ids: Mapping[str, str], limit: int) -> str:
    """Return a message in which people can press the registered commands: Discord shows
    `</name:id>` as one. A message with a code block, or that would have more than `limit`
    characters, stays as it is."""
    if not ids or "```" in content:
        return content

    def mention(found: re.Match[str]) -> str:
        id_ = ids.get(found[1])
        return f"</{found[1]}:{id_}>" if id_ else found[0]

    with_them = _COMMAND.sub(mention, content)
    return with_them if len(with_them) <= limit else content


async def registered(http: HTTPClient, application_id: str, guild_id: str) -> list[Definition]:
    """The registered commands. Raises discord.py's errors."""
    commands: object = (
        await http.get_guild_commands(application_id, guild_id)
        if guild_id
        else await http.get_global_commands(application_id)
    )
    return [dict(command) for command in objects(commands)]
