"""A raw Telegram message as a `ChatMessage`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from adapters.telegram.entities import Me, Written, entities_of, read_text
from adapters.telegram.media import attachments_of, words_for
from adapters.telegram.raw import MAX_NAME, identity, mapping, moment, text
from gateway.message import (
    MAX_CONTENT,
    ChatMessage,
    MessageAuthor,
    Place,
    Quote,
    TelegramExtras,
)
from gateway.people import Audience

PLATFORM: Final = "telegram"
MAX_QUOTE: Final = 4096
"""Characters of a quoted message that are kept: the longest a message can be."""


def audience_of(chat: Mapping[str, object]) -> Audience:
    """Who reads along; a chat of a kind we do not know counts as public."""
    kind = chat.get("type")
    if kind == "private":
        return Audience.DIRECT
    if kind == "group":
        return Audience.PRIVATE_ROOM
    if kind in ("supergroup", "channel"):
        named = chat.get("username") or chat.get("active_usernames")
        return Audience.PUBLIC_ROOM if named else Audience.PRIVATE_ROOM
    return Audience.PUBLIC_ROOM


def place_of(
    chat: Mapping[str, object], account: str, message: Mapping[str, object] | None = None
) -> Place | None:
    """The place of a chat, or of the forum topic that `message` stands in; None without an id."""
    channel = identity(chat.get("id"))
    if not channel:
        return None
    thread = ""
    if message is not None and message.get("is_topic_message") is True:
        thread = identity(message.get("message_thread_id"))
    return Place(PLATFORM, account, channel, audience_of(chat), thread_id=thread)


def person_of(user: Mapping[str, object]) -> MessageAuthor | None:
    """A user, or a chat that writes in its own name; None without an id."""
    number = identity(user.get("id"))
    if not number:
        return None
    name = text(user.get("title"))
    if not name:
        name = f"{text(user.get('first_name'))} {text(user.get('last_name'))}".strip()
    name = name or text(user.get("username"))
    return MessageAuthor(number, name[:MAX_NAME], is_bot=user.get("is_bot") is True)


def author_of(message: Mapping[str, object]) -> MessageAuthor | None:
    """Who wrote; a channel or an anonymous administrator is the chat in whose name they write."""
    sender = message.get("sender_chat")
    if isinstance(sender, dict):
        return person_of(sender)
    user = message.get("from")
    return person_of(mapping(user) if isinstance(user, dict) else mapping(message.get("chat")))


def read_message(
    raw: Mapping[str, object], account: str, me: Me | None
) -> tuple[ChatMessage, Written] | None:
    """The message and what its text says; None when it holds nothing that a person said."""
    message_id, at = identity(raw.get("message_id")), moment(raw.get("date"))
    place = place_of(mapping(raw.get("chat")), account, raw)
    author = author_of(raw)
    if not message_id or at is None or place is None or author is None:
        return None
    if me is not None and author.id == me.id:
        return None
    source, entities = entities_of(raw)
    attachments = attachments_of(raw)
    words = "" if source else words_for(raw)
    if not source and not words and not attachments:
        return None
    written = read_text(source, entities, me)
    if "forward_origin" in raw or "forward_date" in raw:
        written = _forwarded(raw, replace(written, content=written.content or words))
        words = ""
    via_bot = me is not None and identity(mapping(raw.get("via_bot")).get("id")) == me.id
    quote = _quote(raw, me)
    message = ChatMessage(
        id=message_id,
        content=(written.content or words)[:MAX_CONTENT],
        author=author,
        place=place,
        timestamp=at,
        reply_to_id=quote.id if quote is not None and quote.id else None,
        quote=quote,
        attachments=attachments,
        mentions_bot=written.mentions_bot or via_bot,
        mentions_others=written.mentions_others,
        extras=TelegramExtras(
            command=written.command,
            command_args=written.arguments,
            hashtags=written.hashtags,
            mentions=written.mentions,
            urls=written.urls,
            media_group_id=text(raw.get("media_group_id"))[:MAX_NAME],
            via_bot=via_bot,
        ),
    )
    return message, written


def _forwarded(raw: Mapping[str, object], written: Written) -> Written:
    """Somebody else's words: named as such, and never a command of the person who forwards."""
    origin = mapping(raw.get("forward_origin"))
    user = mapping(origin.get("sender_user")) or mapping(raw.get("forward_from"))
    chat = mapping(origin.get("sender_chat") or origin.get("chat")) or mapping(
        raw.get("forward_from_chat")
    )
    source = person_of(user) or person_of(chat)
    name = source.name if source else text(origin.get("sender_user_name"))[:MAX_NAME]
    heading = f"Forwarded from {name or 'somebody'}:"
    return replace(
        written, content=f"{heading}\n{written.content}".strip(), command="", arguments=""
    )


def _quote(raw: Mapping[str, object], me: Me | None) -> Quote | None:
    """What the message replies to. In a topic every message "replies" to the topic's start."""
    reply = raw.get("reply_to_message")
    chosen = text(mapping(raw.get("quote")).get("text"))[:MAX_QUOTE]
    if not isinstance(reply, dict):
        other = mapping(raw.get("external_reply"))
        if not other and not chosen:
            return None
        origin = mapping(other.get("origin"))
        author = person_of(mapping(origin.get("sender_user") or origin.get("chat")))
        return Quote("", chosen, author.id if author else "", author.name if author else "", False)
    if "forum_topic_created" in reply:
        return None
    number = identity(reply.get("message_id"))
    if not number:
        return None
    source, entities = entities_of(reply)
    author = author_of(reply)
    return Quote(
        id=number,
        text=chosen or read_text(source, entities, None).content[:MAX_QUOTE] or words_for(reply),
        author_id=author.id if author else "",
        author_name=author.name if author else "",
        by_this_bot=me is not None and author is not None and author.id == me.id,
    )
