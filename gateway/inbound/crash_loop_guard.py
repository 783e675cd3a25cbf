"""Quarantines work that repeatedly crashes the process: counts the crashes up to `MAX_WEIGHT`.

`CrashCounts` stores the crashes during which each item was in work, for the next process.
`Quarantine` covers all kinds of work. Work is marked in the record before it begins. At a start,
the records of crashed processes are read: each item that was in work has one more crash. A hang
that the watchdog ended counts for the item that ran at that moment alone; any other crash counts
for all items in work. An item that reaches `MAX_WEIGHT` is not started again, and is listed for an
operator.

`CrashLoopGuard` covers events of the inbox, which another process on another machine may continue.
An event that was begun before is first retried beside other work, then alone, so that only the
event that crashes the process is counted further; finally it is given up. The event with the fewest
crashes is retried first: otherwise a process that is repeatedly killed from outside soon after its
start would always fail at the oldest event.
"""

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from datetime import timedelta
from typing import Final

import structlog

from gateway.conversation import ConversationKey
from gateway.inbound.work_record import Crash, WorkInProgress, WorkRecord
from gateway.message import person_of
from gateway.observe.correlation import correlation_id
from gateway.ports import AdapterState, Clock
from gateway.ports.queues import Inbox, InboxEntry
from gateway.ports.work_guard import NOBODY, Quarantined, WorkGuard, WorkItem, WorkKind, WorkOwner
from gateway.store_retry import StoreRetry, uninterrupted
from gateway.stores.quarantine import QuarantineStore

CRASHES: Final = ("parley", "crashes")
"""Where the counts are stored, as the platform and account of an adapter's state."""
MAX_WEIGHT: Final = 7
"""The weight from which an item is not started. With five, one message in some thousands was given
up wrongly when a busy program was killed twenty times; with more than nine, systemd would have
stopped the program first."""
KILLED: Final = 1
"""Weight of a crash of unknown cause: the item was in progress, as others were."""
HUNG: Final = 3
"""Weight of a hang that the watchdog ended without naming what ran."""
NAMED: Final = 4
"""Weight of a hang for the item that ran: two of them reach `MAX_WEIGHT`."""
COUNTED_FOR: Final = timedelta(days=7)
"""The time for which a crash counts."""
OVER: Final = "over"
"""Replaces a count: the item was given up, and is finished without a message."""
LONGEST_KEY: Final = 200


class CrashCounts:
    """The stored counts. Every method raises `StoreUnavailable`."""

    def __init__(self, state: AdapterState) -> None:
        self._state = state

    async def of(self, item: WorkItem) -> int:
        """Return the weight of its crashes."""
        value = await self._state.get(_key(item))
        if value == OVER:
            return MAX_WEIGHT
        return int(value) if value and value.isdecimal() else 0

    async def put(self, item: WorkItem, weight: int) -> None:
        """Set the weight."""
        await self._state.put(_key(item), str(weight), COUNTED_FOR)

    async def add(self, item: WorkItem, weight: int) -> int:
        """Add a crash and return the total weight. An item that was given up stays so."""
        if await self._state.get(_key(item)) == OVER:
            return MAX_WEIGHT
        total = await self.of(item) + weight
        await self.put(item, total)
        return total

    async def begin_giving_up(self, item: WorkItem) -> bool:
        """Return True for the first call: giving the item up may crash the process, too."""
        if await self._state.get(_key(item)) == OVER:
            return False
        await self._state.put(_key(item), OVER, COUNTED_FOR)
        return True


def _key(item: WorkItem) -> str:
    # A message's count is stored under the bare id of its turn since the first release.
    return item.id if item.kind == "message" else f"{item.kind}:{item.id}"[:LONGEST_KEY]


MAX_NAMED: Final = 50
"""Items in one log line."""
MAX_LISTED: Final = 1_000
"""Stored quarantined items."""
KEEP: Final = timedelta(days=30)
KEEP_RECURRING: Final = timedelta(days=1)
"""The time for which an item stays in quarantine. Recurring work is retried after a day: without
housekeeping, no old row would be deleted."""
RECURRING: Final[tuple[WorkKind, ...]] = ("chore", "heartbeat", "embedding")

BY_ITSELF: Final[tuple[WorkKind, ...]] = ("waiting_turn", *RECURRING)
"""Kinds for which every crash counts. For a message, starts after a crash are counted by the crash
loop guard. A delivery and a send wait for others, so a process that is killed meanwhile proves
nothing about them."""
WITH_OWNER: Final[tuple[WorkKind, ...]] = ("message", "waiting_turn", "send")
"""Kinds that their own code quarantines, because it knows the person and the further steps."""


