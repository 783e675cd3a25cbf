"""One conversation at a time in order, many conversations side by side."""

import asyncio
from collections import deque
from collections.abc import Callable, Collection, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from gateway.background_tasks import BackgroundTasks
from gateway.errors import StoreUnavailable
from gateway.message import (
    InboundEvent,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
    author_of,
    place_of,
)
from gateway.observe.correlation import correlated, correlation_id
from gateway.people import PersonId
from gateway.ports.stores import InboxEntry
from gateway.revision import message_of, revised
from gateway.slots import Slots

Overlap = Literal["collect", "queue", "drop"]
"""What happens to messages that arrive while the conversation's turn runs: they are collected
into the next turn (those of one author), queued one turn each, or dropped."""

MAX_WAITING = 10_000
"""Entries in all lanes together; further events are refused, and the platform sends them again."""
CROWDED = MAX_WAITING // 10
"""Entries from which on one person may have only `MAX_OF_ONE` of them."""
MAX_OF_ONE = 50
MAX_COLLECTED = 20
"""Messages that become one turn."""

Handle = Callable[[Sequence[InboxEntry]], Coroutine[None, None, None]]


@dataclass(slots=True)
class _Lane:
    waiting: deque[InboxEntry] = field(default_factory=deque)
    batch: list[InboxEntry] = field(default_factory=list)
    running: "asyncio.Task[None] | None" = None
    begun: bool = False
    stopped: bool = False


