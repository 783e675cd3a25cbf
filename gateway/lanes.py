"""One conversation at a time in order, many conversations side by side."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import structlog

from gateway.errors import StoreUnavailable
from gateway.message import CommandInvoked, MessageReceived
from gateway.stores import InboxEntry

Overlap = Literal["collect", "queue", "drop"]
"""What happens to messages that arrive while the conversation's turn runs: they are collected
into the next turn (those of one author), queued one turn each, or dropped."""

MAX_WAITING = 10_000
"""Entries in all lanes together; further events are refused, and the platform sends them again."""
MAX_COLLECTED = 20
"""Messages that become one turn."""

Handle = Callable[[Sequence[InboxEntry]], Awaitable[None]]

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Lane:
    waiting: deque[InboxEntry] = field(default_factory=deque)
    batch: list[InboxEntry] = field(default_factory=list)
    running: "asyncio.Task[None] | None" = None
    stopped: bool = False


class Lanes:
    """Runs `handle` for the entries of each lane in order, at most `concurrency` at a time.

    A lane exists only while it has work. `dropped` gets what the overlap "drop" turns away and
    what was stopped.
    """

    def __init__(
        self,
        handle: Handle,
        dropped: Handle,
        *,
        concurrency: int = 32,
        overlap: Overlap = "collect",
    ) -> None:
        self._handle = handle
        self._dropped = dropped
        self._overlap = overlap
        self._concurrency = concurrency
        self._lanes: dict[str, _Lane] = {}
        self._ready: deque[str] = deque()
        self._waiting = 0
        self._running = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._closed = False

    @property
    def waiting(self) -> int:
        """Entries that wait for their turn."""
        return self._waiting

    @property
    def running(self) -> int:
        """Turns that run at this moment."""
        return self._running

    @property
    def idle(self) -> bool:
        """True when no lane has work."""
        return not self._lanes

    def check_room(self) -> None:
        """Raise `StoreUnavailable` when no more entries can wait."""
        if self._waiting >= MAX_WAITING:
            raise StoreUnavailable(f"{MAX_WAITING} messages are waiting already")

    def submit(self, entry: InboxEntry) -> None:
        """Put an entry into its lane."""
        if self._closed:
            return
        lane = self._lanes.get(entry.lane)
        if lane is None:
            lane = self._lanes[entry.lane] = _Lane()
            self._ready.append(entry.lane)
        elif self._overlap == "drop" and isinstance(entry.event, MessageReceived):
            self._spawn(self._dropped([entry]))
            return
        lane.waiting.append(entry)
        self._waiting += 1
        self._idle.clear()
        self._start_ready()

    def holds(self, lane: str, message_ids: Collection[str]) -> bool:
        """True when one of these messages waits in the lane, or is being answered."""
        found = self._lanes.get(lane)
        if found is None:
            return False
        return any(_message_id(e) in message_ids for e in (*found.batch, *found.waiting))

    def stop_running(self, lane: str) -> bool:
        """End the turn that runs in a lane, which is then `dropped`; False when none does."""
        found = self._lanes.get(lane)
        if found is None or found.running is None:
            return False
        found.stopped = found.running.cancel()
        return found.stopped

    async def drain(self, timeout: float) -> bool:
        """Take nothing new and wait until everything is done; False after `timeout` seconds."""
        self._closed = True
        try:
            async with asyncio.timeout(timeout):
                await self._idle.wait()
        except TimeoutError:
            return False
        return True

    async def stop(self) -> None:
        """Take nothing new and end what runs; the inbox still has it."""
        self._closed = True
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _spawn(self, work: Awaitable[None]) -> "asyncio.Task[None]":
        async def guarded() -> None:
            try:
                await work
            except Exception:
                log.exception("lane_failed")

        task = asyncio.create_task(guarded())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _start_ready(self) -> None:
        while self._ready and self._running < self._concurrency:
            name = self._ready.popleft()
            lane = self._lanes[name]
            batch = self._next_batch(lane)
            self._waiting -= len(batch)
            self._running += 1
            lane.batch, lane.stopped = batch, False
            lane.running = self._spawn(self._handle(batch))
            lane.running.add_done_callback(partial(self._finished, name))

    def _next_batch(self, lane: _Lane) -> list[InboxEntry]:
        batch = [lane.waiting.popleft()]
        while (
            self._overlap == "collect"
            and lane.waiting
            and len(batch) < MAX_COLLECTED
            and _same_author(batch[0], lane.waiting[0])
        ):
            batch.append(lane.waiting.popleft())
        return batch

    def _finished(self, name: str, _task: "asyncio.Task[None]") -> None:
        self._running -= 1
        lane = self._lanes[name]
        lane.running = None
        if lane.stopped:
            self._spawn(self._dropped(lane.batch))
        lane.batch = []
        if lane.waiting and not self._closed:
            self._ready.append(name)
        else:
            self._waiting -= len(lane.waiting)
            del self._lanes[name]
        self._start_ready()
        if not self._lanes:
            self._idle.set()


def _message_id(entry: InboxEntry) -> str:
    event = entry.event
    if isinstance(event, MessageReceived):
        return event.message.id
    if isinstance(event, CommandInvoked) and event.message is not None:
        return event.message.id
    return ""


def _same_author(first: InboxEntry, second: InboxEntry) -> bool:
    return (
        isinstance(first.event, MessageReceived)
        and isinstance(second.event, MessageReceived)
        and first.event.message.person == second.event.message.person
    )
