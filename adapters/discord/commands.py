"""Slash commands, registered only when they changed: Discord limits registrations a day."""

import asyncio
import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Final, NamedTuple

from discord.http import HTTPClient

from adapters.shared.json_readers import JsonObject, array, items, objects
from gateway.ports import AdapterContext, CommandSpec

CHAT_INPUT, STRING = 1, 3
KEY: Final = "registered_commands"
KEPT: Final = timedelta(days=3_650)
MAX_DESCRIPTION: Final = 100
IN_SERVERS, IN_DIRECT_MESSAGES = 0, 1

Definition = dict[str, object]


LOCALES: Final[Mapping[str, str]] = {
    **{name: name for name in ("de", "fr", "it", "pl", "tr", "ru", "uk", "hi", "ja", "ko")},
    "es": "es-ES",
    "pt_BR": "pt-BR",
    "zh_Hans": "zh-CN",
    "zh_Hant": "zh-TW",
    **{name: name for name in ("da", "hr", "lt", "hu", "nl", "no", "ro", "fi", "vi", "cs")},
    "sv": "sv-SE",
    "el": "el",
    "bg": "bg",
    "th": "th",
    "id": "id",
    "pt": "pt-BR",
}
"""Discord's names of languages: discord.com/developers/docs/reference#locales. Arabic is none of
them."""


def localized(
    definitions: list[Definition], languages: Mapping[str, tuple[CommandSpec, ...]]
) -> list[Definition]:
    """Return the commands with their descriptions in Discord's languages."""
    words = [
        (LOCALES[name], {one.name: one for one in commands})
        for name, commands in languages.items()
        if name in LOCALES
    ]

    def within(definition: Definition) -> Definition:
        name = str(definition["name"])
        texts = {to: str(known[name].description)[:MAX_DESCRIPTION] for to, known in words}
        options = [
            {
                **one,
                "description_localizations": {
                    to: str(known[name].argument_help)[:MAX_DESCRIPTION]
                    for to, known in words
                    if known[name].argument_help
                },
            }
            for one in objects(definition["options"])
        ]
        return {**definition, "description_localizations": texts, "options": options}

    return [within(one) for one in definitions] if words else definitions


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
    http: HTTPClient, application_id: str, guild_id: str, context: AdapterContext
) -> Registered:
    """Register the commands, if they or their words in another language changed.

    With a `guild_id` they are registered for that server only. Raises discord.py's errors and
    `StoreUnavailable`.
    """
    expected, words = (
        definitions(context.commands, everywhere=not guild_id),
        context.command_languages,
    )
    now = await registered(http, application_id, guild_id)
    mark = "" if words is None else await asyncio.to_thread(words.mark)
    key = f"{KEY}:{application_id}:{guild_id}"
    known = (await context.lasting.get(key) or "") if words is not None else ""
    if known == mark and same(now, expected):
        return Registered(False, _ids(now))
    if words is not None:
        expected = localized(expected, await asyncio.to_thread(words.load))
    payload: list[object] = list(expected)
    made: object = (
        await http.bulk_upsert_guild_commands(application_id, guild_id, payload)  # type: ignore[arg-type]  # the library's own TypedDict
        if guild_id
        else await http.bulk_upsert_global_commands(application_id, payload)  # type: ignore[arg-type]  # the library's own TypedDict
    )
    if words is not None:
        await context.lasting.put(key, mark, KEPT)
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
