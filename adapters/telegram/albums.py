"""Albums: Telegram sends each picture as a message of its own; people see one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from adapters.telegram.raw import MAX_NAME, identity, mapping, text
from gateway.message import ChatMessage, InboundEvent, MessageReceived

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

    The caption may stand under any part; several are put on lines of their own. What is no plain
    message stays an event of its own.
    """
    messages = [part for part in parts if isinstance(part, MessageReceived)]
    if len(messages) < 2:
        return list(parts)
    whole = MessageReceived(messages[0].event_id, _one([part.message for part in messages]))
    return [whole, *(part for part in parts if not isinstance(part, MessageReceived))]


def _one(messages: list[ChatMessage]) -> ChatMessage:
    return replace(
        messages[0],
        content="\n".join(message.content for message in messages if message.content),
        attachments=tuple(file for message in messages for file in message.attachments),
        mentions_bot=any(message.mentions_bot for message in messages),
        mentions_others=any(message.mentions_others for message in messages),
        reply_to_id=next((one.reply_to_id for one in messages if one.reply_to_id), None),
        quote=next((one.quote for one in messages if one.quote), None),
    )
