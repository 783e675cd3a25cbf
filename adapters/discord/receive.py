"""From the socket to the sink: in order, one by one, held back where older messages come first."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import structlog

from adapters.discord.answers import InteractionResponses
from adapters.discord.bot import BotIdentity, place_of
from adapters.discord.interactions import InteractionHandle
from adapters.discord.json_readers import identity
from adapters.discord.messages import message_of
from adapters.discord.read_positions import ReadPositions
from adapters.discord.send import destination
from db.errors import StoreUnavailable
from gateway.message import (
    ButtonPressed,
    ChatMessage,
    CommandInvoked,
    InboundEvent,
    MessageReceived,
    Place,
)
from gateway.message import place_of as place_of_event
from gateway.people import Audience
from gateway.ports import AdapterContext, EventSink
from gateway.ports.work_guard import WorkItem

DRAIN_SECONDS: Final = 5.0
MAX_WAITING: Final = 10_000
"""Events that wait while the store does not take any; Discord has no acknowledgement."""
MAX_PAUSE: Final = timedelta(seconds=30)
PATIENCE: Final = timedelta(minutes=15)
"""How long one event is offered to a store that is down."""
MAX_DEFERRALS: Final = 100

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class OwnMessage:
    """The bot's own message: nothing to hand over, but a sign that it takes part there."""

    place: Place
    message_id: str


Item = InboundEvent | OwnMessage


class ReceiveQueue:
    """The queue behind a connection, and the task that empties it into the sink."""

    def __init__(
        self,
        context: AdapterContext,
        sink: EventSink,
        answers: InteractionResponses,
        seen: ReadPositions,
    ) -> None:
        self._context = context
        self._sink = sink
        self._answers = answers
        self._read_positions = seen
        self._queue: asyncio.Queue[Item] = asyncio.Queue(MAX_WAITING)
        self._held: dict[str, deque[Item]] = {}
        self._waiting = 0
        self._unknown = False
        self._pump: asyncio.Task[None] | None = None
        self._deferrals: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        """Begin."""
        self._pump = asyncio.create_task(self._run(), name="discord-hand-over")

    def put(self, item: Item, event: str) -> None:
        """Take what came over the socket; `event` is Discord's name for it. Does not wait."""
        try:
            if self._waiting >= MAX_WAITING:
                raise asyncio.QueueFull
            self._queue.put_nowait(item)
        except asyncio.QueueFull:
            self._context.count("lost", event)
            log.error("event_lost", platform="discord", event_kind=event, waiting=MAX_WAITING)

    async def close(self) -> None:
        """Hand over what already arrived, then stop."""
        if self._pump is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(DRAIN_SECONDS):
                    await self._queue.join()
            await _stop(self._pump)
            self._count_lost()
        for task in list(self._deferrals):
            await _stop(task)

    # --- holding back ---------------------------------------------------------------------------

    def hold_all(self) -> None:
        """Hold every place, until it is known which of them lag behind."""
        self._unknown = True

    async def hold_only(self, rooms: Iterable[str]) -> None:
        """Hold these channels and threads, and let the others go on."""
        wanted = set(rooms)
        for room in wanted:
            self._held.setdefault(room, deque())
        self._unknown = False
        for room in [room for room in self._held if room not in wanted]:
            await self.release(room)

    async def release(self, room: str) -> None:
        """Hand over what was held there; later events pass again."""
        held = self._held.get(room)
        while held:
            await self._hand_over(held[0])  # stays until it is done: this may be broken off
            held.popleft()
            self._waiting -= 1
        self._held.pop(room, None)

    async def store_missed(self, data: Mapping[str, object], bot: BotIdentity) -> None:
        """Hand over a message that REST returned, and return when the store has it."""
        guard, id_ = self._context.guard, identity(data.get("id"))
        delivery = WorkItem("payload", f"discord:{self._context.account}:MESSAGE_CREATE:{id_}")
        if guard.exhausted(delivery):
            self._context.count("quarantined", "discord")
            return
        with guard.working(delivery):
            message = message_of(data, bot)
        if message is not None:
            await self._hand_over(MessageReceived(message.id, message))
            return
        place = place_of(data, bot)
        if place is not None:
            self._read_positions.passed(place, id_, addressed=False)

    # --- one after the other --------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            item = await self._queue.get()
            try:
                room = _room(item)
                # Discord waits three seconds for an interaction: it is not held back.
                urgent = isinstance(item, CommandInvoked | ButtonPressed)
                if not urgent and (self._unknown or room in self._held):
                    self._held.setdefault(room, deque()).append(item)
                    self._waiting += 1
                else:
                    await self._hand_over(item)
            finally:
                self._queue.task_done()

    async def _hand_over(self, item: Item) -> None:
        if isinstance(item, OwnMessage):
            self._read_positions.passed(item.place, item.message_id, addressed=True)
        elif await self._offer(item) and isinstance(item, MessageReceived):
            message = item.message
            self._read_positions.passed(message.place, message.id, addressed=_addressed(message))

    async def _offer(self, event: InboundEvent) -> bool:
        """Offer one event until the store takes it; the next one waits, so order is kept. False
        when the store was down for too long."""
        handle = _handle(event)
        if handle is not None and not self._answers.expect(handle):
            handle = None  # delivered twice: it is deferred once
        clock, pause = self._context.clock, timedelta(milliseconds=200)
        give_up_at = clock.monotonic() + PATIENCE.total_seconds()
        while True:
            try:
                await self._sink(event)
            except StoreUnavailable as error:
                self._context.count("store_unavailable", "discord")
                if clock.monotonic() >= give_up_at:
                    self._context.count("lost", event.kind)
                    log.error("event_lost", platform="discord", error=str(error))
                    return False
                await clock.sleep(pause.total_seconds())
                pause = min(pause * 2, MAX_PAUSE)
            except Exception:  # one bad event must not stop those behind it
                self._context.count("failed", event.kind)
                log.exception("event_failed", platform="discord", event_kind=event.kind)
                return True
            else:
                break
        if handle is not None:
            await self._defer(handle)
        return True

    async def _defer(self, handle: InteractionHandle) -> None:
        """Beside the queue: the next event need not wait for Discord's answer."""
        if len(self._deferrals) >= MAX_DEFERRALS:
            await asyncio.wait(self._deferrals, return_when=asyncio.FIRST_COMPLETED)
        task = asyncio.create_task(self._answers.defer(handle))
        self._deferrals.add(task)
        task.add_done_callback(self._deferrals.discard)

    def _count_lost(self) -> None:
        """The store took no more before the end came. The next session finds messages again in
        places that it knows, and nothing else."""
        left = self._queue.qsize() + self._waiting
        if left:
            self._context.count("lost", "discord")
            log.error("events_lost", platform="discord", events=left)


def _room(item: Item) -> str:
    return destination(item.place if isinstance(item, OwnMessage) else place_of_event(item))


def _addressed(message: ChatMessage) -> bool:
    """Whether the bot is to remember the place; the policy decides later whether it answers."""
    replied = message.quote is not None and message.quote.by_this_bot
    return message.place.audience is Audience.DIRECT or message.mentions_bot or replied


def _handle(event: InboundEvent) -> InteractionHandle | None:
    if isinstance(event, CommandInvoked | ButtonPressed):
        return InteractionHandle.read(event.reply_handle)
    return None


async def _stop(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
