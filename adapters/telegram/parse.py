"""Parses raw updates of the Bot API into events."""

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from adapters.shared.json_readers import (
    JsonObject,
    array,
    as_mapping,
    items,
    mapping,
    numeric_id,
    objects,
    text,
)
from adapters.telegram.message_text import TelegramBot
from adapters.telegram.messages import (
    PLATFORM,
    author_of,
    is_present,
    place_of,
    read_message,
    user_of,
)
from gateway.message import (
    ButtonPressed,
    CommandInvoked,
    InboundEvent,
    InlineQueried,
    MembershipChanged,
    MessageAuthor,
    MessageEdited,
    MessageReceived,
    Place,
    ReactionChanged,
)
from gateway.people import Audience

MAX_QUERY: Final = 256
"""Characters of an inline query (Bot API)."""
MAX_DATA: Final = 64
"""Bytes of a button's value (Bot API)."""
MAX_REACTIONS: Final = 20
_KIND: Final = re.compile(r"[a-z_]{1,40}")

_Reader: TypeAlias = Callable[[str, JsonObject, TelegramBot], list[InboundEvent]]
"""(event id, body of the update, this bot) to events."""


def parse(payload: object, me: TelegramBot | None = None) -> list[InboundEvent]:
    """The events of one update, in order; empty for an update that is ignored. Never raises.

    Without `me` no mention is known to be of this bot. The first event's id is the `update_id`;
    further ones append `:1`, `:2`. An `InlineQueried` has the inline query's own id, because the
    answer names it.
    """
    update = as_mapping(payload)
    update_id, kind = numeric_id(update, "update_id"), kind_of(update)
    reader = _READERS.get(kind)
    if not update_id or reader is None:
        return []
    return reader(update_id, mapping(update, kind), me or TelegramBot())


def kind_of(payload: object) -> str:
    """The kind of an update, safe as a label: "message", "poll_answer", "unknown"."""
    for key in as_mapping(payload):
        if key != "update_id":
            return key if _KIND.fullmatch(str(key)) else "unknown"
    return "unknown"


def _message(event_id: str, raw: JsonObject, me: TelegramBot) -> list[InboundEvent]:
    parsed = read_message(raw, me)
    if parsed is None:
        return _membership_notices(event_id, raw, me)
    message, written = parsed
    if not written.command:
        return [MessageReceived(event_id, message)]
    if written.for_other_bot:
        return []
    command, arguments = written.command, written.arguments
    return [CommandInvoked(event_id, message.place, message.author, command, arguments, message)]


def _edited(event_id: str, raw: JsonObject, me: TelegramBot) -> list[InboundEvent]:
    parsed = read_message(raw, me)
    if parsed is None:
        return []
    message, written = parsed
    return [MessageEdited(event_id, message, written.command, written.arguments)]


def _membership_notices(event_id: str, raw: JsonObject, me: TelegramBot) -> list[InboundEvent]:
    """The service messages "joined" and "left", which are all that a bot without admin rights gets.

    The bot's own membership comes with `my_chat_member`, which Telegram always sends as well.
    """
    place = place_of(mapping(raw, "chat"), me.account, raw)
    if place is None:
        return []
    people = [(user, True) for user in items(raw, "new_chat_members")]
    people.append((mapping(raw, "left_chat_member"), False))
    events: list[InboundEvent] = []
    for user, joined in people:
        member = user_of(user)
        if member is not None and member.id != me.id:
            number = _numbered(event_id, len(events))
            events.append(MembershipChanged(number, place, member, joined))
    return events


def _numbered(event_id: str, position: int) -> str:
    return event_id if position == 0 else f"{event_id}:{position}"