class Quarantine:
    """Implements `gateway.ports.work_guard.WorkGuard`."""

    def __init__(
        self,
        crashes: CrashCounts,
        quarantine: QuarantineStore,
        clock: Clock,
        count: Callable[[str, str], None] = lambda *_: None,
        record: WorkRecord | None = None,
        left: Sequence[Crash] = (),
    ) -> None:
        """`left`: the remains of crashed processes. `count` is called for every quarantined
        item."""
        self._crashes = crashes
        self._store = quarantine
        self._clock = clock
        self._count = count
        self.record = record or WorkRecord()
        self._left = tuple(left)
        self._weights: dict[WorkItem, int] = {}
        self._quarantined: set[WorkItem] = set()

    @property
    def quarantined(self) -> int:
        """The number of quarantined items at the last read."""
        return len(self._quarantined)

    async def start(self) -> None:
        """Count the crashes of earlier processes. Raises `StoreUnavailable`."""
        await self.refresh()
        left, self._left = self._left, ()
        for crash in left:
            _log_crash(crash)
            for item in crash.in_work:
                weight = weight_of(item, crash)
                if weight:
                    self._weights[item] = await self._crashes.add(item, weight)
        for item in tuple(self._weights):
            if item.kind not in WITH_OWNER and self.exhausted(item):
                await self.quarantine(item)

    async def refresh(self) -> int:
        """Delete old entries and read the list again; return the number of deleted entries."""
        now = self._clock.now()
        gone = await self._store.prune(now - KEEP, now - KEEP_RECURRING, RECURRING, MAX_LISTED)
        before = self._quarantined
        listed = await self._store.listed(MAX_LISTED)
        self._quarantined = {WorkItem(one.kind, one.id) for one in listed}
        for item in before - self._quarantined:
            self._weights.pop(item, None)
        return gone

    def close(self) -> None:
        """Record a regular end of the process: no item in work becomes a suspect."""
        self.record.close()

    def working(self, *items: WorkItem) -> AbstractContextManager[None]:
        """Mark these items as in work within the block."""
        return WorkInProgress(self.record, items)

    def crash_weight(self, item: WorkItem) -> int:
        """Return the weight of the crashes of earlier processes."""
        return self._weights.get(item, 0) if self._weights else 0

    def exhausted(self, item: WorkItem) -> bool:
        """Return True if the item must not be started."""
        if not (self._weights or self._quarantined):  # nearly always, and asked for every message
            return False
        return item in self._quarantined or self._weights.get(item, 0) >= MAX_WEIGHT

    def suspects(self, kind: WorkKind) -> int:
        """Return the number of items of this kind that were in work at a crash, or are
        quarantined."""
        return sum(item.kind == kind for item in {*self._weights, *self._quarantined})

    def release(self, item: WorkItem) -> None:
        """Record that the item was completed in another way."""
        self._weights.pop(item, None)

    async def quarantine(self, item: WorkItem, owner: WorkOwner = NOBODY) -> None:
        """Make the item a dead letter. Raises `StoreUnavailable`."""
        if item in self._quarantined:
            return
        weight = self._weights.get(item, MAX_WEIGHT)
        entry = Quarantined(item.kind, item.id, owner, weight, self._clock.now())
        await self._store.add(entry)
        self._quarantined.add(item)
        self._count("quarantined", item.kind)
        log.error("quarantined", kind=item.kind, id=item.id, place=owner.place, weight=weight)


def weight_of(item: WorkItem, crash: Crash) -> int:
    """Return the weight of a crash for an item that was in work."""
    if crash.named:
        return NAMED if item in crash.named else 0
    if crash.hung:
        return HUNG
    return KILLED if item.kind in BY_ITSELF else 0


def _log_crash(crash: Crash) -> None:
    """Log one line about an earlier process: its items in work, and its stack."""
    log.error(
        "earlier_process_died",
        cause="the event loop stood still" if crash.hung else "unknown",
        ran=" ".join(item.key for item in crash.named[:MAX_NAMED]),
        in_work=" ".join(item.key for item in crash.in_work[:MAX_NAMED]),
        items=len(crash.in_work),
        stack=crash.stack,
    )


