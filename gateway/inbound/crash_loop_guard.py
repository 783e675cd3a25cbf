"""Stops work that processes die of: counts the deaths, quarantines what reaches `MAX_DEATHS`.

`CrashCounts` holds the deaths that each piece of work was in work at, where the next process finds
them.

`Quarantine` covers all kinds of work. Work is marked in the record before it begins. At a start,
the records of processes that died are read: each item that was in work has one more death. A hang
that the watchdog ended counts for what ran at that moment alone; any other death counts for
everything that was in work. What reaches `MAX_DEATHS` is not begun any more and stands in a list
for an operator.

`CrashLoopGuard` covers events of the inbox, which another process on another machine may take up.
An event that was begun before is tried again beside everything else at first, then alone, so that
only the event that kills the process is counted any further; in the end it is given up. The event
with the fewest deaths is tried first: a process that is killed from outside, again and again and
soon after its start, would otherwise always die of the oldest.
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
from gateway.inbound.work_record import Death, Working, WorkRecord
from gateway.message import author_of, place_of
from gateway.observe.correlation import correlation_id
from gateway.people import PersonId
from gateway.ports import AdapterState, Clock
from gateway.ports.inbox import Inbox, InboxEntry
from gateway.ports.quarantine import Quarantined, QuarantineStore
from gateway.ports.work_guard import NOBODY, Owner, WorkGuard, WorkItem, WorkKind
from gateway.store_retry import StoreRetry, uninterrupted

MAX_DEATHS: Final = 7
"""The weight from which an item is not begun any more. With five, one message in some thousands was
given up for nothing when a busy program was killed twenty times; with more than nine, systemd would
have given the program up first."""
KILLED: Final = 1
"""Weight of a death of unknown cause: the item was in work, as others were."""
HUNG: Final = 3
"""Weight of a hang that the watchdog ended without naming what ran."""
NAMED: Final = 4
"""Weight of a hang for the item that ran: two of them reach `MAX_DEATHS`."""
COUNTED_FOR: Final = timedelta(days=7)
"""How long a death counts."""
OVER: Final = "over"
"""In place of a count: the item was given up, and is finished without a word from then on."""
LONGEST_KEY: Final = 200


class CrashCounts:
    """The counts, in the durable state of the program. Everything raises `StoreUnavailable`."""

    def __init__(self, state: AdapterState) -> None:
        self._state = state

    async def of(self, item: WorkItem) -> int:
        """The weight of its deaths."""
        value = await self._state.get(_key(item))
        if value == OVER:
            return MAX_DEATHS
        return int(value) if value and value.isdecimal() else 0

    async def put(self, item: WorkItem, weight: int) -> None:
        """Set the weight."""
        await self._state.put(_key(item), str(weight), COUNTED_FOR)

    async def add(self, item: WorkItem, weight: int) -> int:
        """Add a death; the weight of all of them. An item that was given up stays so."""
        if await self._state.get(_key(item)) == OVER:
            return MAX_DEATHS
        total = await self.of(item) + weight
        await self.put(item, total)
        return total

    async def begin_giving_up(self, item: WorkItem) -> bool:
        """True for the first call: giving the item up may be what a process dies of, too."""
        if await self._state.get(_key(item)) == OVER:
            return False
        await self._state.put(_key(item), OVER, COUNTED_FOR)
        return True


def _key(item: WorkItem) -> str:
    # A message's count has stood under the bare id of its turn since the first release.
    return item.id if item.kind == "message" else f"{item.kind}:{item.id}"[:LONGEST_KEY]


MAX_NAMED: Final = 50
"""Items that a line of the log names."""
MAX_LISTED: Final = 1_000
"""Quarantined items that are kept."""
KEEP: Final = timedelta(days=30)
KEEP_RECURRING: Final = timedelta(days=1)
"""How long an item stays quarantined. Work that comes again by itself is tried once more after a
day: without housekeeping nothing would be forgotten."""
RECURRING: Final[tuple[WorkKind, ...]] = ("chore", "heartbeat", "embedding")

BY_ITSELF: Final[tuple[WorkKind, ...]] = ("waiting_turn", *RECURRING)
"""Kinds for which every death counts. A message's beginnings after a death are counted where it is
taken up; a delivery and a send wait for others, and a process that is killed from outside meanwhile
says nothing about them."""
WITH_OWNER: Final[tuple[WorkKind, ...]] = ("message", "waiting_turn", "send")
"""Kinds that are quarantined where they are taken up, because only there it is known whose they
are, or what else is to be done."""


class Quarantine:
    """Implements `gateway.ports.work_guard.WorkGuard`."""

    def __init__(
        self,
        deaths: CrashCounts,
        quarantine: QuarantineStore,
        clock: Clock,
        count: Callable[[str, str], None] = lambda *_: None,
        record: WorkRecord | None = None,
        left: Sequence[Death] = (),
    ) -> None:
        """`left`: what processes that died left behind. `count` is told of every item that is
        quarantined."""
        self._deaths = deaths
        self._store = quarantine
        self._clock = clock
        self._count = count
        self.record = record or WorkRecord()
        self._left = tuple(left)
        self._weights: dict[WorkItem, int] = {}
        self._quarantined: set[WorkItem] = set()

    @property
    def quarantined(self) -> int:
        """How many items are quarantined, as of the last look."""
        return len(self._quarantined)

    async def start(self) -> None:
        """Count the deaths of earlier processes. Raises `StoreUnavailable`."""
        await self.refresh()
        left, self._left = self._left, ()
        for death in left:
            _log_death(death)
            for item in death.in_work:
                weight = weight_of(item, death)
                if weight:
                    self._weights[item] = await self._deaths.add(item, weight)
        for item in tuple(self._weights):
            if item.kind not in WITH_OWNER and self.exhausted(item):
                await self.quarantine(item)

    async def refresh(self) -> int:
        """Delete entries that are too old, and read the list again; how many were deleted."""
        now = self._clock.now()
        gone = await self._store.prune(now - KEEP, now - KEEP_RECURRING, RECURRING, MAX_LISTED)
        before = self._quarantined
        listed = await self._store.listed(MAX_LISTED)
        self._quarantined = {WorkItem(one.kind, one.id) for one in listed}
        for item in before - self._quarantined:
            self._weights.pop(item, None)
        return gone

    def close(self) -> None:
        """Note that the process ends in order: no item that is in work becomes a suspect."""
        self.record.close()

    def working(self, *items: WorkItem) -> AbstractContextManager[None]:
        """Within it these items are in work."""
        return Working(self.record, items)

    def deaths(self, item: WorkItem) -> int:
        """The weight of the deaths that earlier processes left."""
        return self._weights.get(item, 0) if self._weights else 0

    def exhausted(self, item: WorkItem) -> bool:
        """True when the item must not be begun any more."""
        if not (self._weights or self._quarantined):  # nearly always, and asked for every message
            return False
        return item in self._quarantined or self._weights.get(item, 0) >= MAX_DEATHS

    def suspects(self, kind: WorkKind) -> int:
        """How many items of this kind were in work at a death, or are quarantined."""
        return sum(item.kind == kind for item in {*self._weights, *self._quarantined})

    def release(self, item: WorkItem) -> None:
        """The item was dealt with in another way."""
        self._weights.pop(item, None)

    async def quarantine(self, item: WorkItem, owner: Owner = NOBODY) -> None:
        """Make the item a dead letter. Raises `StoreUnavailable`."""
        if item in self._quarantined:
            return
        weight = self._weights.get(item, MAX_DEATHS)
        entry = Quarantined(item.kind, item.id, owner, weight, self._clock.now())
        await self._store.add(entry)
        self._quarantined.add(item)
        self._count("quarantined", item.kind)
        log.error("quarantined", kind=item.kind, id=item.id, place=owner.place, weight=weight)


def weight_of(item: WorkItem, death: Death) -> int:
    """By how much a death counts for an item that was in work at it."""
    if death.named:
        return NAMED if item in death.named else 0
    if death.hung:
        return HUNG
    return KILLED if item.kind in BY_ITSELF else 0


def _log_death(death: Death) -> None:
    """One line about an earlier process: what was in work, and where it stood."""
    log.error(
        "earlier_process_died",
        cause="the event loop stood still" if death.hung else "unknown",
        ran=" ".join(item.key for item in death.named[:MAX_NAMED]),
        in_work=" ".join(item.key for item in death.in_work[:MAX_NAMED]),
        items=len(death.in_work),
        stack=death.stack,
    )


MAX_REDELIVERIES: Final = MAX_DEATHS
"""Beginnings after a death; an event that none of them finished is given up at the next one."""
ALONE_AFTER: Final = 2
"""Takeovers that did not end, after which an event is tried alone."""
GATHERING: Final = 0.05
"""Seconds in which those who are to be tried alone gather, before the first of them is."""

log = structlog.get_logger(__name__)

Work = Callable[[Sequence[InboxEntry]], Awaitable[None]]


class CrashLoopGuard:
    """Counts how often work on an event begins anew that another process may have begun before.
    Work on an event that is surely new costs nothing."""

    def __init__(
        self,
        deaths: CrashCounts,
        guard: WorkGuard,
        inbox: Inbox,
        retry: StoreRetry,
        may_be_again: Callable[[InboxEntry], bool],
        give_up: Callable[[InboxEntry], Awaitable[None]],
    ) -> None:
        """`may_be_again`: whether another process may have begun to work on an entry. `give_up`
        tells people of it, and finishes the entry."""
        self._deaths = deaths
        self._guard = guard
        self._inbox = inbox
        self._retry = retry.retry_while_unavailable
        self._may_be_again = may_be_again
        self._give_up = give_up
        self._alone = OneByOne()

    async def run(self, entries: Sequence[InboxEntry], work: Work) -> None:
        """Do the work on these entries, without those that are given up, and begin it anew while a
        store is away. Everything else that the work raises is raised."""
        items = [item_of(entry) for entry in entries]
        suspects = [
            item
            for entry, item in zip(entries, items, strict=True)
            if self._may_be_again(entry) or self._guard.deaths(item) > 0
        ]
        if not suspects:
            with self._guard.working(*items):
                await self._retry(work, entries)
            return
        counts = {item: await self._retry(self._deaths.of, item) for item in suspects}
        if max(counts.values()) < ALONE_AFTER:
            await self._begin(entries, items, counts, work)
            return
        for entry, item in zip(entries, items, strict=True):  # this tells apart what is one turn
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
            await self._retry(self._deaths.put, item, counts[item] + 1)
        try:
            with self._guard.working(*items):
                await self._retry(work, entries)
        except asyncio.CancelledError:  # it was stopped, and nobody died
            for item in counted:
                await uninterrupted(self._deaths.put(item, counts[item]))
            raise

    async def _end(self, entry: InboxEntry, item: WorkItem, count: int) -> None:
        log.error("event_given_up", event_kind=entry.event.kind, redeliveries=count)
        await self._guard.quarantine(item, owner_of(entry))
        if await self._deaths.begin_giving_up(item):
            with self._guard.working(item):
                await self._give_up(entry)
        else:  # the process died of saying so, too
            await self._inbox.finish((entry.id,), ())


def item_of(entry: InboxEntry) -> WorkItem:
    """The work on an event: its turn."""
    return WorkItem("message", correlation_id(entry.id))


def owner_of(entry: InboxEntry) -> Owner:
    """The person who wrote it, and the channel."""
    place, author = place_of(entry.event), author_of(entry.event)
    person = PersonId(place.platform, place.account, author.id) if author else ""
    channel = f"{place.platform}:{place.account}:{place.channel_id}"
    return Owner(ConversationKey.of(entry.conversation).tenant, str(person), channel)


class OneByOne:
    """Lets one after the other in, whoever has the lowest rank of those who wait; of equals, who
    came first."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()
        self._taken = False

    @asynccontextmanager
    async def turn(self, rank: int) -> AsyncIterator[None]:
        """Wait for the turn, and have it while within."""
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
        """Let the next one in."""
        while self._waiting:
            _, _, waiting = heapq.heappop(self._waiting)
            if not waiting.done():
                waiting.set_result(None)
                return
        self._taken = False