def _button(event_id: str, raw: JsonObject, me: TelegramBot) -> list[InboundEvent]:
    author = user_of(mapping(raw, "from"))
    value, handle = text(raw, "data"), text(raw, "id", MAX_QUERY)
    if author is None or not value or not handle or len(value.encode()) > MAX_DATA:
        return []
    message = mapping(raw, "message")
    chat = mapping(message, "chat")
    place = place_of(chat, me.account, message)
    if place is None and chat:
        return []
    return [
        ButtonPressed(
            event_id,
            place or _inline_place(me.account, author, ""),
            author,
            value,
            label=_label(message, value),
            message_id=numeric_id(message, "message_id"),
            reply_handle=handle,
        )
    ]


def _label(message: JsonObject, value: str) -> str:
    for row in array(mapping(message, "reply_markup"), "inline_keyboard"):
        for button in objects(row, 8):
            if button.get("callback_data") == value:
                return text(button, "text", MAX_QUERY)
    return ""


def _inline(event_id: str, raw: JsonObject, me: TelegramBot) -> list[InboundEvent]:
    author, query_id = user_of(mapping(raw, "from")), text(raw, "id", MAX_QUERY)
    if author is None or not query_id:
        return []
    place = _inline_place(me.account, author, raw.get("chat_type"))
    return [InlineQueried(query_id, place, author, text(raw, "query", MAX_QUERY))]


def _inline_place(account: str, author: MessageAuthor, chat_type: object) -> Place:
    """Anyone may read the chosen text, except in the private chat with this bot."""
    audience = Audience.DIRECT if chat_type == "sender" else Audience.PUBLIC_ROOM
    return Place(PLATFORM, account, f"inline:{author.id}", audience)


def _reaction(event_id: str, raw: JsonObject, me: TelegramBot) -> list[InboundEvent]:
    place = place_of(mapping(raw, "chat"), me.account)
    author = user_of(as_mapping(raw.get("user") or raw.get("actor_chat")))
    message_id = numeric_id(raw, "message_id")
    if place is None or author is None or not message_id:
        return []
    before, after = _emojis(raw, "old_reaction"), _emojis(raw, "new_reaction")
    changes = [(emoji, False) for emoji in before if emoji not in after]
    changes += [(emoji, True) for emoji in after if emoji not in before]
    return [
        ReactionChanged(_numbered(event_id, n), place, author, message_id, emoji, added)
        for n, (emoji, added) in enumerate(changes)
    ]


def _emojis(raw: JsonObject, key: str) -> list[str]:
    reactions = items(raw, key, MAX_REACTIONS)
    emojis = (text(one, "emoji", 64) or text(one, "custom_emoji_id", 64) for one in reactions)
    return list(dict.fromkeys(emoji for emoji in emojis if emoji))


def _member(event_id: str, raw: JsonObject, me: TelegramBot) -> list[InboundEvent]:
    member = user_of(mapping(mapping(raw, "new_chat_member"), "user"))
    is_self = member is not None and member.id == me.id
    return _membership(event_id, raw, me, member, is_self=is_self)


def _my_member(event_id: str, raw: JsonObject, me: TelegramBot) -> list[InboundEvent]:
    member = user_of(mapping(mapping(raw, "new_chat_member"), "user")) or author_of(raw)
    return _membership(event_id, raw, me, member, is_self=True)


def _membership(
    event_id: str, raw: JsonObject, me: TelegramBot, member: MessageAuthor | None, *, is_self: bool
) -> list[InboundEvent]:
    place = place_of(mapping(raw, "chat"), me.account)
    before = is_present(mapping(raw, "old_chat_member"))
    after = is_present(mapping(raw, "new_chat_member"))
    if member is None or place is None or before == after:
        return []
    return [MembershipChanged(event_id, place, member, after, is_self)]


_READERS: Final[Mapping[str, _Reader]] = {
    "message": _message,
    "edited_message": _edited,
    "channel_post": _message,
    "edited_channel_post": _edited,
    "callback_query": _button,
    "inline_query": _inline,
    "message_reaction": _reaction,
    "my_chat_member": _my_member,
    "chat_member": _member,
}

ALLOWED_UPDATES: Final = tuple(_READERS)
"""The kinds of update that the bot asks Telegram for."""