MAX_REDELIVERIES: Final = MAX_WEIGHT
"""Starts after a crash; an event that none of them finished is given up at the next one."""
ALONE_AFTER: Final = 2
"""Unfinished starts after which an event is retried alone."""
GATHERING: Final = 0.05
"""Seconds in which events to be retried alone are collected, before the first starts."""

log = structlog.get_logger(__name__)

Work = Callable[[Sequence[InboxEntry]], Awaitable[None]]


class CrashLoopGuard:
    """Counts starts of work on an event that another process may have started before. A new event
    costs no access to the store."""

    def __init__(
        self,
        crashes: CrashCounts,
        guard: WorkGuard,
        inbox: Inbox,
        retry: StoreRetry,
        may_be_again: Callable[[InboxEntry], bool],
        give_up: Callable[[InboxEntry], Awaitable[None]],
    ) -> None:
        """`may_be_again` returns True if another process may have started work on an entry.
        `give_up` notifies people and finishes the entry."""
        self._crashes = crashes
        self._guard = guard
        self._inbox = inbox
        self._retry = retry.retry_while_unavailable
        self._may_be_again = may_be_again
        self._give_up = give_up
        self._alone = OneByOne()

    async def run(self, entries: Sequence[InboxEntry], work: Work) -> None:
        """Do the work on these entries, except given-up ones, and repeat it while a store is
        unavailable. Other errors of the work are raised."""
        items = [item_of(entry) for entry in entries]
        suspects = [
            item
            for entry, item in zip(entries, items, strict=True)
            if self._may_be_again(entry) or self._guard.crash_weight(item) > 0
        ]
        if not suspects:
            with self._guard.working(*items):
                await self._retry(work, entries)
            return
        counts = {item: await self._retry(self._crashes.of, item) for item in suspects}
        if max(counts.values()) < ALONE_AFTER:
            await self._begin(entries, items, counts, work)
            return
        for entry, item in zip(entries, items, strict=True):  # this separates messages of one turn
            count = counts.get(item, 0)
            async with self._alone.turn(count):
                if count >= MAX_REDELIVERIES:
                    await self._retry(self._end, entry, item, count)
                else:
                    await self._begin([entry], [item], counts, work)

    async def _begin(
        self,
        entries: Sequence[InboxEntry],
        items: Sequence[WorkItem],
        counts: Mapping[WorkItem, int],
        work: Work,
    ) -> None:
        counted = [item for item in items if item in counts]
        for item in counted:
            await self._retry(self._crashes.put, item, counts[item] + 1)
        try:
            with self._guard.working(*items):
                await self._retry(work, entries)
        except asyncio.CancelledError:  # it was stopped; there was no crash
            for item in counted:
                await uninterrupted(self._crashes.put(item, counts[item]))
            raise

    async def _end(self, entry: InboxEntry, item: WorkItem, count: int) -> None:
        log.error("event_given_up", event_kind=entry.event.kind, redeliveries=count)
        await self._guard.quarantine(item, owner_of(entry))
        if await self._crashes.begin_giving_up(item):
            with self._guard.working(item):
                await self._give_up(entry)
        else:  # the notice crashed the process, too
            await self._inbox.finish((entry.id,), ())


def item_of(entry: InboxEntry) -> WorkItem:
    """Return the item of an event: its turn."""
    return WorkItem("message", correlation_id(entry.id))


def owner_of(entry: InboxEntry) -> WorkOwner:
    """Return the author and the channel."""
    place, person = entry.event.place, person_of(entry.event) or ""
    channel = f"{place.platform}:{place.account}:{place.channel_id}"
    return WorkOwner(ConversationKey.of(entry.conversation).tenant, str(person), channel)


class OneByOne:
    """Admits waiting tasks one by one: the lowest rank first; of equal ranks, the first that
    came."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()
        self._taken = False

    @asynccontextmanager
    async def turn(self, rank: int) -> AsyncIterator[None]:
        """Wait for admission, which lasts for the block."""
        loop = asyncio.get_running_loop()
        mine: asyncio.Future[None] = loop.create_future()
        heapq.heappush(self._waiting, (rank, next(self._numbers), mine))
        if not self._taken:
            self._taken = True
            loop.call_later(GATHERING, self._next)
        try:
            await mine
            yield
        finally:
            if mine.done() and not mine.cancelled():
                self._next()

    def _next(self) -> None:
        """Admit the next one."""
        while self._waiting:
            _, _, waiting = heapq.heappop(self._waiting)
            if not waiting.done():
                waiting.set_result(None)
                return
        self._taken = False
