"""Albums: Telegram sends each picture as a message of its own; people see one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from adapters.telegram.json_readers import MAX_NAME, identity, mapping, text
from gateway.authorship import within_bounds
from gateway.message import ChatMessage, CommandInvoked, InboundEvent, MessageReceived

QUIET_SECONDS: Final = 0.5
"""An album is complete when no further part came for so long; parts follow within milliseconds."""
MAX_PARTS: Final = 10
"""Files in one album (Bot API, sendMediaGroup)."""


def album_of(update: Mapping[str, object]) -> str:
    """The album that an update's message is part of, empty for none."""
    message = mapping(update.get("message") or update.get("channel_post"))
    group = text(message.get("media_group_id"))[:MAX_NAME]
    return f"{identity(mapping(message.get('chat')).get('id'))}/{group}" if group else ""


def merged(parts: Sequence[InboundEvent]) -> list[InboundEvent]:
    """The parts of one album as one event, under the first part's id.

    The caption may stand under any part, and may be a command. What is neither a message nor a
    command stays an event of its own.
    """
    said = [one for one in parts if isinstance(one, MessageReceived | CommandInvoked)]
    messages = [one.message for one in said if one.message is not None]
    if len(messages) < 2:
        return list(parts)
    whole = _one(messages)
    command = next((one for one in said if isinstance(one, CommandInvoked)), None)
    first: InboundEvent = MessageReceived(said[0].event_id, whole)
    if command is not None:
        first = replace(command, event_id=said[0].event_id, message=whole)
    rest = [one for one in parts if not isinstance(one, MessageReceived | CommandInvoked)]
    return [first, *rest]


def _one(messages: list[ChatMessage]) -> ChatMessage:
    captioned = next((one for one in messages if one.content), messages[0])
    return replace(
        messages[0],
        content="\n".join(message.content for message in messages if message.content),
        attachments=tuple(file for message in messages for file in message.attachments),
        mentions_bot=any(message.mentions_bot for message in messages),
        mentions_others=any(message.mentions_others for message in messages),
        reply_to_id=next((one.reply_to_id for one in messages if one.reply_to_id), None),
        quote=next((one.quote for one in messages if one.quote), None),
        extras=captioned.extras,
        material=within_bounds(piece for message in messages for piece in message.material),
    )
