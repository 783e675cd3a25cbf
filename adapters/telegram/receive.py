"""Updates on their way to the gateway: parsing, albums, storing, and the answer to a button."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

import structlog

from adapters.shared.json_readers import JsonObject, as_mapping, mapping, numeric_id, text
from adapters.shared.receive_queue import ReceiveQueue
from adapters.telegram.media import MAX_NAME
from adapters.telegram.message_text import TelegramBot
from adapters.telegram.parse import kind_of, parse
from adapters.telegram.upgraded_groups import UpgradedGroups
from gateway.authorship import Material, within_bounds
from gateway.immutable import replace
from gateway.message import (
    ButtonPressed,
    ChatMessage,
    CommandInvoked,
    InboundEvent,
    MessageReceived,
)
from gateway.ports import AdapterContext, EventSink

log = structlog.get_logger(__name__)

MAX_ANSWERS: Final = 200
"""Button presses that are answered at the same time. Beyond that, the progress indicator on the
button ends by its own timeout."""
QUIET_SECONDS: Final = 0.5
"""An album is complete after so long without a further part; parts follow within milliseconds."""
MAX_PARTS: Final = 10
"""Files in one album (Bot API, sendMediaGroup)."""

AnswerButton: TypeAlias = Callable[[str], Awaitable[None]]


class TelegramReceiver:
    """Parses the updates of one bot and stores their events."""

    def __init__(
        self,
        me: TelegramBot,
        context: AdapterContext,
        sink: EventSink,
        answer_button: AnswerButton,
        groups: UpgradedGroups | None = None,
    ) -> None:
        self._me = me
        self._groups = groups or UpgradedGroups(context.lasting, context.account)
        self._queue = ReceiveQueue("telegram", context, sink)
        self._sink = sink
        self._count = context.count
        self._answer_button = answer_button
        self._answers: set[asyncio.Task[None]] = set()

    async def translated(self, update: JsonObject) -> JsonObject:
        """The update with the first id of a group that became a supergroup. Raises
        `StoreUnavailable`."""
        return await self._groups.translated(update)

    def read(self, update: JsonObject) -> list[InboundEvent]:
        """The events of an update. One without events is counted."""
        events = self._queue.parse(str(update.get("update_id")), lambda: parse(update, self._me))
        if events == []:
            self._count("ignored", kind_of(update))
        return events or []

    async def store(self, events: Sequence[InboundEvent]) -> None:
        """Return when every event is stored. Raises `StoreUnavailable`."""
        for event in events:
            await self._sink(event)
            if isinstance(event, ButtonPressed) and len(self._answers) < MAX_ANSWERS:
                task = asyncio.create_task(self._end_progress(event.reply_handle))
                self._answers.add(task)
                task.add_done_callback(self._answers.discard)

    async def store_album(self, updates: Sequence[JsonObject]) -> None:
        """Store the parts of one album as one event. Raises `StoreUnavailable`."""
        await self.store(merged([event for update in updates for event in self.read(update)]))

    async def _end_progress(self, handle: str) -> None:
        try:
            await self._answer_button(handle)
        except Exception as error:  # noqa: BLE001 - the press itself is stored
            log.debug("button_press_not_acknowledged", platform="telegram", error=error)

    async def close(self) -> None:
        """Cancel the answers to button presses."""
        for task in list(self._answers):
            task.cancel()
        await asyncio.gather(*self._answers, return_exceptions=True)


def album_of(update: JsonObject) -> str:
    """The album that an update's message is part of, or "".

    Telegram sends each file of an album as a message of its own.
    """
    message = as_mapping(update.get("message") or update.get("channel_post"))
    group = text(message, "media_group_id", MAX_NAME)
    return f"{numeric_id(mapping(message, 'chat'), 'id')}/{group}" if group else ""


def merged(parts: Sequence[InboundEvent]) -> list[InboundEvent]:
    """The parts of one album as one event with the first part's id.

    Any part may have the caption, which may be a command. Other events stay as they are.
    """
    spoken = [part for part in parts if isinstance(part, MessageReceived | CommandInvoked)]
    messages = [part.message for part in spoken if part.message is not None]
    if len(messages) < 2:
        return list(parts)
    event_id, message = spoken[0].event_id, _merged_message(messages)
    first: InboundEvent = MessageReceived(event_id, message)
    for part in spoken:
        if isinstance(part, CommandInvoked):
            first = replace(part, event_id=event_id, message=message)
            break
    others = [part for part in parts if not isinstance(part, MessageReceived | CommandInvoked)]
    return [first, *others]


def _merged_message(messages: list[ChatMessage]) -> ChatMessage:
    with_caption = next((one for one in messages if one.content), messages[0])
    return replace(
        messages[0],
        content="\n".join(message.content for message in messages if message.content),
        attachments=tuple(file for message in messages for file in message.attachments),
        mentions_bot=any(message.mentions_bot for message in messages),
        mentions_others=any(message.mentions_others for message in messages),
        reply_to_id=next((one.reply_to_id for one in messages if one.reply_to_id), None),
        quote=next((one.quote for one in messages if one.quote), None),
        extras=with_caption.extras,
        material=within_bounds(
            (*_captions(messages), *(piece for message in messages for piece in message.material))
        ),
    )


def _captions(messages: list[ChatMessage]) -> tuple[Material, ...]:
    """Which caption is below which file, where several files have one."""
    named = [f"file {at}: {one.content}" for at, one in enumerate(messages, 1) if one.content]
    if len(named) < 2:
        return ()
    return (Material("card", "\n".join([f"Album of {len(messages)} files", *named])),)


def ordering_key(update: JsonObject) -> str:
    """The chat within which updates keep their order, or the person where there is no chat."""
    for key, value in update.items():
        if key == "update_id":
            continue
        body = as_mapping(value)
        message = mapping(body, "message") if key == "callback_query" else body
        return numeric_id(mapping(message, "chat"), "id") or numeric_id(mapping(body, "from"), "id")
    return ""
