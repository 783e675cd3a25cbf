"""A raw Telegram message as a `ChatMessage`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from adapters.telegram.authorship import is_via, named_origin, shown_by_author
from adapters.telegram.extras import TelegramExtras
from adapters.telegram.json_readers import identity, mapping, moment, text
from adapters.telegram.media import attachments_of, card_in
from adapters.telegram.message_text import BotIdentity, MessageText, entities_of, read_text
from adapters.telegram.people import author_of
from gateway.authorship import Material, within_bounds
from gateway.message import MAX_CONTENT, ChatMessage, Place, Quote
from gateway.people import Audience
from gateway.ports.extras import packed

PLATFORM: Final = "telegram"
_PRESENT: Final = ("creator", "administrator", "member")
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
    """The place of a chat, or of the topic that `message` stands in; None without an id.

    In a channel's direct messages each topic is one person's: it is read by them and by the
    channel's administrators, and by nobody in other topics. A message that names no topic there
    has no place.
    """
    channel = identity(chat.get("id"))
    if not channel:
        return None
    thread = ""
    if chat.get("is_direct_messages") is True or "direct_messages_topic" in (message or {}):
        topic = mapping((message or {}).get("direct_messages_topic"))
        thread = identity(topic.get("topic_id"))
        if message is not None and not thread:
            return None
        return Place(
            PLATFORM,
            account,
            channel,
            Audience.PRIVATE_ROOM,
            thread_id=thread,
            closed_thread=True,
            outsiders=True,
        )
    if message is not None and message.get("is_topic_message") is True:
        thread = identity(message.get("message_thread_id"))
    return Place(PLATFORM, account, channel, audience_of(chat), thread_id=thread)


def is_present(member: Mapping[str, object]) -> bool:
    """True for a ChatMember who is in the chat."""
    status = member.get("status")
    if status == "restricted":
        return member.get("is_member") is True
    return status in _PRESENT


def read_message(
    raw: Mapping[str, object], account: str, me: BotIdentity | None
) -> tuple[ChatMessage, MessageText] | None:
    """The message and what its text says; None when it holds nothing that a person said."""
    if (
        "business_connection_id" in raw
    ):  # a customer of the account's owner, who asked nothing of us
        return None
    message_id, at = identity(raw.get("message_id")), moment(raw.get("date"))
    place = place_of(mapping(raw.get("chat")), account, raw)
    author = author_of(raw)
    if not message_id or at is None or place is None or author is None:
        return None
    if me is not None and author.id == me.id:
        return None
    source, entities = entities_of(raw)
    attachments = attachments_of(raw)
    card = None if source else card_in(raw)
    if not source and card is None and not attachments:
        return None
    written = read_text(source, entities, me)
    material: tuple[Material, ...] = () if card is None else (card,)
    if (shown := shown_by_author(raw, me.id if me is not None else "")) is not None:
        authorship, writer = shown
        if written.content:
            material = (Material(authorship, written.content, writer),)
        elif card is not None:
            material = (replace(card, authorship=authorship, by=writer),)
        written = MessageText()
    via_bot = me is not None and is_via(raw, me.id)
    quote = _quote(raw, me)
    message = ChatMessage(
        id=message_id,
        content=written.content[:MAX_CONTENT],
        author=author,
        place=place,
        timestamp=at,
        reply_to_id=quote.id if quote is not None and quote.id else None,
        quote=quote,
        attachments=attachments,
        mentions_bot=written.mentions_bot or via_bot,
        mentions_others=written.mentions_others,
        extras=packed(
            TelegramExtras(
                command=written.command,
                command_args=written.arguments,
                hashtags=written.hashtags,
                mentions=written.mentions,
                via_bot=via_bot,
            )
        ),
        material=within_bounds(material),
    )
    return message, written


def _quote(raw: Mapping[str, object], me: BotIdentity | None) -> Quote | None:
    """What the message replies to. In a topic every message "replies" to the topic's start."""
    reply = raw.get("reply_to_message")
    chosen = text(mapping(raw.get("quote")).get("text"))[:MAX_QUOTE]
    if not isinstance(reply, dict):
        other = mapping(raw.get("external_reply"))
        if not other and not chosen:
            return None
        writer_id, writer = named_origin(mapping(other.get("origin")))
        card = card_in(other)
        return Quote("", chosen or (card.text if card else ""), writer_id, writer, False)
    if "forum_topic_created" in reply:
        return None
    number = identity(reply.get("message_id"))
    if not number:
        return None
    source, entities = entities_of(reply)
    author, card = author_of(reply), card_in(reply)
    said = read_text(source, entities, None).content[:MAX_QUOTE]
    return Quote(
        id=number,
        text=chosen or said or (card.text if card else ""),
        author_id=author.id if author else "",
        author_name=author.name if author else "",
        by_this_bot=me is not None and author is not None and author.id == me.id,
    )
