"""Which part of the gateway a stored event goes to, and whether it waits in its lane for that."""

import asyncio
from collections.abc import Sequence

from gateway.background_tasks import BackgroundTasks
from gateway.commands.handler import CommandHandler
from gateway.errors import StoreUnavailable
from gateway.lanes import Lanes, Overlap
from gateway.message import (
    ButtonPressed,
    CommandInvoked,
    InlineQueried,
    MessageDeleted,
    MessageEdited,
)
from gateway.observe.correlation import correlated, correlation_id
from gateway.pipeline import Pipeline
from gateway.ports.stores import InboxEntry
from gateway.slots import Slots

MAX_CONTROL_TASKS = 1_000
"""Commands and button presses that may run at once; further ones are refused at the door."""


class Router:
    """Questions and revisions go through lanes; what controls a lane never waits in it."""

    def __init__(
        self,
        pipeline: Pipeline,
        control: CommandHandler,
        *,
        slots: Slots,
        overlap: Overlap,
    ) -> None:
        self._pipeline = pipeline
        self._patience = pipeline.patience
        self._takeovers = pipeline.takeovers
        self._control = control
        self.lanes = Lanes(
            self._in_lane,
            pipeline.drop,
            withdrawn=pipeline.withdraw,
            slots=slots,
            overlap=overlap,
        )
        self._controls = BackgroundTasks("control_failed")
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
        with correlated(correlation_id(entry.id)):
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
