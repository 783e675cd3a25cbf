"""Bounds how often the work on an event begins anew after a process that had it has died.

An event may be what the process died of: then it would kill the next one as well, and so on. At
first it is tried again beside everything else that was begun at that time. What outlived no process
is tried alone after that, so that only what kills the process is counted any further; in the end it
is given up. Who was there at the fewest deaths is tried first: a process that is killed from
outside, again and again and soon after its start, would otherwise always die of the oldest.
"""

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Final

import structlog

from gateway.observe.correlation import correlation_id
from gateway.patience import Patience
from gateway.ports import AdapterState
from gateway.stores import Inbox, InboxEntry
from gateway.uninterrupted import uninterrupted

MAX_TAKEOVERS: Final = 7
"""Beginnings after a death; what none of them finished is given up at the next one. With five, one
message in some thousands was given up for nothing when a busy program was killed twenty times; with
more than nine, systemd would have given the program up first."""
ALONE_AFTER: Final = 2
"""Takeovers that did not end, after which an event is tried alone."""
GAVE_UP: Final = "gave_up"
"""How the exchange ends then, in its trace."""
KEEP: Final = timedelta(days=7)
"""How long a beginning counts that did not come to an end."""
GATHERING: Final = 0.05
"""Seconds in which those who are to be tried alone gather, before the first of them is."""

log = structlog.get_logger(__name__)

Work = Callable[[Sequence[InboxEntry]], Awaitable[None]]


class Takeovers:
    """Counts, in `state`, the beginnings of what another process may have begun before. What is
    surely new costs nothing."""

    def __init__(
        self,
        state: AdapterState,
        inbox: Inbox,
        patience: Patience,
        may_be_again: Callable[[InboxEntry], bool],
        give_up: Callable[[InboxEntry], Awaitable[None]],
    ) -> None:
        """`may_be_again`: whether another process may have begun to work on an entry. `give_up`
        tells people of it, and finishes the entry."""
        self._state = state
        self._inbox = inbox
        self._patience = patience
        self._may_be_again = may_be_again
        self._give_up = give_up
        self._alone = OneByOne()

    async def run(self, entries: Sequence[InboxEntry], work: Work) -> None:
        """Do the work on these entries, without those that are given up. What stores raise is
        insisted upon; the rest that the work raises is raised."""
        suspects = [entry for entry in entries if self._may_be_again(entry)]
        if not suspects:
            await self._patience.insist(partial(work, entries))
            return
        insist = self._patience.insist
        counts = {entry.id: await insist(partial(self._taken_over, entry)) for entry in suspects}
        async with AsyncExitStack() as stack:
            if max(counts.values()) >= ALONE_AFTER:
                await stack.enter_async_context(self._alone.turn(max(counts.values())))
            for entry in suspects:
                await insist(partial(self._note, entry, counts[entry.id] + 1))
            hopeless = [entry for entry in suspects if counts[entry.id] >= MAX_TAKEOVERS]
            for entry in hopeless:
                await insist(partial(self._end, entry, counts[entry.id]))
            left = [entry for entry in entries if entry not in hopeless]
            if left:
                await self._begin(left, counts, work)

    async def _begin(
        self, entries: Sequence[InboxEntry], counts: dict[str, int], work: Work
    ) -> None:
        try:
            await self._patience.insist(partial(work, entries))
        except asyncio.CancelledError:  # it was stopped, and nobody died
            for entry in entries:
                if entry.id in counts:
                    await uninterrupted(self._note(entry, counts[entry.id]))
            raise

    async def _end(self, entry: InboxEntry, takeovers: int) -> None:
        log.error("event_given_up", event_kind=entry.event.kind, takeovers=takeovers)
        if takeovers == MAX_TAKEOVERS:
            await self._give_up(entry)
        else:  # the process died of saying so, too
            await self._inbox.finish((entry.id,), ())

    async def _taken_over(self, entry: InboxEntry) -> int:
        return int(await self._state.get(correlation_id(entry.id)) or 0)

    async def _note(self, entry: InboxEntry, beginnings: int) -> None:
        await self._state.put(correlation_id(entry.id), str(beginnings), KEEP)


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
