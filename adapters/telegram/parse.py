"""Raw updates of the Bot API as events; imports nothing of python-telegram-bot."""

import re
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from adapters.telegram.json_readers import identity, listing, mapping, text
from adapters.telegram.message_text import BotIdentity
from adapters.telegram.messages import is_present, place_of, read_message
from adapters.telegram.people import author_of, person_of
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
"""Bytes behind a button (Bot API)."""
MAX_REACTIONS: Final = 20
_KIND = re.compile(r"[a-z_]{1,40}")

_Reader: TypeAlias = Callable[
    [str, Mapping[str, object], str, BotIdentity | None], list[InboundEvent]
]


def parse(
    payload: object, me: BotIdentity | None = None, *, account: str = "main"
) -> list[InboundEvent]:
    """The events of one update, in order; empty for what is ignored. Never raises.

    Without `me` no mention is known to be ours. The first event's id is the `update_id`, further
    ones of the same update append `:1`, `:2`. An `InlineQueried` carries the inline query's own
    id, because the answer names it.
    """
    update = mapping(payload)
    update_id = identity(update.get("update_id"))
    kind = kind_of(update)
    reader = _READERS.get(kind)
    if not update_id or reader is None:
        return []
    return reader(update_id, mapping(update.get(kind)), account, me)


def kind_of(payload: object) -> str:
    """What kind of update this is, fit for a counter: "message", "poll_answer", "unknown"."""
    for key in mapping(payload):
        if key != "update_id":
            return key if _KIND.fullmatch(str(key)) else "unknown"
    return "unknown"


def _message(
    event_id: str, raw: Mapping[str, object], account: str, me: BotIdentity | None
) -> list[InboundEvent]:
    read = read_message(raw, account, me)
    if read is None:
        return _membership_notices(event_id, raw, account, me)
    message, written = read
    if written.command:
        if written.for_other_bot:
            return []
        return [
            CommandInvoked(
                event_id,
                message.place,
                message.author,
                written.command,
                written.arguments,
                message,
            )
        ]
    return [MessageReceived(event_id, message)]


def _edited(
    event_id: str, raw: Mapping[str, object], account: str, me: BotIdentity | None
) -> list[InboundEvent]:
    read = read_message(raw, account, me)
    if read is None:
        return []
    message, written = read
    return [MessageEdited(event_id, message, written.command, written.arguments)]


def _membership_notices(
    event_id: str, raw: Mapping[str, object], account: str, me: BotIdentity | None
) -> list[InboundEvent]:
    """The service messages "joined" and "left", all that a bot without admin rights gets.

    Our own coming and going is left to `my_chat_member`, which always arrives as well.
    """
    place = place_of(mapping(raw.get("chat")), account, raw)
    if place is None:
        return []
    people = [(mapping(one), True) for one in listing(raw.get("new_chat_members"))[:100]]
    if isinstance(raw.get("left_chat_member"), dict):
        people.append((mapping(raw.get("left_chat_member")), False))
    events: list[InboundEvent] = []
    for user, joined in people:
        member = person_of(user)
        if member is not None and (me is None or member.id != me.id):
            number = _numbered(event_id, len(events))
            events.append(MembershipChanged(number, place, member, joined))
    return events


def _numbered(event_id: str, position: int) -> str:
    return event_id if position == 0 else f"{event_id}:{position}"


def _button(
    event_id: str, raw: Mapping[str, object], account: str, me: BotIdentity | None
) -> list[InboundEvent]:
    author = person_of(mapping(raw.get("from")))
    value = text(raw.get("data"))
    handle = text(raw.get("id"))[:MAX_QUERY]
    if author is None or not value or not handle or len(value.encode()) > MAX_DATA:
        return []
    message = mapping(raw.get("message"))
    chat = mapping(message.get("chat"))
    place = place_of(chat, account, message)
    if place is None and chat:
        return []
    if place is None:
        place = _inline_place(account, author, "")
    return [
        ButtonPressed(
            event_id,
            place,
            author,
            value,
            label=_label(message, value),
            message_id=identity(message.get("message_id")),
            reply_handle=handle,
        )
    ]


def _label(message: Mapping[str, object], value: str) -> str:
    for row in listing(mapping(message.get("reply_markup")).get("inline_keyboard"))[:100]:
        for button in listing(row)[:8]:
            if mapping(button).get("callback_data") == value:
                return text(mapping(button).get("text"))[:MAX_QUERY]
    return ""


def _inline(
    event_id: str, raw: Mapping[str, object], account: str, me: BotIdentity | None
) -> list[InboundEvent]:
    author = person_of(mapping(raw.get("from")))
    query_id = text(raw.get("id"))[:MAX_QUERY]
    if author is None or not query_id:
        return []
    place = _inline_place(account, author, raw.get("chat_type"))
    return [InlineQueried(query_id, place, author, text(raw.get("query"))[:MAX_QUERY])]


def _inline_place(account: str, author: MessageAuthor, chat_type: object) -> Place:
    """Where what is chosen will be read: unless in the chat with us, by anybody."""
    audience = Audience.DIRECT if chat_type == "sender" else Audience.PUBLIC_ROOM
    return Place("telegram", account, f"inline:{author.id}", audience)


def _reaction(
    event_id: str, raw: Mapping[str, object], account: str, me: BotIdentity | None
) -> list[InboundEvent]:
    place = place_of(mapping(raw.get("chat")), account)
    author = person_of(mapping(raw.get("user") or raw.get("actor_chat")))
    message_id = identity(raw.get("message_id"))
    if place is None or author is None or not message_id:
        return []
    before, after = _emojis(raw.get("old_reaction")), _emojis(raw.get("new_reaction"))
    changes = [(emoji, False) for emoji in before if emoji not in after]
    changes += [(emoji, True) for emoji in after if emoji not in before]
    return [
        ReactionChanged(_numbered(event_id, n), place, author, message_id, emoji, added)
        for n, (emoji, added) in enumerate(changes)
    ]


def _emojis(value: object) -> list[str]:
    found: list[str] = []
    for one in listing(value)[:MAX_REACTIONS]:
        reaction = mapping(one)
        emoji = text(reaction.get("emoji")) or text(reaction.get("custom_emoji_id"))
        if emoji and emoji not in found:
            found.append(emoji[:64])
    return found


def _member(
    event_id: str, raw: Mapping[str, object], account: str, me: BotIdentity | None
) -> list[InboundEvent]:
    new = mapping(raw.get("new_chat_member"))
    member = person_of(mapping(new.get("user")))
    place = place_of(mapping(raw.get("chat")), account)
    before, after = is_present(mapping(raw.get("old_chat_member"))), is_present(new)
    if member is None or place is None or before == after:
        return []
    is_self = me is not None and member.id == me.id
    return [MembershipChanged(event_id, place, member, after, is_self)]


def _my_member(
    event_id: str, raw: Mapping[str, object], account: str, me: BotIdentity | None
) -> list[InboundEvent]:
    new = mapping(raw.get("new_chat_member"))
    member = person_of(mapping(new.get("user"))) or author_of(raw)
    place = place_of(mapping(raw.get("chat")), account)
    before, after = is_present(mapping(raw.get("old_chat_member"))), is_present(new)
    if member is None or place is None or before == after:
        return []
    return [MembershipChanged(event_id, place, member, after, is_self=True)]


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
"""The kinds of update that Telegram is asked for."""
