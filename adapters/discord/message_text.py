"""What a person wrote, with Discord's marks turned to readable text."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from adapters.discord.bot import BotIdentity
from adapters.discord.json_readers import (
    MAX_NAME,
    identities,
    identity,
    integer,
    mapping,
    mappings,
    text,
)
from gateway.authorship import in_one_word
from gateway.message import MAX_CONTENT, MessageAuthor

_MARK: Final = re.compile(
    r"(?P<code>```(?:[^`]|`[^`]|``[^`])*```|`[^`\n]+`)"
    r"|<(?:@!?(?P<user>\d{1,20})|@&(?P<role>\d{1,20})|\#(?P<channel>\d{1,20})"
    r"|a?:(?P<emoji>\w{2,32}):\d{1,20}|/(?P<command>[^<>:\n]{1,100}):\d{1,20}"
    r"|t:(?P<time>-?\d{1,12})(?::[tTdDfFRsS])?)>"
)

GUEST: Final = 1 << 4
"""The flag of a member who may stay in one voice channel (Discord: guild member flags)."""
_GONE: Final = "\0"
"""Stands for a mention of this bot; `text` lets no NUL of the platform through."""


@dataclass(frozen=True, slots=True)
class MessageText:
    """The text, and whom it addresses. Ids are those of the platform's entities."""

    content: str
    mentions: tuple[str, ...] = ()
    role_mentions: tuple[str, ...] = ()
    mentions_bot: bool = False
    mentions_others: bool = False
    mentions_everyone: bool = False


def author_of(data: Mapping[str, object]) -> MessageAuthor | None:
    """Who wrote a message, pressed a button or used a command."""
    member = mapping(data.get("member"))
    user = mapping(data.get("author")) or mapping(member.get("user")) or mapping(data.get("user"))
    user_id = identity(user.get("id"))
    if not user_id:
        return None
    by_webhook = bool(data.get("webhook_id"))
    is_bot = user.get("bot") is True or by_webhook
    outside = by_webhook or bool((integer(member.get("flags")) or 0) & GUEST)
    return MessageAuthor(user_id, name_of(user, member), is_bot, outside=outside)


def name_of(user: Mapping[str, object], member: Mapping[str, object]) -> str:
    """What people are called where they write: nickname, display name, user name."""
    for name in (member.get("nick"), user.get("global_name"), user.get("username")):
        if isinstance(name, str) and name.strip():
            return text(name)[:MAX_NAME]
    return ""


def message_text_of(data: Mapping[str, object], bot: BotIdentity) -> MessageText:
    """The words of a message, and whom they mention.

    Discord lists the author of the message replied to among the mentions; in a reply only those
    count that are written in the text.
    """
    raw = text(data.get("content"))[:MAX_CONTENT]
    people = {identity(user.get("id")): user for user in mappings(data.get("mentions"))}
    people.pop("", None)
    roles = identities(data.get("mention_roles"))
    guild_id = identity(data.get("guild_id"))
    own_role = bot.directory.own_role(guild_id)
    written = {found["user"] for found in _MARK.finditer(raw) if found["user"]}
    is_reply = bool(mapping(data.get("message_reference")))
    meant = tuple(id_ for id_ in people if not is_reply or id_ in written)
    everyone = data.get("mention_everyone") is True
    return MessageText(
        content=_readable(raw, people, own_role if own_role in roles else "", guild_id, bot),
        mentions=meant,
        role_mentions=roles,
        mentions_bot=bool(bot.user_id) and (bot.user_id in meant or own_role in roles),
        mentions_others=everyone
        or any(id_ != bot.user_id for id_ in meant)
        or any(id_ != own_role for id_ in roles),
        mentions_everyone=everyone,
    )


def _readable(
    raw: str,
    people: Mapping[str, Mapping[str, object]],
    own_role: str,
    guild_id: str,
    bot: BotIdentity,
) -> str:
    def user(id_: str) -> str | None:
        if id_ == bot.user_id and id_ in people:
            return _GONE
        person = people.get(id_)
        if not person:
            return None
        return f"@{in_one_word(name_of(person, mapping(person.get('member')))) or id_}"

    def role(id_: str) -> str:
        name = bot.directory.role_name(guild_id, id_).removeprefix("@")
        return _GONE if id_ == own_role else f"@{in_one_word(name) or 'role'}"

    def channel(id_: str) -> str:
        facts = bot.directory.channel(guild_id, id_)
        return f"#{in_one_word(facts.name if facts else '') or 'channel'}"

    shown: dict[str, Callable[[str], str | None]] = {
        "user": user,
        "role": role,
        "channel": channel,
        "emoji": lambda name: f":{name}:",
        "command": lambda name: f"/{name}",
        "time": _time,
    }

    def replace(found: "re.Match[str]") -> str:
        kind = found.lastgroup or "code"
        if kind == "code":
            return found[0]
        shown_as = shown[kind](found[kind])
        return found[0] if shown_as is None else shown_as

    content = _MARK.sub(replace, raw)
    return content if content == raw else _tidy(content)


def _tidy(content: str) -> str:
    """Without the gaps that a removed mention leaves."""
    content = content.replace(f" {_GONE}", "").replace(_GONE, "").strip(" ")
    return content.removeprefix(",").lstrip(" ")


def _time(seconds: str) -> str | None:
    try:
        return datetime.fromtimestamp(int(seconds), UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None
