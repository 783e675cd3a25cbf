"""Bounds how often the work on an event begins anew after a process that had it has died.

An event may be what the process died of: then it would kill the next one as well, and so on. At
first it is tried again beside everything else that was begun at that time. An event that outlived
no process is tried alone after that, so that only the event that kills the process is counted any
further; in the end it is given up. The event with the fewest deaths is tried first: a process that
is killed from outside, again and again and soon after its start, would otherwise always die of the
oldest. A hang that the watchdog ended counts more, because it names the event; see
`gateway.crash_loop`.
"""

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, TypeVar

import structlog

from gateway.conversation import tenant_of
from gateway.crash_loop.deaths import MAX_DEATHS, Deaths
from gateway.message import author_of, place_of
from gateway.observe.correlation import correlation_id
from gateway.patience import Patience
from gateway.people import PersonId
from gateway.ports.stores import Inbox, InboxEntry
from gateway.ports.work_guard import Owner, WorkGuard, WorkItem
from gateway.uninterrupted import uninterrupted

MAX_TAKEOVERS: Final = MAX_DEATHS
"""Beginnings after a death; an event that none of them finished is given up at the next one."""
ALONE_AFTER: Final = 2
"""Takeovers that did not end, after which an event is tried alone."""
GAVE_UP: Final = "gave_up"
"""How the exchange ends then, in its trace."""
GATHERING: Final = 0.05
"""Seconds in which those who are to be tried alone gather, before the first of them is."""

log = structlog.get_logger(__name__)

T = TypeVar("T")

Work = Callable[[Sequence[InboxEntry]], Awaitable[None]]


class Takeovers:
    """Counts, in `state`, the beginnings of what another process may have begun before. What is
    surely new costs nothing."""

    def __init__(
        self,
        deaths: Deaths,
        guard: WorkGuard,
        inbox: Inbox,
        patience: Patience,
        may_be_again: Callable[[InboxEntry], bool],
        give_up: Callable[[InboxEntry], Awaitable[None]],
    ) -> None:
        """`may_be_again`: whether another process may have begun to work on an entry. `give_up`
        tells people of it, and finishes the entry."""
        self._deaths = deaths
        self._guard = guard
        self._inbox = inbox
        self._patience = patience
        self._may_be_again = may_be_again
        self._give_up = give_up
        self._alone = OneByOne()

    async def run(self, entries: Sequence[InboxEntry], work: Work) -> None:
        """Do the work on these entries, without those that are given up. What stores raise is
        insisted upon; the rest that the work raises is raised."""
        items = [item_of(entry) for entry in entries]
        pairs = zip(entries, items, strict=True)
        suspects = [entry for entry, item in pairs if self._is_suspect(entry, item)]
        if not suspects:
            with self._guard.working(*items):
                await self._patience.insist(partial(work, entries))
            return
        counts = {entry.id: await self._insist(self._counted, entry) for entry in suspects}
        if max(counts.values()) < ALONE_AFTER:
            await self._begin(entries, counts, work)
            return
        for entry in entries:  # several that became one turn are told apart by this
            count = counts.get(entry.id, 0)
            async with self._alone.turn(count):
                if count >= MAX_TAKEOVERS:
                    await self._insist(self._end, entry, count)
                else:
                    await self._begin([entry], counts, work)

    def _is_suspect(self, entry: InboxEntry, item: WorkItem) -> bool:
        return self._may_be_again(entry) or self._guard.deaths(item) > 0

    async def _begin(
        self, entries: Sequence[InboxEntry], counts: dict[str, int], work: Work
    ) -> None:
        counted = [entry for entry in entries if entry.id in counts]
        for entry in counted:
            await self._insist(self._note, entry, counts[entry.id] + 1)
        try:
            with self._guard.working(*map(item_of, entries)):
                await self._patience.insist(partial(work, entries))
        except asyncio.CancelledError:  # it was stopped, and nobody died
            for entry in counted:
                await uninterrupted(self._note(entry, counts[entry.id]))
            raise

    async def _end(self, entry: InboxEntry, takeovers: int) -> None:
        item = item_of(entry)
        log.error("event_given_up", event_kind=entry.event.kind, takeovers=takeovers)
        await self._guard.quarantine(item, owner_of(entry))
        if await self._deaths.begin_giving_up(item):
            with self._guard.working(item):
                await self._give_up(entry)
        else:  # the process died of saying so, too
            await self._inbox.finish((entry.id,), ())

    async def _counted(self, entry: InboxEntry) -> int:
        """The weight of the deaths; what was given up before is over."""
        return await self._deaths.of(item_of(entry))

    async def _note(self, entry: InboxEntry, beginnings: int) -> None:
        await self._deaths.put(item_of(entry), beginnings)

    async def _insist(self, work: Callable[..., Awaitable[T]], *arguments: object) -> T:
        return await self._patience.insist(partial(work, *arguments))


def item_of(entry: InboxEntry) -> WorkItem:
    """The work on an event: its exchange."""
    return WorkItem("message", correlation_id(entry.id))


def owner_of(entry: InboxEntry) -> Owner:
    """The person who wrote it, and the channel."""
    place, author = place_of(entry.event), author_of(entry.event)
    person = PersonId(place.platform, place.account, author.id) if author else ""
    channel = f"{place.platform}:{place.account}:{place.channel_id}"
    return Owner(tenant_of(entry.lane), str(person), channel)


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
