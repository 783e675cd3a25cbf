"""Dispatches stored events: to this process, in order by conversation, or to another process.

The crash loop guard surrounds all work, and work is repeated while a store is unavailable. Commands
that control a conversation never wait in its queue.
"""

import asyncio
from collections.abc import Collection, Sequence
from datetime import timedelta

from db.errors import StoreUnavailable
from gateway.background_tasks import BackgroundTasks
from gateway.commands.catalogue import asks_model
from gateway.commands.handler import CommandHandler
from gateway.inbound.conversation_queues import ConversationQueues, Joining, Overlap
from gateway.inbound.crash_loop_guard import CRASHES, CrashCounts, CrashLoopGuard
from gateway.inbound.cut_texts import Pieces
from gateway.inbound.message_changes import revise_stored
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
from gateway.ports.queues import InboxEntry
from gateway.turn.pipeline import Pipeline
from gateway.turn.services import Services

MAX_CONTROL_TASKS = 1_000
"""Commands and button presses that may run concurrently; further ones are refused at intake."""
MAX_INLINE_TASKS = 100
GATHER_SECONDS = 1.0
"""The time for which further messages that are too old may come, so that one notice names them."""
EXPIRED_AGAIN = timedelta(minutes=10)
HELD_FOR = timedelta(hours=1)
"""The time for which an accepted message may still be unanswered; no turn is as long."""


class LocalDispatcher:
    """Implements `gateway.ports.queues.Dispatcher`: works on everything in this process."""

    def __init__(
        self, services: Services, pipeline: Pipeline, control: CommandHandler, *, overlap: Overlap
    ) -> None:
        self._services = services
        self._pipeline = pipeline
        self._control = control
        self._guard = CrashLoopGuard(
            CrashCounts(services.stores.states.of(*CRASHES)),
            services.guard,
            services.stores.inbox,
            services.retry,
            pipeline.may_be_again,
            pipeline.give_up,
        )
        pieces = Pieces(services.connected)
        self.queues = ConversationQueues(
            lambda entries: self._guard.run(entries, self._work),
            pipeline.drop,
            withdrawn=pipeline.withdraw,
            slots=services.slots,
            overlap=overlap,
            expired=pipeline.too_old,
            gather=lambda: services.slots.without(services.clock.sleep(GATHER_SECONDS)),
            joining=Joining(
                pieces.follows, pieces.wait_for_rest, pipeline.begin_again, services.clock
            ),
        )
        self._controls = BackgroundTasks("control_failed")
        self._closed = False

    @property
    def idle(self) -> bool:
        """True if all accepted work is finished."""
        return not self._controls and self.queues.idle

    def check_room(self) -> None:
        """Raise `StoreUnavailable` when no more work can wait."""
        self.queues.check_room()
        if self._full:
            raise StoreUnavailable(f"{MAX_CONTROL_TASKS} commands are being answered already")

    def is_crowded_by(self, person: PersonId) -> bool:
        """Return True if many entries wait and this person has reached their share."""
        return self.queues.is_crowded_by(person)

    async def accept(self, entry: InboxEntry) -> None:
        """Start the work, or queue it."""
        self.dispatch(entry)

    def dispatch(self, entry: InboxEntry) -> None:
        """Start or queue the work for an event of the inbox; during shutdown it stays there for the
        next start."""
        with correlated(correlation_id(entry.id)):
            event = entry.event
            if self._closed or not isinstance(event, ButtonPressed | CommandInvoked):
                self.queues.submit(entry)
            elif self._pipeline.too_old(entry):
                self._controls.spawn(self._guard.run([entry], self._expire))
            elif isinstance(event, ButtonPressed):
                if self._control.owns(event.value):
                    press = self._control.press
                    self._controls.spawn(self._guard.run([entry], lambda _: press(entry, event)))
                else:
                    self.queues.submit(entry)
            elif event.name == "stop":
                self._controls.spawn(self._control.stop(entry, event, self.queues.stop_running))
            elif asks_model(event):
                self.queues.submit(entry)
            else:
                command = self._control.command
                self._controls.spawn(self._guard.run([entry], lambda _: command(entry, event)))

    async def holds(self, conversation: str, place: Place, message_ids: Collection[str]) -> bool:
        """Return True if one of these messages is accepted and may be unanswered."""
        return self.queues.holds(conversation, message_ids)

    def answer_inline(self, event: InlineQueried) -> bool:
        """Offer completions while a person types, without storing them. False without capacity."""
        if self._closed or self._full:
            return False
        self._controls.spawn(self._control.inline(event))
        return True

    async def drain(self, timeout: float) -> bool:
        """Start no further work and wait for running work; False after `timeout` seconds."""
        self._close()
        return all(await asyncio.gather(self.queues.drain(timeout), self._controls.drain(timeout)))

    async def stop(self) -> None:
        """Start no further work and cancel running work; the inbox keeps it."""
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

    async def _expire(self, entries: Sequence[InboxEntry]) -> None:
        """Finish a command or a press that is too old. Many of one conversation get one notice."""
        name = f"expired:{entries[0].conversation}"
        first = await self._services.stores.buckets.claim(name, EXPIRED_AGAIN)
        await self._pipeline.expire(entries, quiet=not first)

    async def _work(self, entries: Sequence[InboxEntry]) -> None:
        first = entries[0]
        if isinstance(first.event, MessageEdited | MessageDeleted):
            await revise_stored(first, first.event, self._services)
        else:
            await self._pipeline.handle(entries)


class SharedDispatcher:
    """Leaves accepted events to the workers of the shared inbox, of which this process may be
    one."""

    def __init__(self, control: CommandHandler, held: AdapterState) -> None:
        self._control = control
        self._held = held
        self._inline = BackgroundTasks("inline_failed")

    def check_room(self) -> None:
        """The shared inbox has its own bounds."""

    def is_crowded_by(self, person: PersonId) -> bool:
        """Return False: `IntakeLimits` bounds one person's entries in the shared inbox."""
        return False

    async def accept(self, entry: InboxEntry) -> None:
        """Record the message, so that an edit before its answer is accepted."""
        message = entry.message
        if message is not None:
            await self._held.put(_name(message.place, message.id), "1", HELD_FOR)

    async def holds(self, conversation: str, place: Place, message_ids: Collection[str]) -> bool:
        """Return True if one of these messages is recorded."""
        for message_id in message_ids:
            if await self._held.get(_name(place, message_id)):
                return True
        return False

    def answer_inline(self, event: InlineQueried) -> bool:
        """Answer from the connected process, because a late answer is useless."""
        if len(self._inline) >= MAX_INLINE_TASKS:
            return False
        self._inline.spawn(self._control.inline(event))
        return True


def _name(place: Place, message_id: str) -> str:
    return f"{place.platform}:{place.account}:{place.channel_id}:{message_id}"[:200]
