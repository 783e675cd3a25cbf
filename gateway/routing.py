"""Which part of the gateway a stored event goes to, and whether it waits in its lane for that."""

import asyncio
from collections.abc import Coroutine, Sequence

import structlog

from gateway.commands.confirmations import is_confirmation
from gateway.commands.control import Control
from gateway.errors import StoreUnavailable
from gateway.lanes import Lanes, Overlap
from gateway.message import (
    ButtonPressed,
    CommandInvoked,
    InlineQueried,
    MessageDeleted,
    MessageEdited,
)
from gateway.pipeline import Pipeline
from gateway.stores import InboxEntry

MAX_CONTROL_TASKS = 1_000
"""Commands and button presses that may run at once; further ones are refused at the door."""

log = structlog.get_logger(__name__)


class Router:
    """Questions and revisions go through lanes; what controls a lane never waits in it."""

    def __init__(
        self, pipeline: Pipeline, control: Control, *, concurrency: int, overlap: Overlap
    ) -> None:
        self._pipeline = pipeline
        self._control = control
        self.lanes = Lanes(self._in_lane, pipeline.drop, concurrency=concurrency, overlap=overlap)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def idle(self) -> bool:
        """True when nothing that was routed is unfinished."""
        return not self._tasks and self.lanes.idle

    def check_room(self) -> None:
        """Raise `StoreUnavailable` when no more work can wait."""
        self.lanes.check_room()
        if len(self._tasks) >= MAX_CONTROL_TASKS:
            raise StoreUnavailable(f"{MAX_CONTROL_TASKS} commands are being answered already")

    def route(self, entry: InboxEntry) -> None:
        """Start, or queue, the work for an event that the inbox holds."""
        event = entry.event
        if isinstance(event, ButtonPressed) and is_confirmation(event.value):
            self._spawn(self._control.press(entry, event))
        elif isinstance(event, CommandInvoked) and event.name == "stop":
            self._spawn(self._control.stop(entry, event, self.lanes))
        elif isinstance(event, CommandInvoked) and event.name != "ask":
            self._spawn(self._control.command(entry, event))
        else:
            self.lanes.submit(entry)

    def answer_inline(self, event: InlineQueried) -> None:
        """Offer completions while a person types; nothing of it is stored."""
        self._spawn(self._control.inline(event))

    async def drain(self, timeout: float) -> bool:
        """Wait until all that was routed is done; False after `timeout` seconds."""
        done = await self.lanes.drain(timeout)
        if self._tasks:
            _, pending = await asyncio.wait(self._tasks, timeout=timeout)
            return done and not pending
        return done

    async def stop(self) -> None:
        """End what runs; the inbox keeps it."""
        await self.lanes.stop()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _in_lane(self, entries: Sequence[InboxEntry]) -> None:
        first = entries[0]
        if isinstance(first.event, MessageEdited | MessageDeleted):
            await self._control.revise(first, first.event)
        else:
            await self._pipeline.handle(entries)

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        async def guarded() -> None:
            try:
                await work
            except Exception:
                log.exception("control_failed")

        task = asyncio.create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
