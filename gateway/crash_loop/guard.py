"""Bounds how often processes die of the same piece of work, whatever kind of work it is.

Work is marked in the record before it begins. At a start, the records of processes that died are
read: what was in work there has one more death. A hang that the watchdog ended counts for what ran
at that moment alone; any other death for everything that was in work. What reaches `MAX_DEATHS` is
quarantined: it is not begun any more, and stands in a list for an operator.

Messages of the inbox are counted by `gateway.takeovers` as well, because another process on another
machine may take them up; the deaths that are counted here come on top.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Final

import structlog

from gateway.crash_loop.deaths import HUNG, KILLED, MAX_DEATHS, NAMED, Deaths
from gateway.crash_loop.record import Death, Working, WorkRecord
from gateway.ports import Clock
from gateway.ports.stores import Quarantined, QuarantineStore
from gateway.ports.work_guard import NOBODY, Owner, WorkItem, WorkKind

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

log = structlog.get_logger(__name__)


class CrashLoopGuard:
    """Implements `gateway.ports.work_guard.WorkGuard`."""

    def __init__(
        self,
        deaths: Deaths,
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
