"""Slack's message events: written, changed, deleted; and the text of others in them.

Fields: Slack, "Reference: Secondary message attachments", and those that Slack sets for a message
that is forwarded (`is_share`), linked (`is_msg_unfurl`) or unfurled (`from_url`).
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from adapters.shared.json_readers import (
    JsonObject,
    identifier,
    integer,
    items,
    mapping,
    text,
)
from adapters.slack.event_context import EventContext, event_id, message_ts, time_of
from adapters.slack.message_text import (
    escape,
    fuller,
    lacks_words,
    node_budget,
    only_rich_text,
    read_text,
    text_of_blocks,
)
from gateway.authorship import Authorship, Material, within_bounds
from gateway.message import (
    MAX_CONTENT,
    Attachment,
    AttachmentKind,
    ChatMessage,
    InboundEvent,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    utf16_units,
)
from gateway.ports.adapter import counted, packed


@dataclass(frozen=True, slots=True)
class SlackExtras:
    """`blocks` is the JSON text of the message's Block Kit blocks; mentions are ids."""

    blocks: str = ""
    mentions: tuple[str, ...] = ()
    channel_mentions: tuple[str, ...] = ()
    broadcast: bool = False

    @property
    def details(self) -> str:
        """See `gateway.ports.adapter.PlatformExtras`."""
        parts = (
            "blocks" * bool(self.blocks),
            counted(len(self.mentions), "mention"),
            counted(len(self.channel_mentions), "channel mention"),
            "broadcast" * self.broadcast,
        )
        return ", ".join(filter(None, parts))


_WRITTEN: Final = {"", "file_share", "thread_broadcast", "me_message", "bot_message"}
"""Subtypes with an author; all others are notices of the channel."""

_MAX_FILES: Final = 20
AUDIO_CLIP: Final = "slack_audio"
"""The subtype of a file that Slack's client recorded."""
BY_ID: Final = "file:"
"""Begins the reference to a file of which a message contains the id alone."""
_MAX_ATTACHMENTS: Final = 10
_MAX_MESSAGES: Final = 10
"""Messages inside one attachment that are read."""
_MAX_FIELDS: Final = 25
_NOTICES: Final = frozenset({"USLACKBOT", "USLACK"})
"""Slack's own accounts. They write notices, which Slack does not mark as a bot's."""
_NO_PREVIEW: Final = "[no preview available]"
_MAX_BLOCKS_JSON: Final = 20_000
_KINDS: Final[dict[str, AttachmentKind]] = {
    "image": "image",
    "audio": "audio",
    "video": "video",
    "": "other",
}


def message_events(
    event: JsonObject, context: EventContext, *, addressed: bool
) -> list[InboundEvent]:
    """The events of a `message` or (with `addressed`) of an `app_mention`."""
    match text(event, "subtype", 50):
        case "message_changed":
            return _changed(event, context)
        case "message_deleted":
            return _deleted(event, context, event, mapping(event, "previous_message"))
        case subtype if subtype in _WRITTEN:
            message = _message(event, event, context, addressed=addressed)
            if message is None:
                return []
            # Slack sends a mention twice, as message and as app_mention, with two event ids. An id
            # of their common fields makes the second one a duplicate.
            written = event_id("message", message.channel_id, message.id)
            return [MessageReceived(written, message)]
        case _:
            return []


def _changed(event: JsonObject, context: EventContext) -> list[InboundEvent]:
    now, before = mapping(event, "message"), mapping(event, "previous_message")
    if text(now, "subtype", 50) == "tombstone":
        return _deleted(event, context, now, before)
    if text(now, "subtype", 50) not in _WRITTEN or not _was_edited(now, before):
        return []
    message = _message(now, event, context, addressed=False)
    if message is None:
        return []
    changed = message_ts(mapping(now, "edited"), "ts") or message_ts(event, "ts")
    fallback = event_id("edit", message.channel_id, message.id, changed)
    return [MessageEdited(context.event_id or fallback, message)]


def _was_edited(now: JsonObject, before: JsonObject) -> bool:
    """True when a person changed the message. The preview of a link changes it as well."""
    if not before:
        return bool(mapping(now, "edited"))
    return any(now.get(key) != before.get(key) for key in ("text", "files")) or (
        not text(now, "text") and now.get("blocks") != before.get("blocks")
    )


