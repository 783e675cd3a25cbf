"""A raw Telegram message as a `ChatMessage`: its place, its author, and who wrote its text.

Fields: Bot API, "Message", "MessageOrigin", "ExternalReplyInfo". `forward_from` and similar fields
are those of versions before 7.0.
"""

from dataclasses import dataclass
from typing import Final

from adapters.shared.json_readers import (
    JsonObject,
    as_mapping,
    integer,
    mapping,
    numeric_id,
    objects,
    text,
    unix_time,
)
from adapters.telegram.media import FORWARD_FIELDS, MAX_NAME, attachments_of, card_in, task_of
from adapters.telegram.message_text import TelegramBot, TelegramText, entities_of, read_text
from gateway.authorship import Authorship, Material, within_bounds
from gateway.immutable import replace
from gateway.message import (
    MAX_CONTENT,
    MAX_LANGUAGE,
    ChatMessage,
    MessageAuthor,
    Place,
    Quote,
    utf16_units,
)
from gateway.people import Audience
from gateway.ports.adapter import counted, packed


@dataclass(frozen=True, slots=True)
class TelegramExtras:
    """`command` has no slash and no bot name."""

    command: str = ""
    command_args: str = ""
    hashtags: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    via_bot: bool = False

    @property
    def is_command(self) -> bool:
        """True when the message is a bot command."""
        return bool(self.command)

    @property
    def details(self) -> str:
        """See `gateway.ports.adapter.PlatformExtras`."""
        parts = (
            "command" * self.is_command,
            counted(len(self.mentions), "mention"),
            counted(len(self.hashtags), "hashtag"),
            "chosen from an inline query" * self.via_bot,
        )
        return ", ".join(filter(None, parts))


PLATFORM: Final = "telegram"
MAX_MEMBERS: Final = 50
"""Administrators of a group; the most that Telegram allows."""
MAX_QUOTE: Final = 4096
"""Characters of a quoted message that are kept: the longest that a message can be."""

PRESENT: Final = "present_id"
"""The field of a chat with its present id, where `id` is its first one: of a group that became a
supergroup."""
_PRESENT: Final = ("creator", "administrator", "member")
_UNKNOWN: Final = TelegramBot()


def audience_of(chat: JsonObject) -> Audience:
    """The audience of a chat. A chat of an unknown kind counts as public."""
    kind = chat.get("type")
    if kind == "private":
        return Audience.DIRECT
    named = chat.get("username") or chat.get("active_usernames")
    if kind == "group" or (kind in ("supergroup", "channel") and not named):
        return Audience.PRIVATE_ROOM
    return Audience.PUBLIC_ROOM


def place_of(chat: JsonObject, account: str, message: JsonObject | None = None) -> Place | None:
    """The place of a chat, or of the topic of `message`; None without an id.

    In a channel's direct messages each topic belongs to one person. That person and the channel's
    administrators read it, and people in other topics do not. A message that names no topic there
    has no place.
    """
    channel, fields = numeric_id(chat, "id"), message or {}
    if not channel:
        return None
    if chat.get("is_direct_messages") is True or "direct_messages_topic" in fields:
        topic = numeric_id(mapping(fields, "direct_messages_topic"), "topic_id")
        if message is not None and not topic:
            return None
        return Place(
            PLATFORM,
            account,
            channel,
            Audience.PRIVATE_ROOM,
            thread_id=topic,
            closed_thread=True,
            outsiders=True,
        )
    in_topic = fields.get("is_topic_message") is True
    thread = numeric_id(fields, "message_thread_id") if in_topic else ""
    return Place(
        PLATFORM,
        account,
        channel,
        audience_of(chat),
        thread_id=thread,
        present_channel_id=numeric_id(chat, PRESENT) if PRESENT in chat else "",
    )


def is_present(member: JsonObject) -> bool:
    """True for a ChatMember who is in the chat."""
    status = member.get("status")
    return status in _PRESENT or (status == "restricted" and member.get("is_member") is True)


def names_of_people(members: object) -> tuple[str, ...]:
    """The names of the people in an array of members, without bots and without those who act in
    the group's own name."""
    shown = (one for one in objects(members, MAX_MEMBERS) if one.get("is_anonymous") is not True)
    users = (user_of(mapping(one, "user")) for one in shown)
    return tuple(one.name for one in users if one is not None and one.name and not one.is_bot)


def user_of(user: JsonObject) -> MessageAuthor | None:
    """A user, or a chat that writes in its own name; None without an id."""
    user_id = numeric_id(user, "id")
    if not user_id:
        return None
    full_name = f"{text(user, 'first_name')} {text(user, 'last_name')}".strip()
    name = text(user, "title") or full_name or text(user, "username")
    return MessageAuthor(
        user_id,
        name[:MAX_NAME],
        is_bot=user.get("is_bot") is True,
        language=text(user, "language_code", MAX_LANGUAGE),
    )


def author_of(message: JsonObject) -> MessageAuthor | None:
    """The author. A channel or an anonymous administrator is the chat in whose name they write."""
    sender, user = message.get("sender_chat"), message.get("from")
    if isinstance(sender, dict):
        author = user_of(sender)
        own = mapping(message, "chat").get("id") == sender.get("id")
        return None if author is None else replace(author, is_chat=True, outside=not own)
    return user_of(user if isinstance(user, dict) else mapping(message, "chat"))


