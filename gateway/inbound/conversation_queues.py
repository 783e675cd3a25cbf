"""Runs the work of each conversation in order, and many conversations concurrently."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Literal

from msgspec import Struct

from db.errors import StoreUnavailable
from gateway.background_tasks import BackgroundTasks
from gateway.inbound.cut_texts import REST
from gateway.inbound.message_changes import changes, revised
from gateway.message import (
    InboundEvent,
    MessageDeleted,
    MessageEdited,
    MessageReceived,
)
from gateway.observe.correlation import correlated, correlation_id
from gateway.people import PersonId
from gateway.ports.clock import AlarmClock, SystemClock
from gateway.ports.queues import InboxEntry
from gateway.turn.slots import Slots

Overlap = Literal["collect", "queue", "drop"]
"""The handling of messages that arrive while the conversation's turn runs: they are collected
into the next turn (those of one author), queued one turn each, or dropped."""

MAX_WAITING = 10_000
"""Entries in all queues together; further events are refused, and the platform sends them again."""
CROWDED = MAX_WAITING // 10
"""Entries from which on one person may have only `MAX_OF_ONE` of them."""
MAX_OF_ONE = 50
MAX_COLLECTED = 20
"""Messages that become one turn."""
MAX_EXPIRED = 200
"""Messages that are too old and end together."""
CHANGE_PAUSE = 1.0
"""Seconds until a turn begins again after an edit: people often correct more than one word."""


async def _at_once() -> None:
    """Wait for nothing."""


Handle = Callable[[Sequence[InboxEntry]], Coroutine[None, None, None]]


def _no_pieces(_entries: Sequence[InboxEntry], _entry: InboxEntry) -> bool:
    return False


def _never_again(_entries: Sequence[InboxEntry], _event: InboundEvent) -> bool:
    return False


class Joining(Struct, frozen=True):
    """How entries become one turn. `follows(entries, entry)`: the entry is the next piece of a text
    that ends with the last of `entries`; `wait` returns the seconds for which an entry waits for
    its next piece. `begin_again(entries, event)` returns True if the running turn of these entries
    may be ended for a change of its messages, because nobody has seen anything of it."""

    follows: Callable[[Sequence[InboxEntry], InboxEntry], bool] = _no_pieces
    wait: Callable[[InboxEntry], float] = lambda _: 0.0
    begin_again: Callable[[Sequence[InboxEntry], InboundEvent], bool] = _never_again
    clock: AlarmClock = SystemClock()


@dataclass(slots=True)
class _Queue:
    """`again`: the running turn was ended, and its batch is worked on again, after `pause` seconds.
    `held` cancels the
    timer that starts the queue; `until` is when its last entry stops to wait for a further piece,
    in monotonic seconds."""

    waiting: deque[InboxEntry] = field(default_factory=deque)
    batch: list[InboxEntry] = field(default_factory=list)
    running: "asyncio.Task[None] | None" = None
    begun: bool = False
    stopped: bool = False
    again: bool = False
    pause: float = 0.0
    held: Callable[[], object] | None = None
    until: float = 0.0


class ConversationQueues:
    """Runs `handle` for the entries of each conversation in order, as many at a time as there are
    `slots`.

    A queue exists only while it has work. `dropped` receives entries that the overlap "drop"
    refuses and stopped entries, `withdrawn` entries that their author deleted before their turn
    began, or showed anything.
    """

    def __init__(
        self,
        handle: Handle,
        dropped: Handle,
        *,
        withdrawn: Handle | None = None,
        slots: Slots | None = None,
        overlap: Overlap = "collect",
        expired: Callable[[InboxEntry], bool] = lambda _: False,
        gather: Callable[[], Awaitable[None]] = _at_once,
        joining: Joining | None = None,
    ) -> None:
        """`expired` entries that follow each other are passed to `handle` together, whoever wrote
        them; `gather` waits for further ones."""
        self._handle = handle
        self._dropped = dropped
        self._withdrawn = withdrawn or dropped
        self._overlap = overlap
        self._expired = expired
        self._gather = gather
        self._joining = joining or Joining()
        self._slots = slots or Slots()
        self._slots.begin = self._begin_next
        self._queues: dict[str, _Queue] = {}
        self._ready: deque[str] = deque()
        self._waiting = 0
        self._of_person: dict[tuple[str, str, str], int] = {}
        self._tasks = BackgroundTasks("turn_failed")
        self._left: set[tuple[str, str]] = set()
        self._closed = False

    @property
    def waiting(self) -> int:
        """The number of waiting entries."""
        return self._waiting

    @property
    def oldest(self) -> datetime | None:
        """The arrival of the entry that has waited longest; None when nothing waits."""
        heads = (queue.waiting[0].received_at for queue in self._queues.values() if queue.waiting)
        return min(heads, default=None)

    @property
    def running(self) -> int:
        """The number of running turns."""
        return self._slots.taken

    @property
    def aside(self) -> int:
        """The number of running turns that wait for a model that does not answer."""
        return self._slots.aside

    @property
    def idle(self) -> bool:
        """True when no queue has work."""
        return not self._queues and not self._tasks

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
        """Queue an entry in its conversation; once closed, leave it to the next start."""
        if self._closed:
            self._leave([entry])
            return
        name, queue = entry.conversation, self._queues.get(entry.conversation)
        if queue is None:
            queue = self._queues[name] = _Queue()
            self._append(queue, entry)
            self._wait_for_rest(queue, entry)
            self._begin_or_hold(name, queue)
        elif self._place_piece(queue, entry):
            self._wait_for_rest(queue, entry)
            if self._release(queue):
                self._begin_or_hold(name, queue)
        elif self._overlap == "drop" and isinstance(entry.event, MessageReceived):
            self._tasks.spawn(self._dropped([entry]))
            return
        else:
            self._revise(queue, entry.event)
            self._append(queue, entry)
            if not _is_revision(entry):
                self._wait_for_rest(queue, entry)
                if self._release(queue):
                    self._ready.append(name)
        self._slots.offer()

    def _append(self, queue: _Queue, entry: InboxEntry) -> None:
        queue.waiting.append(entry)
        self._count([entry], 1)

    def holds(self, conversation: str, message_ids: Collection[str]) -> bool:
        """True when one of these messages waits in the queue, is being answered, or is left to the
        next start."""
        if any((conversation, message_id) in self._left for message_id in message_ids):
            return True
        queue = self._queues.get(conversation)
        if queue is None:
            return False
        held = (entry.message for entry in (*queue.batch, *queue.waiting))
        return any(message is not None and message.id in message_ids for message in held)

    def works_on(self, conversation: str) -> bool:
        """Return True while a turn of this conversation runs here."""
        queue = self._queues.get(conversation)
        return queue is not None and queue.running is not None

    def stop_running(self, conversation: str) -> bool:
        """Stop and drop the running turn of a conversation, or the messages that wait for a further
        piece; False if there is neither."""
        queue = self._queues.get(conversation)
        if queue is None:
            return False
        if self._release(queue):
            self._drop_held(conversation, queue)
            return True
        if queue.running is None or not queue.batch or _is_revision(queue.batch[0]):
            return False
        queue.stopped = queue.running.cancel()
        return queue.stopped

    def _drop_held(self, name: str, queue: _Queue) -> None:
        """Drop the messages that wait for a further piece, and go on with the others."""
        batch = self._next_batch(queue)
        self._count(batch, -1)
        self._tasks.spawn(self._dropped(batch))
        if queue.waiting:
            self._begin_or_hold(name, queue)
            self._slots.offer()
        else:
            del self._queues[name]

    async def drain(self, timeout: float) -> bool:
        """Start no further work and wait for running work; False after `timeout` seconds."""
        self.close()
        return await self._tasks.drain(timeout)

    async def stop(self) -> None:
        """Start no further work and cancel running work; the inbox keeps it."""
        self.close()
        await self._tasks.stop()

    def close(self) -> None:
        """Drop the queues that have not begun: the inbox keeps their entries."""
        self._closed = True
        held = [name for name, queue in self._queues.items() if self._release(queue)]
        for name in (*self._ready, *held):
            self._leave_waiting(self._queues.pop(name))
        self._ready.clear()

    def _leave_waiting(self, queue: _Queue) -> None:
        self._count(queue.waiting, -1)
        self._leave(queue.waiting)

    def _leave(self, entries: Iterable[InboxEntry]) -> None:
        """Record that these entries are still to be answered; the inbox has them."""
        for entry in entries:
            message = entry.message
            if message is not None:
                self._left.add((entry.conversation, message.id))

    def _count(self, entries: Collection[InboxEntry], by: int) -> None:
        """Count entries that start (1) or stop (-1) to wait, in total and by person."""
        self._waiting += by * len(entries)
        for entry in entries:
            person = _person_of(entry)
            if person is not None:
                waiting = self._of_person.pop(person, 0) + by
                if waiting:
                    self._of_person[person] = waiting

    def _wait_for_rest(self, queue: _Queue, entry: InboxEntry) -> None:
        seconds = self._joining.wait(entry)
        queue.until = self._joining.clock.monotonic() + seconds if seconds else 0.0

    def _begin_or_hold(self, name: str, queue: _Queue, pause: float = 0.0) -> None:
        """Make a queue ready: at once, or when its last message stops to wait for a further piece.
        A message of somebody else does not wait for it."""
        if queue.until and self._batch_size(queue) == len(queue.waiting):
            pause = max(pause, queue.until - self._joining.clock.monotonic())
        if pause > 0:
            queue.held = self._joining.clock.after(pause, partial(self._held_long_enough, name))
        else:
            self._ready.append(name)

    def _held_long_enough(self, name: str) -> None:
        queue = self._queues.get(name)
        if queue is not None and self._release(queue):
            self._ready.append(name)
            self._slots.offer()

    def _release(self, queue: _Queue) -> bool:
        """End the hold of a queue; False if it has none."""
        if queue.held is None:
            return False
        queue.held()
        queue.held = None
        return True

    def _place_piece(self, queue: _Queue, entry: InboxEntry) -> bool:
        """Place an entry that continues the last message of its author directly after it, also if
        that message's turn runs and can begin again. False for any other entry."""
        if not isinstance(entry.event, MessageReceived):
            return False
        person, waiting, follows = _person_of(entry), queue.waiting, self._joining.follows
        for back, one in enumerate(islice(reversed(waiting), MAX_COLLECTED), start=1):
            if _person_of(one) != person or _is_revision(one):
                continue
            after = len(waiting) - back + 1
            if not follows(list(islice(waiting, max(0, after - MAX_COLLECTED), after)), entry):
                return False
            waiting.insert(after, entry)
            self._count([entry], 1)
            return True
        if queue.running is None or not follows(queue.batch, entry):
            return False
        if not queue.begun:
            queue.batch.append(entry)
            return True
        if not self._end_for_change(queue, entry.event):
            return False
        queue.waiting.appendleft(entry)
        self._count([entry], 1)
        return True

    def _end_for_change(self, queue: _Queue, event: InboundEvent) -> bool:
        """End the running turn, so that it begins again; False if its answer was seen."""
        if queue.running is None or queue.stopped:
            return False
        if not queue.again and self._joining.begin_again(queue.batch, event):
            queue.again = queue.running.cancel()
            queue.pause = CHANGE_PAUSE if isinstance(event, MessageEdited) else 0.0
        return queue.again

    def _revise(self, queue: _Queue, event: InboundEvent) -> None:
        """Apply an edit or a deletion to waiting entries, and to the running ones if nothing of
        their answer was seen; otherwise they are revised after their turn."""
        if not isinstance(event, MessageEdited | MessageDeleted):
            return
        self._count(queue.waiting, -1)
        queue.waiting = deque(self._kept(queue.waiting, event))
        self._count(queue.waiting, 1)
        if queue.running is None or not any(changes(event, entry) for entry in queue.batch):
            return
        if not queue.begun or self._end_for_change(queue, event):
            queue.batch = self._kept(queue.batch, event)

    def _kept(
        self, entries: Iterable[InboxEntry], revision: MessageEdited | MessageDeleted
    ) -> list[InboxEntry]:
        kept: list[InboxEntry] = []
        gone: list[InboxEntry] = []
        text: list[InboxEntry] = []
        for entry in entries:
            if not self._joining.follows(text, entry):
                text, asked = [], False
            now = revised(entry, revision)
            if now is None or (text and entry.reason == REST and not asked):
                gone.append(entry)  # also a rest of which no piece is left that asks
            else:
                kept.append(now)
                asked = True
            text.append(entry)
        if gone:
            self._tasks.spawn(self._withdrawn(gone))
        return kept

    async def _turn(self, queue: _Queue) -> None:
        if queue.batch and self._expired(queue.batch[0]):
            await self._gather()
            queue.batch += self._take_expired(queue)
        queue.begun = True
        if queue.batch:
            await self._handle(queue.batch)
        queue.stopped = queue.again = False  # it was done before they could take effect

    def _begin_next(self) -> bool:
        """Start the turn of the queue that has waited longest for a slot; False without one."""
        if not self._ready:
            return False
        name = self._ready.popleft()
        queue = self._queues[name]
        queue.batch, queue.begun, queue.stopped = self._next_batch(queue), False, False
        self._count(queue.batch, -1)
        self._slots.take()
        # Who happens to start the turn is about another message, more often than not.
        with correlated(correlation_id(queue.batch[-1].id)):
            queue.running = self._tasks.spawn(self._turn(queue))
            queue.running.add_done_callback(partial(self._finished, name))
        return True

    def _take_expired(self, queue: _Queue) -> list[InboxEntry]:
        taken: list[InboxEntry] = []
        while queue.waiting and len(taken) < MAX_EXPIRED and self._expired(queue.waiting[0]):
            taken.append(queue.waiting.popleft())
        self._count(taken, -1)
        return taken

    def _next_batch(self, queue: _Queue) -> list[InboxEntry]:
        return [queue.waiting.popleft() for _ in range(self._batch_size(queue))]

    def _batch_size(self, queue: _Queue) -> int:
        """Return how many entries from the first on become one turn."""
        first, *others = islice(queue.waiting, MAX_COLLECTED)
        batch = [first]
        for entry in others:
            if not _same_author(first, entry) or self._expired(first) != self._expired(entry):
                break
            if self._overlap != "collect" and not self._joining.follows(batch, entry):
                break
            batch.append(entry)
        return len(batch)

    def _finished(self, name: str, _task: "asyncio.Task[None]") -> None:
        queue = self._queues[name]
        queue.running, pause = None, 0.0
        if queue.stopped:
            self._tasks.spawn(self._dropped(queue.batch))
        elif queue.again:
            queue.waiting.extendleft(reversed(queue.batch))
            self._count(queue.batch, 1)
            pause = queue.pause
        queue.batch, queue.again = [], False
        if queue.waiting and not self._closed:
            self._begin_or_hold(name, queue, pause)
        else:
            self._leave_waiting(self._queues.pop(name))
        self._slots.give()


def _person_of(entry: InboxEntry) -> tuple[str, str, str] | None:
    """Return the parts of a `PersonId`, without its construction, because every entry is
    counted."""
    author, place = entry.event.author, entry.event.place
    return None if author is None else (place.platform, place.account, author.id)


def _is_revision(entry: InboxEntry) -> bool:
    return isinstance(entry.event, MessageEdited | MessageDeleted)


def _same_author(first: InboxEntry, second: InboxEntry) -> bool:
    return (
        isinstance(first.event, MessageReceived)
        and isinstance(second.event, MessageReceived)
        and first.event.message.person == second.event.message.person
    )