def _deleted(
    event: JsonObject, context: EventContext, gone: JsonObject, before: JsonObject
) -> list[InboundEvent]:
    ts = message_ts(event, "deleted_ts") or message_ts(gone, "ts")
    channel = identifier(event, "channel")
    if not (ts and channel):
        return []
    place = context.place_of(channel, text(event, "channel_type", 50), _thread(before, ts), ts)
    return [MessageDeleted(context.event_id or event_id("deletion", channel, ts), place, (ts,))]


def _message(
    raw: JsonObject, event: JsonObject, context: EventContext, *, addressed: bool
) -> ChatMessage | None:
    """The message `raw` inside `event`. None for the bot's own messages and malformed ones."""
    ts = message_ts(raw, "ts") or message_ts(raw, "event_ts")
    channel = identifier(event, "channel") or identifier(raw, "channel")
    author = context.author(raw)
    if not (ts and channel) or author is None or context.is_me(raw) or author.id in _NOTICES:
        return None
    left = node_budget()
    attachments = items(raw, "attachments", _MAX_ATTACHMENTS)
    source = _source(raw, left, by_program=author.is_bot)
    if not source and author.is_bot:
        source = _plain_text(attachments, left)
    me = context.me
    # A mention in a shared message addresses nobody.
    written = read_text(source, me.user_id, me.names, addressed=addressed and "<@" in source)
    thread = _thread(raw, ts)
    return ChatMessage(
        id=ts,
        content=written.content,
        author=author,
        place=context.place_of(channel, text(event, "channel_type", 50), thread, ts),
        timestamp=time_of(ts),
        reply_to_id=thread or None,
        attachments=_files(raw, attachments),
        mentions_bot=written.mentions_me,
        mentions_others=written.mentions_others,
        extras=packed(
            SlackExtras(
                blocks=_blocks_json(raw),
                mentions=written.mentions,
                channel_mentions=written.channels,
                broadcast=written.broadcast,
            )
        ),
        material=within_bounds(
            (
                *_transcripts(raw),
                *(
                    _material(attachment, context, left)
                    for attachment in attachments
                    if not (author.is_bot and _is_plain(attachment))
                ),
            )
        ),
        units=utf16_units(source) if written.content else 0,
    )


def _thread(raw: JsonObject, ts: str) -> str:
    """The thread of a message; the thread's first message has its own id there."""
    thread = message_ts(raw, "thread_ts")
    return "" if thread == ts else thread


def _files(raw: JsonObject, attachments: list[JsonObject]) -> tuple[Attachment, ...]:
    own = items(raw, "files", _MAX_FILES)
    shown = [file for source in attachments for file in items(source, "files", _MAX_FILES)]
    files = [(file, identifier(raw, "user")) for file in own] + [(file, "") for file in shown]
    found = (attachment_of(file, author) for file, author in files[:_MAX_FILES])
    return tuple(one for one in found if one is not None)


def attachment_of(file: JsonObject, author: str = "") -> Attachment | None:
    """A file of a message; None for a deleted or hidden one. `author` wrote the message; empty
    where they only show it."""
    if text(file, "mode", 50) in ("tombstone", "hidden_by_limit"):
        return None
    ref = text(file, "url_private_download", 3000) or text(file, "url_private", 3000)
    if not ref and identifier(file, "id"):
        ref = f"{BY_ID}{identifier(file, 'id')}"
    if not ref:
        return None
    size, mime = integer(file, "size"), text(file, "mimetype", 100)
    name = text(file, "name", 255) or text(file, "title", 255)
    kind = _KINDS.get(mime.partition("/")[0], "document")
    size = size if size is not None and size >= 0 else None
    # The client offers to send a long text as a snippet.
    pasted = text(file, "mode", 50) == "snippet" and mime == "text/plain"
    clip = text(file, "subtype", 50) == AUDIO_CLIP
    if clip:  # the clip can be a video file without a picture
        kind = "audio"
    own = clip and bool(author) and identifier(file, "user") == author
    length = integer(file, "duration_ms")
    seconds = length / 1000 if length is not None and length >= 0 and kind == "audio" else None
    return Attachment(kind, ref, name, mime, size, pasted, own, seconds)


