"""A raw Discord message as a `ChatMessage`: own text, files, and text of others.

Fields: Discord, "Message Object", "Message Snapshot Object", "Embed Object", "Poll Object".
"""

import mimetypes
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from mimetypes import guess_type
from typing import Final

from adapters.discord.event_context import DiscordBot, place_of
from adapters.discord.message_text import (
    MAX_NAME,
    author_of,
    media_of_components,
    message_text_of,
    name_of,
)
from adapters.shared.json_readers import (
    JsonObject,
    identifier,
    integer,
    iso_time,
    items,
    mapping,
    number,
    text,
)
from gateway.authorship import Material, within_bounds
from gateway.immutable import replace
from gateway.message import (
    MAX_CONTENT,
    Attachment,
    AttachmentKind,
    ChatMessage,
    Quote,
    utf16_units,
)
from gateway.ports.adapter import counted, packed


@dataclass(frozen=True, slots=True)
class DiscordExtras:
    """The mentions of a message, by id."""

    mentions: tuple[str, ...] = ()
    role_mentions: tuple[str, ...] = ()
    mentions_everyone: bool = False

    @property
    def details(self) -> str:
        """See `gateway.ports.adapter.PlatformExtras`."""
        parts = (
            counted(len(self.mentions), "mention"),
            counted(len(self.role_mentions), "role mention"),
            "@everyone" * self.mentions_everyone,
        )
        return ", ".join(filter(None, parts))


DEFAULT, REPLY, COMMAND_ANSWER, CONTEXT_MENU_ANSWER = 0, 19, 20, 23
WRITTEN: Final = (DEFAULT, REPLY, COMMAND_ANSWER, CONTEXT_MENU_ANSWER)
"""Message types with an author; all others are notices of the platform."""
VOICE_MESSAGE: Final = 1 << 13
"""The flag of a message that is one recording of its author (Discord: IS_VOICE_MESSAGE)."""
FORWARD: Final = 1
"""The type of a `message_reference` that forwards."""

MAX_ATTACHMENTS: Final = 25
MAX_SNAPSHOTS: Final = 5
"""Messages that one message forwards; Discord sends one."""
MAX_ANSWERS: Final = 10
"""Answers of a poll (Discord)."""

DISCORD_EPOCH_MS: Final = 1_420_070_400_000
"""The time that the ids of Discord count from."""
PASTED: Final = "message.txt"
"""The name of the file that the client makes of a text beyond its limit."""
_EXPIRES: Final = re.compile(r"[?&]ex=([0-9a-f]{1,12})(?:&|$)")
"""The time at which a signed address expires, in seconds since the epoch."""
_ORIGIN: Final = re.compile(r"([0-9]{1,20})/([0-9]{1,20})")
_STICKER_FORMATS: Final = {1: "png", 2: "png", 3: "json", 4: "gif"}
_STICKERS: Final = "https://media.discordapp.net/stickers"
_KINDS: Final[dict[str, AttachmentKind]] = {
    "image": "image",
    "audio": "audio",
    "video": "video",
    "text": "document",
    "application": "document",
}


def message_of(data: JsonObject, bot: DiscordBot) -> ChatMessage | None:
    """The message of a MESSAGE_CREATE or MESSAGE_UPDATE; None for notices and for the bot's own."""
    author, place, message_id = author_of(data), place_of(data, bot), identifier(data, "id")
    if author is None or place is None or not message_id or author.id == bot.user_id:
        return None
    if data.get("type", DEFAULT) not in WRITTEN:
        return None
    written = message_text_of(data, bot)
    return ChatMessage(
        id=message_id,
        content=written.content,
        author=author,
        place=place,
        timestamp=iso_time(data, "timestamp") or _created_at(message_id),
        reply_to_id=_reply_to(data) or None,
        quote=_quote(data, bot),
        attachments=_all_attachments(data),
        mentions_bot=written.mentions_bot,
        mentions_others=written.mentions_others,
        extras=packed(
            DiscordExtras(
                mentions=written.mentions,
                role_mentions=written.role_mentions,
                mentions_everyone=written.mentions_everyone,
            )
        ),
        material=_material(data, bot),
        units=utf16_units(text(data, "content")),
    )


