"""Which part of the gateway a stored event goes to, and whether it waits in its lane for that."""

import asyncio
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Protocol

from gateway.commands.control import Control
from gateway.errors import StoreUnavailable
from gateway.inbound.conversation_queues import ConversationQueues, Overlap
from gateway.message import (
    ButtonPressed,
    ChatMessage,
    CommandInvoked,
    InlineQueried,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    Place,
)
from gateway.observe.correlation import about, correlation_id
from gateway.people import PersonId
from gateway.ports import AdapterState
from gateway.stores import InboxEntry
from gateway.tasks import Tasks
from gateway.turn.pipeline import Pipeline
from gateway.turn.slots import Slots

MAX_CONTROL_TASKS = 1_000
"""Commands and button presses that may run at once; further ones are refused at the door."""


class LocalDispatcher:
    """Questions and revisions go through lanes; what controls a lane never waits in it."""

    def __init__(
        self,
        pipeline: Pipeline,
        control: Control,
        *,
        slots: Slots,
        overlap: Overlap,
    ) -> None:
        self._pipeline = pipeline
        self._patience = pipeline.patience
        self._takeovers = pipeline.crash_loop
        self._control = control
        self.lanes = ConversationQueues(
            self._in_lane,
            pipeline.drop,
            withdrawn=pipeline.withdraw,
            slots=slots,
            overlap=overlap,
        )
        self._controls = Tasks("control_failed")
        self._closed = False

    @property
    def idle(self) -> bool:
        """True when nothing that was routed is unfinished."""
        return not self._controls and self.lanes.idle

    def check_room(self) -> None:
        """Raise `StoreUnavailable` when no more work can wait."""
        self.lanes.check_room()
        if self._full:
            raise StoreUnavailable(f"{MAX_CONTROL_TASKS} commands are being answered already")

    def route(self, entry: InboxEntry) -> None:
        """Start, or queue, the work for an event that the inbox holds; once the end has begun it
        stays there for the next start."""
        with about(correlation_id(entry.id)):
            self._start(entry)

    def _start(self, entry: InboxEntry) -> None:
        event = entry.event
        if self._closed:
            self.lanes.submit(entry)
        elif isinstance(event, ButtonPressed) and self._control.owns(event.value):
            press = self._control.press
            self._controls.spawn(self._takeovers.run([entry], lambda _: press(entry, event)))
        elif isinstance(event, CommandInvoked) and event.name == "stop":
            self._controls.spawn(self._control.stop(entry, event, self.lanes))
        elif isinstance(event, CommandInvoked) and event.name != "ask":
            command = self._control.command
            self._controls.spawn(self._takeovers.run([entry], lambda _: command(entry, event)))
        else:
            self.lanes.submit(entry)

    def answer_inline(self, event: InlineQueried) -> bool:
        """Offer completions while a person types; nothing of it is stored. False without room."""
        if self._closed or self._full:
            return False
        self._controls.spawn(self._control.inline(event))
        return True

    async def drain(self, timeout: float) -> bool:
        """Begin nothing more and wait for what runs; False after `timeout` seconds."""
        self._close()
        return all(await asyncio.gather(self.lanes.drain(timeout), self._controls.drain(timeout)))

    async def stop(self) -> None:
        """Begin nothing more and end what runs; the inbox keeps it."""
        self._close()
        await self.lanes.stop()
        await self._controls.stop()

    def _close(self) -> None:
        self._closed = True
        self.lanes.close()
        self._patience.end()

    @property
    def _full(self) -> bool:
        return len(self._controls) >= MAX_CONTROL_TASKS

    async def _in_lane(self, entries: Sequence[InboxEntry]) -> None:
        """What stands behind it in its lane waits for a store as well, so order is kept."""
        await self._takeovers.run(entries, self._begin)

    async def _begin(self, entries: Sequence[InboxEntry]) -> None:
        first = entries[0]
        if isinstance(first.event, MessageEdited | MessageDeleted):
            await self._control.revise(first, first.event)
        else:
            await self._pipeline.handle(entries)


HELD_FOR = timedelta(hours=1)
"""How long an accepted message counts as one that may still be answered; no turn is as long."""
MAX_INLINE_TASKS = 100


class Dispatcher(Protocol):
    """Where accepted events go."""

    def check_room(self) -> None:
        """Raise `StoreUnavailable` when nothing more can wait."""
        ...

    def is_crowded_by(self, person: PersonId) -> bool:
        """True when much waits, and this person has their share of it."""
        ...

    async def accept(self, entry: InboxEntry) -> None:
        """The inbox has this entry: see to it that it is worked on."""
        ...

    async def holds(self, lane: str, place: Place, message_ids: Collection[str]) -> bool:
        """True when one of these messages is accepted and may not be answered yet."""
        ...

    def answer_inline(self, event: InlineQueried) -> bool:
        """Offer completions while a person types; False without room."""
        ...


class LocalWorkplace:
    """Everything is worked on in this process."""

    def __init__(self, router: LocalDispatcher) -> None:
        self._router = router

    def check_room(self) -> None:
        """The lanes' room is ours."""
        self._router.check_room()

    def is_crowded_by(self, person: PersonId) -> bool:
        """Ask the lanes."""
        return self._router.lanes.is_crowded_by(person)

    async def accept(self, entry: InboxEntry) -> None:
        """Begin, or queue."""
        self._router.route(entry)

    async def holds(self, lane: str, place: Place, message_ids: Collection[str]) -> bool:
        """Ask the lanes."""
        return self._router.lanes.holds(lane, message_ids)

    def answer_inline(self, event: InlineQueried) -> bool:
        """Begin at once."""
        return self._router.answer_inline(event)


class SharedDispatcher:
    """Workers take accepted events from the shared inbox, this process among them or not."""

    def __init__(self, control: Control, held: AdapterState) -> None:
        self._control = control
        self._held = held
        self._inline = Tasks("inline_failed")

    def check_room(self) -> None:
        """The shared inbox has its own bounds."""

    def is_crowded_by(self, person: PersonId) -> bool:
        """Not known here; `Arrivals` bounds what one person adds to the shared inbox."""
        return False

    async def accept(self, entry: InboxEntry) -> None:
        """Note the message, so that an edit that comes before its answer is not forgotten."""
        message = _message_of(entry)
        if message is not None:
            await self._held.put(_name(message.place, message.id), "1", HELD_FOR)

    async def holds(self, lane: str, place: Place, message_ids: Collection[str]) -> bool:
        """Ask for the notes."""
        for message_id in message_ids:
            if await self._held.get(_name(place, message_id)):
                return True
        return False

    def answer_inline(self, event: InlineQueried) -> bool:
        """Answered by the process that is connected: the answer is worth nothing later."""
        if len(self._inline) >= MAX_INLINE_TASKS:
            return False
        self._inline.spawn(self._control.inline(event))
        return True


def _message_of(entry: InboxEntry) -> ChatMessage | None:
    event = entry.event
    return event.message if isinstance(event, MessageReceived | CommandInvoked) else None


def _name(place: Place, message_id: str) -> str:
    return f"{place.platform}:{place.account}:{place.channel_id}:{message_id}"[:200]
