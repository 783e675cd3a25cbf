"""The text of a message, of its components and their files, and its author, with Discord's markup
as readable text.

Fields: Discord, "Component Reference". A kind that is unknown here is read by its fields.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from adapters.discord.event_context import DiscordBot
from adapters.shared.json_readers import (
    JsonObject,
    as_text,
    identifier,
    identifiers,
    integer,
    items,
    mapping,
    text,
)
from gateway.authorship import in_one_word
from gateway.message import MAX_CONTENT, MAX_LANGUAGE, MessageAuthor

BUTTON, SEPARATOR = 2, 14
MAX_COMPONENTS: Final = 200
"""Components that are read of one message, at every depth together; Discord allows 40."""
CUT: Final = "[…]"
"""Stands for components beyond `MAX_COMPONENTS`."""
_DEEPEST: Final = 8
_MAX_LABEL: Final = 100
_MAX_URL: Final = 2_000


def text_of_components(message: JsonObject) -> str:
    """Return the words of the components, and the addresses of buttons that lead to one. The labels
    of other buttons and of menus are controls."""
    lines = [
        line
        for component in _components(message)
        for line in ([CUT] if component is None else _lines(component))
    ]
    return "\n".join(line for line in lines if line.strip())


def media_of_components(message: JsonObject) -> list[JsonObject]:
    """The pictures and files in the components, each in the form of an attachment."""
    found: list[JsonObject] = []
    for component in _components(message):
        if component is None:
            break
        described = text(component, "description", _MAX_LABEL)
        for key in ("media", "file"):
            if media := mapping(component, key):
                name = text(component, "name", _MAX_LABEL) or described
                found.append(_as_attachment(media, name, integer(component, "size")))
        for item in items(component, "items", MAX_COMPONENTS):
            name = text(item, "description", _MAX_LABEL)
            found.append(_as_attachment(mapping(item, "media"), name, None))
    return found


def _components(message: JsonObject) -> Iterator[JsonObject | None]:
    """All components in the order in which they are shown; None where the rest is not read."""
    waiting = [(one, _DEEPEST) for one in reversed(items(message, "components", MAX_COMPONENTS))]
    left = MAX_COMPONENTS
    while waiting:
        component, depth = waiting.pop()
        left -= 1
        if left < 0 or depth <= 0:
            yield None
            return
        yield component
        children = items(component, "components", MAX_COMPONENTS)
        children += filter(None, (mapping(component, key) for key in ("accessory", "component")))
        waiting += [(one, depth - 1) for one in reversed(children)]


def _lines(component: JsonObject) -> list[str]:
    kind = integer(component, "type")
    if kind == BUTTON:
        url = text(component, "url", _MAX_URL)
        return [f"{text(component, 'label', _MAX_LABEL)} ({url})".strip()] if url else []
    if kind == SEPARATOR:
        return ["---"] if component.get("divider") is not False else []
    lines = [text(component, "content"), text(component, "description", 1_024)]
    lines += [text(item, "description", 1_024) for item in items(component, "items", 50)]
    return lines


def _as_attachment(media: JsonObject, name: str, size: int | None) -> JsonObject:
    """An unfurled media item; its address at Discord, where the file lies elsewhere."""
    proxied = text(media, "proxy_url", _MAX_URL)
    url = text(media, "url", _MAX_URL)
    return {
        "url": proxied or url,
        "filename": name or _file_name(url),
        "content_type": text(media, "content_type", 100),
        "size": size,
    }


def _file_name(url: str) -> str:
    return url.partition("?")[0].rpartition("/")[2][:_MAX_LABEL]


MAX_NAME: Final = 200
MAX_NAMED: Final = 100
"""People whose names are read for one command."""
_MARK: Final = re.compile(
    r"(?P<code>```(?:[^`]|`[^`]|``[^`])*```|`[^`\n]+`)"
    r"|<(?:@!?(?P<user>\d{1,20})|@&(?P<role>\d{1,20})|\#(?P<channel>\d{1,20})"
    r"|a?:(?P<emoji>\w{2,32}):\d{1,20}|/(?P<command>[^<>:\n]{1,100}):\d{1,20}"
    r"|t:(?P<time>-?\d{1,12})(?::[tTdDfFRsS])?)>"
)

GUEST: Final = 1 << 4
"""The flag of a member who may stay in one voice channel (Discord: guild member flags)."""
_GONE: Final = "\0"
"""The mark of a mention of this bot; `text` lets no NUL of the platform through."""


class DiscordText(Struct, frozen=True):
    """A text and its mentions. The ids are those of Discord's entities."""

    content: str
    mentions: tuple[str, ...] = ()
    role_mentions: tuple[str, ...] = ()
    mentions_bot: bool = False
    mentions_others: bool = False
    mentions_everyone: bool = False