def _created_at(message_id: str) -> datetime:
    """The time inside a snowflake; the current time for any other id."""
    try:
        return datetime.fromtimestamp(((int(message_id) >> 22) + DISCORD_EPOCH_MS) / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.now(UTC)


def _reply_to(data: JsonObject) -> str:
    reference = mapping(data, "message_reference")
    is_reply = reference.get("type", DEFAULT) == DEFAULT
    return identifier(reference, "message_id") if is_reply else ""


def _quote(data: JsonObject, bot: DiscordBot) -> Quote | None:
    original, replied = mapping(data, "referenced_message"), _reply_to(data)
    original_id, author = identifier(original, "id"), mapping(original, "author")
    if not replied:
        return None
    if not original_id:  # deleted, or not loaded; a message of a followed channel is no reply
        return Quote(replied) if data.get("type") == REPLY else None
    author_id = identifier(author, "id")
    return Quote(
        id=original_id,
        text=_all_text(original, bot)[:MAX_CONTENT],
        author_id=author_id,
        author_name=name_of(author, mapping(original, "member")),
        by_this_bot=bool(bot.user_id) and author_id == bot.user_id,
        attachments=_all_attachments(original),
    )


def _all_attachments(data: JsonObject) -> tuple[Attachment, ...]:
    """The files of a message, and of those that it forwards."""
    forwarded = (file for one in _snapshots(data) for file in _attachments(one))
    files = (*_attachments(data), *forwarded)[:MAX_ATTACHMENTS]
    if (integer(data, "flags") or 0) & VOICE_MESSAGE and not _snapshots(data):
        files = tuple(replace(file, voice=file.kind == "audio") for file in files)
    return tuple(with_origin(file, data) for file in files)


def _attachments(data: JsonObject) -> list[Attachment]:
    """The files of a message: sent with it, shown in its components and embeds, and stickers. Each
    once: what is sent with a message is often shown in it."""
    shown = (*items(data, "attachments"), *media_of_components(data), *media_of_embeds(data))
    files = (*map(_attachment, shown), *map(_sticker, items(data, "sticker_items")))
    known = {_address(file.ref): file for file in reversed(files) if file is not None}
    return list(reversed(known.values()))


def _address(url: str) -> str:
    """An address without its signature and without the host, which the media proxy changes."""
    return url.partition("?")[0].partition("://")[2].partition("/")[2] or url


def with_origin(file: Attachment, data: JsonObject) -> Attachment:
    """A file whose signed address has, as its fragment, the channel and the message that give a
    new one: Discord's signatures expire after a day."""
    channel, message = identifier(data, "channel_id"), identifier(data, "id")
    if not (channel and message and _EXPIRES.search(file.ref)):
        return file
    return replace(file, ref=f"{file.ref.partition('#')[0]}#{channel}/{message}")


def expired(file: Attachment, now: float) -> tuple[str, str] | None:
    """The channel and the message that give a new address of a file whose signature has expired
    (`now` in seconds), or expires within a minute; None for any other file."""
    url, _, origin = file.ref.partition("#")
    signed, named = _EXPIRES.search(url), _ORIGIN.fullmatch(origin)
    if signed is None or named is None or int(signed[1], 16) > now + 60:
        return None
    return named[1], named[2]


def renewed(file: Attachment, data: JsonObject) -> Attachment | None:
    """The same file with the address that it has in the message as it is now; None if it is not in
    it any more."""
    address = _address(file.ref)
    return next((one for one in _all_attachments(data) if _address(one.ref) == address), None)


def _attachment(item: JsonObject) -> Attachment | None:
    url, name = text(item, "url"), text(item, "filename", MAX_NAME)
    if not url.startswith(("https://", "http://")) or len(url) > MAX_URL:
        return None
    declared = text(item, "content_type").partition(";")[0].strip().lower()
    mime = (declared or mimetypes.guess_type(name)[0] or "")[:MAX_NAME]
    size, kind = integer(item, "size"), _KINDS.get(mime.partition("/")[0], "other")
    pasted = name == PASTED and mime == "text/plain"
    length = number(item, "duration_secs")
    seconds = length if length is not None and length >= 0 else None
    return Attachment(
        kind, url, name, mime, size if size and size > 0 else None, pasted, seconds=seconds
    )


def _sticker(item: JsonObject) -> Attachment | None:
    sticker_id = identifier(item, "id")
    extension = _STICKER_FORMATS.get(integer(item, "format_type") or 0)
    if not sticker_id or extension is None:
        return None
    mime = mimetypes.guess_type(f"sticker.{extension}")[0] or ""
    ref = f"{_STICKERS}/{sticker_id}.{extension}"
    return Attachment("sticker", ref, text(item, "name", MAX_NAME), mime)


def _snapshots(data: JsonObject) -> list[JsonObject]:
    """The forwarded messages, as they were at the time of forwarding."""
    if integer(mapping(data, "message_reference"), "type") != FORWARD:
        return []
    return [mapping(one, "message") for one in items(data, "message_snapshots", MAX_SNAPSHOTS)]


def _material(data: JsonObject, bot: DiscordBot) -> tuple[Material, ...]:
    """Text of others in a message. Discord does not name the author of a forwarded message."""
    forwarded = [Material("forwarded", _all_text(one, bot)) for one in _snapshots(data)]
    previews = [Material("preview", embed) for embed in texts_of_embeds(data)]
    return within_bounds((*forwarded, Material("card", _poll(data)), *previews))


def _all_text(data: JsonObject, bot: DiscordBot) -> str:
    """All text of a message that is forwarded or replied to: words, poll, embeds, forwards."""
    parts = [
        part
        for one, note in ((data, ""), *((one, "(forwarded)") for one in _snapshots(data)))
        for part in (note, message_text_of(one, bot).content, _poll(one), *texts_of_embeds(one))
    ]
    return "\n".join(filter(None, parts))


def _poll(data: JsonObject) -> str:
    poll = mapping(data, "poll")
    answers = items(poll, "answers", MAX_ANSWERS)
    if not answers and not mapping(poll, "question"):
        return ""
    counts = items(mapping(poll, "results"), "answer_counts", MAX_ANSWERS)
    votes = {integer(one, "id"): integer(one, "count") or 0 for one in counts}
    lines = [f"Poll: {_poll_media(mapping(poll, 'question'))}".rstrip()]
    for one in answers:
        count = votes.get(integer(one, "answer_id"))
        tail = "" if count is None else f" ({count} {'vote' if count == 1 else 'votes'})"
        lines.append(f"- {_poll_media(mapping(one, 'poll_media'))}{tail}")
    return "\n".join(lines)


def _poll_media(media: JsonObject) -> str:
    """A question or an answer: a text, an emoji, or both."""
    emoji = mapping(media, "emoji")
    name = text(emoji, "name", 100)
    shown = f":{name or 'emoji'}:" if identifier(emoji, "id") else name
    return " ".join(filter(None, (shown, text(media, "text"))))


MAX_EMBEDS: Final = 10
MAX_FIELDS: Final = 25
"""Embeds of one message, and fields of one embed (Discord)."""
MAX_URL: Final = 2_000
_SHOWN: Final = ("rich", "image", "gifv", "")
"""Kinds whose picture is content. In the preview of a linked page or video it only decorates."""


def texts_of_embeds(message: JsonObject) -> list[str]:
    """The text of each embed that has one, with the addresses to which it leads."""
    written = text(message, "content")
    shown = (_embed(one, written) for one in items(message, "embeds", MAX_EMBEDS))
    return [content for content in shown if content]


def media_of_embeds(message: JsonObject) -> list[JsonObject]:
    """The pictures that embeds show, each in the form of an attachment, at the address of Discord's
    media proxy: the picture itself may lie anywhere."""
    found: list[JsonObject] = []
    for embed in items(message, "embeds", MAX_EMBEDS):
        if text(embed, "type", 20) not in _SHOWN:
            continue
        for key in ("image", "thumbnail"):
            picture = mapping(embed, key)
            proxied = text(picture, "proxy_url", MAX_URL)
            if proxied:
                name = text(picture, "url", MAX_URL).partition("?")[0].rpartition("/")[2]
                kind = text(picture, "content_type", 100) or guess_type(name)[0] or "image/png"
                found.append({"url": proxied, "filename": name[:100], "content_type": kind})
                break
    return found


def _embed(embed: JsonObject, written: str) -> str:
    """The text of an embed. An address that the author wrote is not said again."""
    author, fields = mapping(embed, "author"), items(embed, "fields", MAX_FIELDS)
    if text(embed, "type", 20) == "poll_result":
        return _poll_result({text(one, "name", 100): text(one, "value") for one in fields})
    parts = [
        _linked(text(author, "name"), text(author, "url", MAX_URL), written),
        _linked(text(embed, "title"), text(embed, "url", MAX_URL), written),
        text(embed, "description"),
        *(f"{text(field, 'name')}: {text(field, 'value')}" for field in fields),
        text(mapping(embed, "footer"), "text"),
        *_pictures(embed, written),
    ]
    return "\n".join(part for part in parts if part.strip())


def _poll_result(fields: dict[str, str]) -> str:
    """The end of a poll, which the client shows in words."""
    words = (fields.get("victor_answer_emoji_name", ""), fields.get("victor_answer_text", ""))
    winner, total = " ".join(filter(None, words)), fields.get("total_votes", "")
    votes = f"{fields.get('victor_answer_votes', '')} of {total} votes"
    result = f"- {winner} ({votes})" if winner else f"- no winner ({total} votes)"
    return f"Poll result: {fields.get('poll_question_text', '')}\n{result}"


def _linked(words: str, url: str, written: str) -> str:
    if not url or url in written or url in words:
        return words
    return f"{words} ({url})" if words else url


def _pictures(embed: JsonObject, written: str) -> list[str]:
    """The addresses of the picture and the video, without those of small decorations."""
    kinds = (("Picture", "image"), ("Video", "video"))
    urls = ((name, text(mapping(embed, key), "url", MAX_URL)) for name, key in kinds)
    leads = ("http://", "https://")
    return [f"{name}: {url}" for name, url in urls if url.startswith(leads) and url not in written]
