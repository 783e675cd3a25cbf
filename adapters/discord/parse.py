"""Parses Discord's gateway payloads into events. Only this package knows Discord's names.

A payload is one dispatched gateway message: {"t": name, "s": sequence, "d": data}. A bare message
or interaction object, as REST and webhooks carry it, is accepted as well. No payload raises:
unknown and malformed ones have no events.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from adapters.discord.event_context import PLATFORM, DiscordBot, InteractionHandle, place_of
from adapters.discord.message_text import author_of, name_of, readable_arguments
from adapters.discord.messages import message_of
from adapters.shared.json_readers import (
    JsonObject,
    array,
    as_mapping,
    as_text,
    identifier,
    identifiers,
    integer,
    items,
    mapping,
    text,
)
from gateway.message import (
    MAX_CONTENT,
    ButtonPressed,
    CommandInvoked,
    InboundEvent,
    MembershipChanged,
    MessageAuthor,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    Place,
    ReactionChanged,
)
from gateway.people import Audience

COMMAND, COMPONENT = 2, 3
CHAT_INPUT: Final = 1
BUTTON: Final = 2
SUBCOMMANDS: Final = (1, 2)
MAX_DEPTH: Final = 3
"""A group, a subcommand, its options: Discord has no deeper level."""
MAX_TOKEN: Final = 1000
_MARKS: Final = {6: "@", 7: "#", 8: "@&"}
"""Options whose value is the id of a person, a channel or a role, and the mark of a mention."""

Reader = Callable[[JsonObject, DiscordBot, str], list[InboundEvent]]
"""(data, bot, delivery id) to events; the delivery id is unique, or empty when unknown."""


def parse(payload: dict[str, object], me: DiscordBot | None = None) -> list[InboundEvent]:
    """The events of one payload, as `me` sees them; empty for a payload that is ignored."""
    bot = me or DiscordBot()
    name, data = _unwrap(as_mapping(payload))
    reader = _READERS.get(name)
    if reader is None or not data:
        return []
    sequence = payload.get("s")
    known = bot.session and isinstance(sequence, int)
    return reader(data, bot, f"{bot.session}:{sequence}" if known else "")


def _unwrap(payload: JsonObject) -> tuple[str, JsonObject]:
    if "t" in payload or "op" in payload:
        return text(payload, "t"), mapping(payload, "d")
    if "application_id" in payload and "token" in payload:
        return "INTERACTION_CREATE", payload
    if "author" in payload and "channel_id" in payload:
        return "MESSAGE_CREATE", payload
    return "", payload


def _created(data: JsonObject, bot: DiscordBot, _: str) -> list[InboundEvent]:
    message = message_of(data, bot)
    return [] if message is None else [MessageReceived(message.id, message)]


def _updated(data: JsonObject, bot: DiscordBot, _: str) -> list[InboundEvent]:
    """Discord also sends an update for the preview of a link, without an edit."""
    edited = text(data, "edited_timestamp", 64)
    message = message_of(data, bot) if edited and "content" in data else None
    return [] if message is None else [MessageEdited(f"{message.id}:edit:{edited}", message)]


def _deleted(data: JsonObject, bot: DiscordBot, _: str) -> list[InboundEvent]:
    place = place_of(data, bot)
    ids = identifiers(data, "ids") or tuple(filter(None, [identifier(data, "id")]))
    if place is None or not ids:
        return []
    return [MessageDeleted(f"{ids[0]}:delete:{len(ids)}", place, ids)]


def _interaction(data: JsonObject, bot: DiscordBot, _: str) -> list[InboundEvent]:
    """A slash command or a pressed button; the bot offers no other interactions."""
    kind, details = integer(data, "type"), mapping(data, "data")
    place, author = place_of(data, bot), author_of(data)
    event_id, token = identifier(data, "id"), text(data, "token")
    if place is None or author is None or not event_id or not 0 < len(token) <= MAX_TOKEN:
        return []
    application_id = identifier(data, "application_id") or "0"
    if kind == COMMAND and details.get("type", CHAT_INPUT) == CHAT_INPUT:
        name = text(details, "name").lower()
        if not 0 < len(name) <= 32:
            return []
        handle = InteractionHandle("command", application_id, event_id, token)
        arguments = readable_arguments(_arguments(details), data, bot)[:MAX_CONTENT]
        return [CommandInvoked(event_id, place, author, name, arguments, reply_handle=str(handle))]
    value = _value(details)
    if kind != COMPONENT or not value:
        return []
    message = mapping(data, "message")
    return [
        ButtonPressed(
            event_id,
            place,
            author,
            value,
            label=_label(message, text(details, "custom_id")),
            message_id=identifier(message, "id"),
            reply_handle=str(InteractionHandle("button", application_id, event_id, token)),
        )
    ]


def _arguments(details: JsonObject, depth: int = 0) -> str:
    """The values of a command's options in the given order, and the names of subcommands."""
    words: list[str] = []
    for option in items(details, "options"):
        if integer(option, "type") in SUBCOMMANDS and depth < MAX_DEPTH:
            words += [text(option, "name"), _arguments(option, depth + 1)]
            continue
        value, mark = option.get("value"), _MARKS.get(integer(option, "type") or 0)
        if mark is not None and isinstance(value, str) and value.isdecimal():
            value = f"<{mark}{value}>"
        words.append(str(value) if isinstance(value, bool | int | float) else as_text(value))
    return " ".join(word for word in words if word)