def author_of(data: JsonObject) -> MessageAuthor | None:
    """The author of a message, a pressed button or a command. Messages tell no language."""
    member = mapping(data, "member")
    user = mapping(data, "author") or mapping(member, "user") or mapping(data, "user")
    user_id = identifier(user, "id")
    if not user_id:
        return None
    by_webhook = bool(data.get("webhook_id"))
    is_bot = user.get("bot") is True or by_webhook
    outside = by_webhook or bool((integer(member, "flags") or 0) & GUEST)
    language = text(data, "locale", MAX_LANGUAGE)
    return MessageAuthor(user_id, name_of(user, member), is_bot, outside=outside, language=language)


def name_of(user: JsonObject, member: JsonObject) -> str:
    """The name that others see: nickname, display name or user name."""
    names = (member.get("nick"), user.get("global_name"), user.get("username"))
    return next((name for one in names if (name := as_text(one, MAX_NAME)).strip()), "")


def message_text_of(data: JsonObject, bot: DiscordBot) -> DiscordText:
    """The text of a message, with that of its components, and its mentions.

    Discord lists the author of the message that is replied to among the mentions. In a reply, only
    mentions in the text count.
    """
    raw = "\n".join(filter(None, (text(data, "content"), text_of_components(data))))[:MAX_CONTENT]
    people = {identifier(user, "id"): user for user in items(data, "mentions")}
    people.pop("", None)
    roles, guild_id = identifiers(data, "mention_roles"), identifier(data, "guild_id")
    own_role = bot.directory.own_role(guild_id)
    written = {match["user"] for match in _MARK.finditer(raw) if match["user"]}
    is_reply = bool(mapping(data, "message_reference"))
    mentions = tuple(id_ for id_ in people if not is_reply or id_ in written)
    everyone = data.get("mention_everyone") is True
    return DiscordText(
        content=_readable(raw, people, own_role if own_role in roles else "", guild_id, bot),
        mentions=mentions,
        role_mentions=roles,
        mentions_bot=bool(bot.user_id) and (bot.user_id in mentions or own_role in roles),
        mentions_others=everyone
        or any(id_ != bot.user_id for id_ in mentions)
        or any(id_ != own_role for id_ in roles),
        mentions_everyone=everyone,
    )


def readable_arguments(words: str, interaction: JsonObject, bot: DiscordBot) -> str:
    """The arguments of a command with the names of what they mention, by Discord's own table of
    names by id. An id that is not in it, and in no directory, stays an id."""
    resolved = mapping(mapping(interaction, "data"), "resolved")
    users, members = mapping(resolved, "users"), mapping(resolved, "members")
    people = {
        id_: {**mapping(users, id_), "member": mapping(members, id_)}
        for id_ in list(users)[:MAX_NAMED]
    }
    if author := author_of(interaction):
        people.setdefault(author.id, {"username": author.name})
    return _readable(words, people, "", identifier(interaction, "guild_id"), bot, resolved)


def _readable(
    raw: str,
    people: Mapping[str, JsonObject],
    own_role: str,
    guild_id: str,
    bot: DiscordBot,
    resolved: JsonObject = MappingProxyType({}),
) -> str:
    def user(id_: str) -> str | None:
        if id_ == bot.user_id and id_ in people:
            return _GONE
        person = people.get(id_)
        if not person:
            known = in_one_word(bot.directory.person_name(guild_id, id_))
            return f"@{known}" if known else None
        return f"@{in_one_word(name_of(person, mapping(person, 'member'))) or id_}"

    def role(id_: str) -> str:
        name = bot.directory.role_name(guild_id, id_) or _name_in(resolved, "roles", id_)
        name = name.removeprefix("@")
        return _GONE if id_ == own_role else f"@{in_one_word(name) or 'role'}"

    def channel(id_: str) -> str:
        facts = bot.directory.channel(guild_id, id_)
        name = facts.name if facts else _name_in(resolved, "channels", id_)
        return f"#{in_one_word(name) or 'channel'}"

    readers: dict[str, Callable[[str], str | None]] = {
        "user": user,
        "role": role,
        "channel": channel,
        "emoji": lambda name: f":{name}:",
        "command": lambda name: f"/{name}",
        "time": _time,
    }

    def replace(match: re.Match[str]) -> str:
        kind = match.lastgroup or "code"
        readable = None if kind == "code" else readers[kind](match[kind])
        return match[0] if readable is None else readable

    content = _MARK.sub(replace, raw)
    return content if content == raw else _tidy(content)


def _name_in(resolved: JsonObject, kind: str, id_: str) -> str:
    return text(mapping(mapping(resolved, kind), id_), "name", MAX_NAME)


def _tidy(content: str) -> str:
    """Without the gaps that a removed mention leaves."""
    content = content.replace(f" {_GONE}", "").replace(_GONE, "").strip(" ")
    return content.removeprefix(",").lstrip(" ")


def _time(seconds: str) -> str | None:
    try:
        return datetime.fromtimestamp(int(seconds), UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None
