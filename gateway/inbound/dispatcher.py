"""Where stored events go: worked on here, in order by conversation, or left to another process.

The crash loop guard stands around all work, and work is tried again while a store is away. What
controls a conversation never waits in its queue.
"""

import asyncio
from collections.abc import Collection, Sequence
from datetime import timedelta

from db.errors import StoreUnavailable
from gateway.background_tasks import BackgroundTasks
from gateway.commands.handler import CommandHandler
from gateway.inbound.conversation_queues import ConversationQueues, Overlap
from gateway.inbound.crash_loop_guard import CrashCounts, CrashLoopGuard
from gateway.inbound.revision import revise_stored
from gateway.message import (
    ButtonPressed,
    CommandInvoked,
    InlineQueried,
    MessageDeleted,
    MessageEdited,
    Place,
)
from gateway.observe.correlation import correlated, correlation_id
from gateway.people import PersonId
from gateway.ports import AdapterState
from gateway.ports.inbox import InboxEntry
from gateway.turn.pipeline import Pipeline
from gateway.turn.services import Services

MAX_CONTROL_TASKS = 1_000
"""Commands and button presses that may run at once; further ones are refused at the door."""
MAX_INLINE_TASKS = 100
HELD_FOR = timedelta(hours=1)
"""How long an accepted message counts as one that may still be answered; no turn is as long."""


class LocalDispatcher:
    """Implements `gateway.ports.dispatcher.Dispatcher`: works on everything in this process."""

    def __init__(
        self, services: Services, pipeline: Pipeline, control: CommandHandler, *, overlap: Overlap
    ) -> None:
        self._services = services
        self._pipeline = pipeline
        self._control = control
        self._guard = CrashLoopGuard(
            CrashCounts(services.stores.states.of("parley", "takeovers")),
            services.guard,
            services.stores.inbox,
            services.retry,
            pipeline.may_be_again,
            pipeline.give_up,
        )
        self.queues = ConversationQueues(
            lambda entries: self._guard.run(entries, self._work),
            pipeline.drop,
            withdrawn=pipeline.withdraw,
            slots=services.slots,
            overlap=overlap,
        )
        self._controls = BackgroundTasks("control_failed")
        self._closed = False

    @property
    def idle(self) -> bool:
        """True when nothing that was accepted is unfinished."""
        return not self._controls and self.queues.idle

    def check_room(self) -> None:
        """Raise `StoreUnavailable` when no more work can wait."""
        self.queues.check_room()
        if self._full:
            raise StoreUnavailable(f"{MAX_CONTROL_TASKS} commands are being answered already")

    def is_crowded_by(self, person: PersonId) -> bool:
        """True when much waits, and this person has their share of it."""
        return self.queues.is_crowded_by(person)

    async def accept(self, entry: InboxEntry) -> None:
        """Begin the work, or queue it."""
        self.dispatch(entry)

    def dispatch(self, entry: InboxEntry) -> None:
        """Begin the work for an event that the inbox holds, or queue it; once the end has begun it
        stays there for the next start."""
        with correlated(correlation_id(entry.id)):
            event = entry.event
            if self._closed or not isinstance(event, ButtonPressed | CommandInvoked):
                self.queues.submit(entry)
            elif isinstance(event, ButtonPressed):
                if self._control.owns(event.value):
                    press = self._control.press
                    self._controls.spawn(self._guard.run([entry], lambda _: press(entry, event)))
                else:
                    self.queues.submit(entry)
            elif event.name == "stop":
                self._controls.spawn(self._control.stop(entry, event, self.queues.stop_running))
            elif event.name == "ask":
                self.queues.submit(entry)
            else:
                command = self._control.command
                self._controls.spawn(self._guard.run([entry], lambda _: command(entry, event)))

    async def holds(self, conversation: str, place: Place, message_ids: Collection[str]) -> bool:
        """True when one of these messages is accepted and may not be answered yet."""
        return self.queues.holds(conversation, message_ids)

    def answer_inline(self, event: InlineQueried) -> bool:
        """Offer completions while a person types; nothing of it is stored. False without room."""
        if self._closed or self._full:
            return False
        self._controls.spawn(self._control.inline(event))
        return True

    async def drain(self, timeout: float) -> bool:
        """Begin nothing more and wait for what runs; False after `timeout` seconds."""
        self._close()
        return all(await asyncio.gather(self.queues.drain(timeout), self._controls.drain(timeout)))

    async def stop(self) -> None:
        """Begin nothing more and end what runs; the inbox keeps it."""
        self._close()
        await self.queues.stop()
        await self._controls.stop()

    def _close(self) -> None:
        self._closed = True
        self.queues.close()
        self._services.retry.end()

    @property
    def _full(self) -> bool:
        return len(self._controls) >= MAX_CONTROL_TASKS

    async def _work(self, entries: Sequence[InboxEntry]) -> None:
        first = entries[0]
        if isinstance(first.event, MessageEdited | MessageDeleted):
            await revise_stored(first, first.event, self._services)
        else:
            await self._pipeline.handle(entries)


class SharedDispatcher:
    """Leaves accepted events to the workers that take them from the shared inbox, this process
    among them or not."""

    def __init__(self, control: CommandHandler, held: AdapterState) -> None:
        self._control = control
        self._held = held
        self._inline = BackgroundTasks("inline_failed")

    def check_room(self) -> None:
        """The shared inbox has its own bounds."""

    def is_crowded_by(self, person: PersonId) -> bool:
        """Not known here; `IntakeLimits` bounds what one person adds to the shared inbox."""
        return False

    async def accept(self, entry: InboxEntry) -> None:
        """Note the message, so that an edit that comes before its answer is not forgotten."""
        message = entry.message
        if message is not None:
            await self._held.put(_name(message.place, message.id), "1", HELD_FOR)

    async def holds(self, conversation: str, place: Place, message_ids: Collection[str]) -> bool:
        """True when one of these messages is noted."""
        for message_id in message_ids:
            if await self._held.get(_name(place, message_id)):
                return True
        return False

    def answer_inline(self, event: InlineQueried) -> bool:
        """Answer from the process that is connected: the answer is worth nothing later."""
        if len(self._inline) >= MAX_INLINE_TASKS:
            return False
        self._inline.spawn(self._control.inline(event))
        return True


def _name(place: Place, message_id: str) -> str:
    return f"{place.platform}:{place.account}:{place.channel_id}:{message_id}"[:200]
