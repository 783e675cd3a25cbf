"""Slack's message events: written, changed, deleted."""

import json
from typing import Final

from adapters.slack.authorship import material_of, plain_text
from adapters.slack.event_context import EventContext
from adapters.slack.extras import SlackExtras
from adapters.slack.json_readers import (
    Raw,
    event_id,
    identifier,
    items,
    mapping,
    moment,
    stamp,
    text,
)
from adapters.slack.message_text import MessageText, read, text_of_blocks
from gateway.message import (
    Attachment,
    AttachmentKind,
    ChatMessage,
    Extras,
    InboundEvent,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
)
from gateway.ports.extras import packed

_WRITTEN: Final = {"", "file_share", "thread_broadcast", "me_message", "bot_message"}
"""Subtypes that are somebody saying something; all others are notices of the channel."""

_MAX_FILES: Final = 20
_MAX_SHARED: Final = 10
_LONGEST_BLOCKS: Final = 20_000


def message_events(event: Raw, frame: EventContext, *, addressed: bool) -> list[InboundEvent]:
    """What a `message` or (with `addressed`) an `app_mention` event says."""
    match text(event, "subtype", 50):
        case "message_changed":
            return _changed(event, frame)
        case "message_deleted":
            return _deleted(event, frame, event, mapping(event, "previous_message"))
        case subtype if subtype in _WRITTEN:
            message = _message(event, event, frame, addressed=addressed)
            if message is None:
                return []
            # Slack sends a mention twice, as message and as app_mention, with two event ids. An id
            # made of what both share lets the second be recognised as the same.
            written = event_id("message", message.channel_id, message.id)
            return [MessageReceived(written, message)]
        case _:
            return []


def _changed(event: Raw, frame: EventContext) -> list[InboundEvent]:
    now, before = mapping(event, "message"), mapping(event, "previous_message")
    if text(now, "subtype", 50) == "tombstone":
        return _deleted(event, frame, now, before)
    if text(now, "subtype", 50) not in _WRITTEN or not _differs(now, before):
        return []
    message = _message(now, event, frame, addressed=False)
    if message is None:
        return []
    changed = stamp(mapping(now, "edited"), "ts") or stamp(event, "ts")
    fallback = event_id("edit", message.channel_id, message.id, changed)
    return [MessageEdited(frame.event_id or fallback, message)]


def _differs(now: Raw, before: Raw) -> bool:
    """Whether a person changed it. A link preview that appears changes the message as well."""
    if not before:
        return bool(mapping(now, "edited"))
    return any(now.get(key) != before.get(key) for key in ("text", "files")) or (
        not text(now, "text") and now.get("blocks") != before.get("blocks")
    )


def _deleted(event: Raw, frame: EventContext, gone: Raw, before: Raw) -> list[InboundEvent]:
    ts = stamp(event, "deleted_ts") or stamp(gone, "ts")
    channel = identifier(event, "channel")
    if not (ts and channel):
        return []
    place = frame.place_of(channel, text(event, "channel_type", 50), _thread(before, ts), ts)
    fallback = event_id("deletion", channel, ts)
    return [MessageDeleted(frame.event_id or fallback, place, (ts,))]


def _message(said: Raw, event: Raw, frame: EventContext, *, addressed: bool) -> ChatMessage | None:
    """`said` as a message; `event` is what surrounds it. None when it is ours, or no message."""
    ts = stamp(said, "ts") or stamp(said, "event_ts")
    channel = identifier(event, "channel") or identifier(said, "channel")
    author = frame.author(said)
    if not (ts and channel) or author is None or frame.is_me(said):
        return None
    shared = items(said, "attachments", _MAX_SHARED)
    own = author.is_bot
    raw = _raw_text(said, shared, own=own)
    addressed = addressed and "<@" in raw  # a mention in what is only shown addresses nobody
    words = read(raw, frame.me.user_id, frame.me.names, addressed=addressed)
    thread = _thread(said, ts)
    return ChatMessage(
        id=ts,
        content=words.content,
        author=author,
        place=frame.place_of(channel, text(event, "channel_type", 50), thread, ts),
        timestamp=moment(ts),
        reply_to_id=thread or None,
        attachments=_files(said, shared),
        mentions_bot=words.mentions_me,
        mentions_others=words.mentions_others,
        extras=_extras(said, words),
        material=material_of(shared, frame, own=own),
    )


def _thread(said: Raw, ts: str) -> str:
    """The thread a message is in; a thread's first message carries its own id there."""
    thread = stamp(said, "thread_ts")
    return "" if thread == ts else thread


def _raw_text(said: Raw, shared: list[Raw], *, own: bool) -> str:
    plain = text(said, "text") or text_of_blocks(said)
    return plain or (plain_text(shared) if own else "")


def _files(said: Raw, shared: list[Raw]) -> tuple[Attachment, ...]:
    raw = items(said, "files", _MAX_FILES)
    for attachment in shared:
        raw += items(attachment, "files", _MAX_FILES)
    found = (_attachment(file) for file in raw[:_MAX_FILES])
    return tuple(attachment for attachment in found if attachment is not None)


def _attachment(file: Raw) -> Attachment | None:
    if text(file, "mode", 50) in ("tombstone", "hidden_by_limit"):
        return None
    ref = text(file, "url_private_download", 3000) or text(file, "url_private", 3000)
    if not ref and identifier(file, "id"):
        ref = f"file:{identifier(file, 'id')}"
    if not ref:
        return None
    size = file.get("size")
    known = isinstance(size, int) and not isinstance(size, bool) and size >= 0
    mime = text(file, "mimetype", 100)
    return Attachment(
        kind=_kind(mime),
        ref=ref,
        name=text(file, "name", 255) or text(file, "title", 255),
        mime=mime,
        size=size if isinstance(size, int) and known else None,
    )


def _kind(mime: str) -> AttachmentKind:
    match mime.partition("/")[0]:
        case "image":
            return "image"
        case "audio":
            return "audio"
        case "video":
            return "video"
        case "":
            return "other"
        case _:
            return "document"


def _extras(said: Raw, words: MessageText) -> Extras | None:
    return packed(
        SlackExtras(
            blocks=_blocks_json(said),
            mentions=words.mentions,
            channel_mentions=words.channels,
            broadcast=words.broadcast,
        )
    )


def _blocks_json(said: Raw) -> str:
    """The blocks as JSON; empty when there are none, or more than is worth keeping."""
    blocks = said.get("blocks")
    if not isinstance(blocks, list) or not blocks:
        return ""
    encoded: list[str] = []
    left = _LONGEST_BLOCKS
    try:
        for piece in json.JSONEncoder().iterencode(blocks):
            encoded.append(piece)
            left -= len(piece)
            if left < 0:
                return ""
    except (TypeError, ValueError, RecursionError):
        return ""
    return "".join(encoded)