class Lanes:
    """Runs `handle` for the entries of each lane in order, as many at a time as there are
    `slots`.

    A lane exists only while it has work. `dropped` gets what the overlap "drop" turns away and
    what was stopped, `withdrawn` what its author deleted before its turn began.
    """

    def __init__(
        self,
        handle: Handle,
        dropped: Handle,
        *,
        withdrawn: Handle | None = None,
        slots: Slots | None = None,
        overlap: Overlap = "collect",
    ) -> None:
        self._handle = handle
        self._dropped = dropped
        self._withdrawn = withdrawn or dropped
        self._overlap = overlap
        self._slots = slots or Slots()
        self._slots.begin = self._begin_next
        self._lanes: dict[str, _Lane] = {}
        self._ready: deque[str] = deque()
        self._waiting = 0
        self._of_person: dict[tuple[str, str, str], int] = {}
        self._tasks = BackgroundTasks("lane_failed")
        self._left: set[tuple[str, str]] = set()
        self._closed = False

    @property
    def waiting(self) -> int:
        """Entries that wait for their turn."""
        return self._waiting

    @property
    def running(self) -> int:
        """Turns that work at this moment."""
        return self._slots.taken

    @property
    def aside(self) -> int:
        """Turns that have begun, and wait for a model that does not answer."""
        return self._slots.aside

    @property
    def idle(self) -> bool:
        """True when no lane has work."""
        return not self._lanes and not self._tasks

    def check_room(self) -> None:
        """Raise `StoreUnavailable` when no more entries can wait."""
        if self._waiting + len(self._left) >= MAX_WAITING:
            raise StoreUnavailable(f"{MAX_WAITING} messages are waiting already")

    def is_crowded_by(self, person: PersonId) -> bool:
        """True when more than `CROWDED` entries wait and this person has `MAX_OF_ONE` of them."""
        if self._waiting <= CROWDED:
            return False
        return self._of_person.get((person.platform, person.account, person.id), 0) >= MAX_OF_ONE

    def submit(self, entry: InboxEntry) -> None:
        """Put an entry into its lane; once closed, leave it to the next start."""
        if self._closed:
            self._leave([entry])
            return
        lane = self._lanes.get(entry.lane)
        if lane is None:
            lane = self._lanes[entry.lane] = _Lane()
            self._ready.append(entry.lane)
        elif self._overlap == "drop" and isinstance(entry.event, MessageReceived):
            self._tasks.spawn(self._dropped([entry]))
            return
        else:
            self._revise(lane, entry.event)
        lane.waiting.append(entry)
        self._count([entry], 1)
        self._slots.offer()

    def holds(self, lane: str, message_ids: Collection[str]) -> bool:
        """True when one of these messages waits in the lane, is being answered, or is left to the
        next start."""
        if any((lane, message_id) in self._left for message_id in message_ids):
            return True
        found = self._lanes.get(lane)
        if found is None:
            return False
        held = map(message_of, (*found.batch, *found.waiting))
        return any(message is not None and message.id in message_ids for message in held)

    def stop_running(self, lane: str) -> bool:
        """End the turn that runs in a lane, which is then `dropped`; False when none does."""
        found = self._lanes.get(lane)
        if found is None or found.running is None:
            return False
        if not found.batch or _is_revision(found.batch[0]):
            return False
        found.stopped = found.running.cancel()
        return found.stopped

    async def drain(self, timeout: float) -> bool:
        """Begin nothing more and wait for what runs; False after `timeout` seconds."""
        self.close()
        return await self._tasks.drain(timeout)

    async def stop(self) -> None:
        """Begin nothing more and end what runs; the inbox still has it."""
        self.close()
        await self._tasks.stop()

    def close(self) -> None:
        """Hand back the lanes that have not begun: the inbox keeps their entries."""
        self._closed = True
        while self._ready:
            self._leave_waiting(self._lanes.pop(self._ready.popleft()))

    def _leave_waiting(self, lane: _Lane) -> None:
        self._count(lane.waiting, -1)
        self._leave(lane.waiting)

    def _leave(self, entries: Iterable[InboxEntry]) -> None:
        """The inbox has them; what is kept here is that they are still to be answered."""
        for entry in entries:
            message = message_of(entry)
            if message is not None:
                self._left.add((entry.lane, message.id))

    def _count(self, entries: Collection[InboxEntry], by: int) -> None:
        """Count entries that begin (1) or end (-1) to wait, in all and by person."""
        self._waiting += by * len(entries)
        for entry in entries:
            person = _person_of(entry)
            if person is not None:
                waiting = self._of_person.pop(person, 0) + by
                if waiting:
                    self._of_person[person] = waiting

    def _revise(self, lane: _Lane, event: InboundEvent) -> None:
        """Let what has not begun follow an edit or a deletion; what has is revised after it."""
        if not isinstance(event, MessageEdited | MessageDeleted):
            return
        self._count(lane.waiting, -1)
        lane.waiting = deque(self._kept(lane.waiting, event))
        self._count(lane.waiting, 1)
        if lane.running is not None and not lane.begun:
            lane.batch = self._kept(lane.batch, event)

    def _kept(
        self, entries: Iterable[InboxEntry], revision: MessageEdited | MessageDeleted
    ) -> list[InboxEntry]:
        pairs = [(entry, revised(entry, revision)) for entry in entries]
        gone = [entry for entry, now in pairs if now is None]
        if gone:
            self._tasks.spawn(self._withdrawn(gone))
        return [now for _, now in pairs if now is not None]

    async def _turn(self, lane: _Lane) -> None:
        lane.begun = True
        if lane.batch:
            await self._handle(lane.batch)
        lane.stopped = False  # it was done before a stop could take effect

    def _begin_next(self) -> bool:
        """Begin the turn of the lane that has waited longest for a slot; False without one."""
        if not self._ready:
            return False
        name = self._ready.popleft()
        lane = self._lanes[name]
        lane.batch, lane.begun, lane.stopped = self._next_batch(lane), False, False
        self._count(lane.batch, -1)
        self._slots.take()
        # Who happens to start the turn is about another message, more often than not.
        with correlated(correlation_id(lane.batch[-1].id)):
            lane.running = self._tasks.spawn(self._turn(lane))
            lane.running.add_done_callback(partial(self._finished, name))
        return True

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
        lane = self._lanes[name]
        lane.running = None
        if lane.stopped:
            self._tasks.spawn(self._dropped(lane.batch))
        lane.batch = []
        if lane.waiting and not self._closed:
            self._ready.append(name)
        else:
            self._leave_waiting(self._lanes.pop(name))
        self._slots.give()


def _person_of(entry: InboxEntry) -> tuple[str, str, str] | None:
    """What a `PersonId` consists of; it is counted for every entry."""
    author, place = author_of(entry.event), place_of(entry.event)
    return None if author is None else (place.platform, place.account, author.id)


def _is_revision(entry: InboxEntry) -> bool:
    return isinstance(entry.event, MessageEdited | MessageDeleted)


def _same_author(first: InboxEntry, second: InboxEntry) -> bool:
    return (
        isinstance(first.event, MessageReceived)
        and isinstance(second.event, MessageReceived)
        and first.event.message.person == second.event.message.person
    )
