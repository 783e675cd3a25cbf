"""Events on their way from the socket to the gateway: in order within a channel, and held while
older messages of the channel are being fetched."""

import asyncio
from typing import Final

import structlog
from msgspec import Struct

from adapters.discord.event_context import DiscordBot, InteractionHandle, place_of
from adapters.discord.interactions import InteractionResponses
from adapters.discord.messages import message_of
from adapters.discord.read_positions import ReadPositions
from adapters.discord.send import destination
from adapters.shared.json_readers import JsonObject, identifier
from adapters.shared.receive_queue import ReceiveQueue
from gateway.message import (
    ButtonPressed,
    ChatMessage,
    CommandInvoked,
    InboundEvent,
    MessageReceived,
    Place,
)
from gateway.people import Audience
from gateway.ports import AdapterContext, EventSink

DRAIN_SECONDS: Final = 5.0
MAX_WAITING: Final = 10_000
"""Events that wait while the store is unavailable; Discord has no acknowledgement."""
MAX_DEFERRALS: Final = 100

log = structlog.get_logger(__name__)


class BotMessage(Struct, frozen=True):
    """A message of the bot itself. It is no event, but the bot takes part in its channel."""

    place: Place
    message_id: str


Item = InboundEvent | BotMessage


class DiscordReceiver:
    """Receives the events of one account."""

    def __init__(
        self,
        context: AdapterContext,
        sink: EventSink,
        responses: InteractionResponses,
        positions: ReadPositions,
    ) -> None:
        self.queue = ReceiveQueue("discord", context, sink)
        self._count = context.count
        self._responses = responses
        self._positions = positions
        self._tasks: set[asyncio.Task[None]] = set()
        self._deferrals: set[asyncio.Task[None]] = set()

    def put(self, item: Item, kind: str) -> None:
        """Take an event from the socket without waiting; `kind` is Discord's name for it."""
        if len(self._tasks) >= MAX_WAITING:
            self._count("lost", kind)
            log.error("event_lost", platform="discord", event_kind=kind, waiting=MAX_WAITING)
            return
        task = asyncio.create_task(self._receive(item))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def store_missed(self, data: JsonObject, bot: DiscordBot) -> None:
        """Store a message that REST returned."""
        message_id = identifier(data, "id")
        message = self.queue.parse(f"MESSAGE_CREATE:{message_id}", lambda: message_of(data, bot))
        place = place_of(data, bot)
        if message is not None:
            await self._store(MessageReceived(message.id, message))
        elif place is not None:
            self._positions.advance(place, message_id, addressed=False)

    async def close(self) -> None:
        """Store the events that already arrived, for a bounded time, then stop.

        The next session fetches messages of known channels again. Nothing else that is lost here
        comes back.
        """
        left = await self.queue.drain(DRAIN_SECONDS)
        tasks = [*self._tasks, *self._deferrals]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if left:
            self._count("lost", "discord")
            log.error("events_lost", platform="discord", events=left)

    async def _receive(self, item: Item) -> None:
        channel_id = _channel_id(item)
        if isinstance(item, CommandInvoked | ButtonPressed) and self.queue.is_held(channel_id):
            # Discord waits three seconds for a response to an interaction.
            await self._store(item)
            return
        async with self.queue.turn(channel_id):
            await self._store(item)

    async def _store(self, item: Item) -> None:
        if isinstance(item, BotMessage):
            self._positions.advance(item.place, item.message_id, addressed=True)
            return
        handle = _handle(item)
        is_new = handle is not None and self._responses.expect(handle)
        if not await self.queue.store_with_retry(item):
            return
        if handle is not None and is_new:
            await self._defer(handle)
        if isinstance(item, MessageReceived):
            message = item.message
            self._positions.advance(message.place, message.id, addressed=_is_addressed(message))

    async def _defer(self, handle: InteractionHandle) -> None:
        """Defer in a task: the next event does not wait for Discord's answer."""
        if len(self._deferrals) >= MAX_DEFERRALS:
            await asyncio.wait(self._deferrals, return_when=asyncio.FIRST_COMPLETED)
        task = asyncio.create_task(self._responses.defer(handle))
        self._deferrals.add(task)
        task.add_done_callback(self._deferrals.discard)


def _channel_id(item: Item) -> str:
    return destination(item.place)


def _is_addressed(message: ChatMessage) -> bool:
    """True when the channel's position is to be kept; the policy decides about an answer later."""
    replied = message.quote is not None and message.quote.by_this_bot
    return message.place.audience is Audience.DIRECT or message.mentions_bot or replied


def _handle(event: InboundEvent) -> InteractionHandle | None:
    if isinstance(event, CommandInvoked | ButtonPressed):
        return InteractionHandle.read(event.reply_handle)
    return None