def _blocks_json(raw: JsonObject) -> str:
    """The blocks as JSON; empty when there are none, or more than `_MAX_BLOCKS_JSON` characters."""
    blocks = raw.get("blocks")
    if not isinstance(blocks, list) or not blocks:
        return ""
    pieces: list[str] = []
    left = _MAX_BLOCKS_JSON
    try:
        for piece in json.JSONEncoder().iterencode(blocks):
            pieces.append(piece)
            left -= len(piece)
            if left < 0:
                return ""
    except (TypeError, ValueError, RecursionError):
        return ""
    return "".join(pieces)


def _source(raw: JsonObject, left: Iterator[int], *, by_program: bool) -> str:
    """The text of a message. People see its blocks: `text` is mostly the same where Slack's
    composer made them, and otherwise what an app wrote for notifications."""
    written, shown = text(raw, "text"), text_of_blocks(raw, left)
    composed = written and not by_program and only_rich_text(raw)
    return written if composed and not lacks_words(written, shown) else fuller(written, shown)


def _plain_text(attachments: list[JsonObject], left: Iterator[int]) -> str:
    """The text of attachments that a program writes instead of a message."""
    texts = (_attachment_text(one, left) for one in attachments if _is_plain(one))
    return "\n".join(part for part in texts if part)[:MAX_CONTENT]


def _material(attachment: JsonObject, context: EventContext, left: Iterator[int]) -> Material:
    writer = text(attachment, "author_name", 80) or text(attachment, "service_name", 80)
    content = read_text(_attachment_text(attachment, left), "", context.me.names).content
    return Material(_authorship(attachment), content, writer)


def _transcripts(raw: JsonObject) -> Iterator[Material]:
    """The words that Slack understood of clips; people see them below the clips."""
    for file in items(raw, "files", _MAX_FILES):
        preview = mapping(mapping(file, "transcription"), "preview")
        if words := text(preview, "content"):
            rest = " […]" if preview.get("has_more") is True else ""
            yield Material("file", f"Transcript by Slack: {words}{rest}", text(file, "name", 255))


def _authorship(attachment: JsonObject) -> Authorship:
    if _is_shared(attachment):
        return "forwarded"
    return "card" if _is_plain(attachment) else "preview"


def _is_shared(attachment: JsonObject) -> bool:
    """True for a message that a person forwards or links to."""
    return (
        attachment.get("is_share") is True
        or attachment.get("is_msg_unfurl") is True
        or bool(items(attachment, "message_blocks", 1))
    )


def _is_plain(attachment: JsonObject) -> bool:
    """True for an attachment that an app made for its own message."""
    unfurled = any(text(attachment, key, 3000) for key in ("from_url", "original_url"))
    return not (_is_shared(attachment) or unfurled)


def _attachment_text(attachment: JsonObject, left: Iterator[int]) -> str:
    messages = items(attachment, "message_blocks", _MAX_MESSAGES)
    blocks = [text_of_blocks(mapping(one, "message"), left) for one in messages]
    if not any(blocks):
        blocks = [text_of_blocks(attachment, left)]
    fields = items(attachment, "fields", _MAX_FIELDS)
    plain = _is_plain(attachment)
    picture = text(attachment, "image_url", 3000) if plain else ""
    parts = (
        text(attachment, "pretext"),
        _title(attachment),
        fuller(text(attachment, "text"), "\n".join(filter(None, blocks))),
        *(f"{text(field, 'title')}: {text(field, 'value')}" for field in fields),
        text(attachment, "footer", 300) if plain else "",
        f"Picture: {escape(picture)}" if picture else "",
    )
    return "\n".join(part for part in parts if part.strip()) or _fallback(attachment)


def _title(attachment: JsonObject) -> str:
    """The title, with the address to which it leads in an app's card."""
    title, link = text(attachment, "title"), text(attachment, "title_link", 3000)
    leads = title and link and _is_plain(attachment) and link not in title
    return f"{title} ({escape(link)})" if leads else title


def _fallback(attachment: JsonObject) -> str:
    fallback = text(attachment, "fallback")
    return "" if fallback.strip() == _NO_PREVIEW else fallback