def _value(details: JsonObject) -> str:
    """The value of a button, or the selected value of a menu."""
    if integer(details, "component_type") == BUTTON:
        return text(details, "custom_id", 100)
    return next((as_text(value, 100) for value in array(details, "values", 1)), "")


def _label(message: JsonObject, custom_id: str) -> str:
    for row in items(message, "components"):
        for button in items(row, "components"):
            if custom_id and button.get("custom_id") == custom_id:
                return text(button, "label", 100)
    return ""


def _reaction(
    data: JsonObject, bot: DiscordBot, delivery_id: str, *, added: bool
) -> list[InboundEvent]:
    place, message_id = place_of(data, bot), identifier(data, "message_id")
    user_id, emoji = identifier(data, "user_id"), mapping(data, "emoji")
    name = text(emoji, "name", 100)
    if place is None or not message_id or not user_id or not name or user_id == bot.user_id:
        return []
    name = f":{name}:" if emoji.get("id") else name
    member = author_of({"member": data.get("member")})
    author = member if member and member.id == user_id else MessageAuthor(user_id)
    event_id = delivery_id or f"{message_id}:{'react' if added else 'unreact'}:{user_id}:{name}"
    return [ReactionChanged(event_id, place, author, message_id, name, added)]


def _own_membership(
    data: JsonObject, bot: DiscordBot, delivery_id: str, *, joined: bool
) -> list[InboundEvent]:
    """The bot joined or left a server. During an outage Discord sends the same with
    `unavailable`."""
    guild_id = identifier(data, "id")
    if not guild_id or data.get("unavailable"):
        return []
    channel_id = identifier(data, "system_channel_id") or guild_id
    place = Place(PLATFORM, bot.account, channel_id, Audience.PUBLIC_ROOM, guild_id)
    me = MessageAuthor(bot.user_id, is_bot=True)
    event_id = delivery_id or f"{guild_id}:{'joined' if joined else 'left'}"
    return [MembershipChanged(event_id, place, me, joined, is_self=True, whole_workspace=True)]


def _membership(
    data: JsonObject, bot: DiscordBot, delivery_id: str, *, joined: bool
) -> list[InboundEvent]:
    guild_id, user = identifier(data, "guild_id"), mapping(data, "user")
    user_id = identifier(user, "id")
    if not guild_id or not user_id or user_id == bot.user_id:
        return []
    place = Place(PLATFORM, bot.account, guild_id, Audience.PUBLIC_ROOM, guild_id)
    member = MessageAuthor(user_id, name_of(user, data), user.get("bot") is True)
    event_id = delivery_id or f"{guild_id}:{user_id}:{'joined' if joined else 'left'}"
    return [MembershipChanged(event_id, place, member, joined, whole_workspace=True)]


_READERS: Final[Mapping[str, Reader]] = {
    "MESSAGE_CREATE": _created,
    "MESSAGE_UPDATE": _updated,
    "MESSAGE_DELETE": _deleted,
    "MESSAGE_DELETE_BULK": _deleted,
    "INTERACTION_CREATE": _interaction,
    "MESSAGE_REACTION_ADD": partial(_reaction, added=True),
    "MESSAGE_REACTION_REMOVE": partial(_reaction, added=False),
    "GUILD_CREATE": partial(_own_membership, joined=True),
    "GUILD_DELETE": partial(_own_membership, joined=False),
    "GUILD_MEMBER_ADD": partial(_membership, joined=True),
    "GUILD_MEMBER_REMOVE": partial(_membership, joined=False),
}
KINDS: Final = frozenset(_READERS)
"""The gateway events that can have events here; all others are ignored."""