def read_message(raw: JsonObject, me: TelegramBot) -> tuple[ChatMessage, TelegramText] | None:
    """The message and its parsed text; None without content of a person."""
    if "business_connection_id" in raw:  # written to the account's owner, not to this bot
        return None
    message_id, timestamp = numeric_id(raw, "message_id"), unix_time(raw, "date")
    place, author = place_of(mapping(raw, "chat"), me.account, raw), author_of(raw)
    if not message_id or timestamp is None or place is None or author is None:
        return None
    source, entities = entities_of(raw)
    attachments = attachments_of(raw)
    card = None if source and "paid_media" not in raw else card_in(raw)
    if author.id == me.id or not (source or card or attachments):
        return None
    written = read_text(source, entities, me)
    material: tuple[Material, ...] = () if card is None else (card,)
    if (origin := _origin_of(raw, me.id)) is not None:
        material = _with_origin(written, card, *origin)
        written = TelegramText()
    via_bot, quote = _is_via(raw, me.id), _quote(raw, me)
    message = ChatMessage(
        id=message_id,
        content=written.content[:MAX_CONTENT],
        author=author,
        place=place,
        timestamp=timestamp,
        reply_to_id=(quote.id or None) if quote is not None else None,
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
        units=utf16_units(source) if written.content else 0,
    )
    return message, written


def _with_origin(
    written: TelegramText, card: Material | None, authorship: Authorship, writer: str
) -> tuple[Material, ...]:
    if written.content:
        return (Material(authorship, written.content, writer),)
    return () if card is None else (replace(card, authorship=authorship, by=writer),)


def _origin_of(raw: JsonObject, bot_id: str) -> tuple[Authorship, str] | None:
    """Authorship and writer of a text that the author only shows; None for the author's own text.
    `bot_id` is this bot's."""
    if _is_via(raw, bot_id):
        return "chosen", ""
    if not FORWARD_FIELDS.isdisjoint(raw):
        return "forwarded", _forwarded_from(raw)
    if "via_bot" in raw:
        bot = mapping(raw, "via_bot")
        username, writer = text(bot, "username"), user_of(bot)
        return "via_bot", f"@{username}"[:MAX_NAME] if username else writer.name if writer else ""
    return None


def _is_via(raw: JsonObject, bot_id: str) -> bool:
    """True for a message made by this bot's inline mode, unless it is forwarded."""
    if "via_bot" not in raw:
        return False
    made_by = numeric_id(mapping(raw, "via_bot"), "id")
    return bool(bot_id) and made_by == bot_id and FORWARD_FIELDS.isdisjoint(raw)


def _named_origin(origin: JsonObject) -> tuple[str, str]:
    """Id and name in a `MessageOrigin`; the id is empty for a hidden account."""
    source = user_of(mapping(origin, "sender_user")) or user_of(
        as_mapping(origin.get("sender_chat") or origin.get("chat"))
    )
    if source is not None:
        return source.id, source.name
    return "", text(origin, "sender_user_name", MAX_NAME)


def _forwarded_from(raw: JsonObject) -> str:
    _, name = _named_origin(mapping(raw, "forward_origin"))
    if name:
        return name
    source = user_of(mapping(raw, "forward_from")) or user_of(mapping(raw, "forward_from_chat"))
    if source is not None:
        return source.name
    if hidden := text(raw, "forward_sender_name", MAX_NAME):
        return hidden
    chat = user_of(mapping(raw, "sender_chat")) if "is_automatic_forward" in raw else None
    return chat.name if chat else ""


def _forward_note(reply: JsonObject, author: MessageAuthor | None) -> str:
    """The words before the text of a message that its author forwarded."""
    if FORWARD_FIELDS.isdisjoint(reply):
        return ""
    writer = _forwarded_from(reply)
    if not writer:
        return "(forwarded)"
    return "" if author and writer == author.name else f"(forwarded, written by {writer})"


def _selected(quote: JsonObject) -> str:
    """The part of the other message that the author chose to quote."""
    if not quote:
        return ""
    words = read_text(text(quote, "text", MAX_QUOTE), quote.get("entities"), _UNKNOWN).content
    return words[:MAX_QUOTE]


def _quote(raw: JsonObject, me: TelegramBot) -> Quote | None:
    """The message that this one replies to. In a topic, every message replies to its first one."""
    reply = raw.get("reply_to_message")
    selected = _selected(mapping(raw, "quote"))
    if not isinstance(reply, dict):
        other = mapping(raw, "external_reply")
        if not other and not selected:
            story = card_in({"story": raw.get("reply_to_story")})
            return None if story is None else Quote("", story.text)
        writer_id, writer = _named_origin(mapping(other, "origin"))
        rich = entities_of({"rich_message": other.get("rich_message")})
        content = read_text(*rich, _UNKNOWN).content[:MAX_QUOTE]
        card = card_in(other)
        shown = selected or content or (card.text if card else "")
        return Quote("", shown, writer_id, writer, attachments=attachments_of(other))
    message_id = numeric_id(reply, "message_id")
    if "forum_topic_created" in reply or not message_id:
        return None
    source, entities = entities_of(reply)
    author, card = author_of(reply), card_in(reply)
    shown = selected or read_text(source, entities, _UNKNOWN).content or (card.text if card else "")
    task = task_of(mapping(reply, "checklist"), integer(raw, "reply_to_checklist_task_id"))
    notes = (_forward_note(reply, author), shown, f"(the task {task})" if task else "")
    return Quote(
        id=message_id,
        text="\n".join(filter(None, notes))[:MAX_QUOTE],
        author_id=author.id if author else "",
        author_name=author.name if author else "",
        by_this_bot=author is not None and author.id == me.id,
        attachments=attachments_of(reply),
    )
