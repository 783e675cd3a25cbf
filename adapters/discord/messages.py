"""Messages as Discord sends them, turned into `ChatMessage`."""

import mimetypes
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from adapters.discord.authorship import material_of, said_in, snapshots_of
from adapters.discord.bot import BotIdentity, place_of
from adapters.discord.extras import DiscordExtras
from adapters.discord.json_readers import (
    MAX_NAME,
    identity,
    integer,
    mapping,
    mappings,
    moment,
    text,
)
from adapters.discord.message_text import author_of, message_text_of, name_of
from gateway.message import (
    MAX_CONTENT,
    Attachment,
    AttachmentKind,
    ChatMessage,
    Quote,
)
from gateway.ports.extras import packed

DEFAULT, REPLY, COMMAND_ANSWER, CONTEXT_MENU_ANSWER = 0, 19, 20, 23
WRITTEN: Final = (DEFAULT, REPLY, COMMAND_ANSWER, CONTEXT_MENU_ANSWER)
"""Message types that somebody wrote; all others are notices of the platform itself."""

MAX_ATTACHMENTS: Final = 25
MAX_URL: Final = 2000

_DISCORD_EPOCH_MS: Final = 1_420_070_400_000
_STICKER_FORMATS: Final = {1: "png", 2: "png", 3: "json", 4: "gif"}
_STICKERS: Final = "https://media.discordapp.net/stickers"
_DOCUMENTS: Final = ("text/", "application/")


def message_of(data: Mapping[str, object], bot: BotIdentity) -> ChatMessage | None:
    """The message of a MESSAGE_CREATE or MESSAGE_UPDATE, None when nobody wrote it, or this bot."""
    author, place, message_id = author_of(data), place_of(data, bot), identity(data.get("id"))
    if author is None or place is None or not message_id or author.id == bot.user_id:
        return None
    kind = integer(data.get("type", DEFAULT))
    if kind not in WRITTEN:
        return None
    words = message_text_of(data, bot)
    forwarded = (file for one in snapshots_of(data) for file in _attachments(one))
    attachments = [*_attachments(data), *forwarded]
    return ChatMessage(
        id=message_id,
        content=words.content,
        author=author,
        place=place,
        timestamp=moment(data.get("timestamp")) or _created_at(message_id),
        reply_to_id=_reply_to(data) or None,
        quote=_quote(data, bot),
        attachments=tuple(attachments[:MAX_ATTACHMENTS]),
        mentions_bot=words.mentions_bot,
        mentions_others=words.mentions_others,
        extras=packed(DiscordExtras(words.mentions, words.role_mentions, words.mentions_everyone)),
        material=material_of(data, bot),
    )


def _created_at(message_id: str) -> datetime:
    """The time inside a snowflake; now when the id is none."""
    try:
        millis = (int(message_id) >> 22) + _DISCORD_EPOCH_MS
        return datetime.fromtimestamp(millis / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.now(UTC)


def _reply_to(data: Mapping[str, object]) -> str:
    reference = mapping(data.get("message_reference"))
    is_reply = integer(reference.get("type", DEFAULT)) == DEFAULT
    return identity(reference.get("message_id")) if is_reply else ""


def _quote(data: Mapping[str, object], bot: BotIdentity) -> Quote | None:
    original = mapping(data.get("referenced_message"))
    original_id = identity(original.get("id"))
    if not original_id or not _reply_to(data):
        return None
    author = mapping(original.get("author"))
    author_id = identity(author.get("id"))
    return Quote(
        id=original_id,
        text=said_in(original, bot)[:MAX_CONTENT],
        author_id=author_id,
        author_name=name_of(author, mapping(original.get("member"))),
        by_this_bot=bool(bot.user_id) and author_id == bot.user_id,
    )


def _attachments(data: Mapping[str, object]) -> list[Attachment]:
    files = (_attachment(item) for item in mappings(data.get("attachments")))
    stickers = (_sticker(item) for item in mappings(data.get("sticker_items")))
    return [found for found in (*files, *stickers) if found is not None]


def _attachment(item: Mapping[str, object]) -> Attachment | None:
    url = text(item.get("url"))
    if not url.startswith(("https://", "http://")) or len(url) > MAX_URL:
        return None
    name = text(item.get("filename"))[:MAX_NAME]
    declared = text(item.get("content_type")).partition(";")[0].strip().lower()
    mime = (declared or mimetypes.guess_type(name)[0] or "")[:MAX_NAME]
    size = integer(item.get("size"))
    return Attachment(_kind(mime), url, name, mime, size if size and size > 0 else None)


def _kind(mime: str) -> AttachmentKind:
    if mime.startswith("image/"):
        return "image"
    if mime.startswith("audio/"):
        return "audio"
    if mime.startswith("video/"):
        return "video"
    return "document" if mime.startswith(_DOCUMENTS) else "other"


def _sticker(item: Mapping[str, object]) -> Attachment | None:
    sticker_id = identity(item.get("id"))
    ending = _STICKER_FORMATS.get(integer(item.get("format_type")) or 0)
    if not sticker_id or ending is None:
        return None
    mime = mimetypes.guess_type(f"sticker.{ending}")[0] or ""
    ref = f"{_STICKERS}/{sticker_id}.{ending}"
    return Attachment("sticker", ref, text(item.get("name"))[:MAX_NAME], mime)
