"""Events of agents, pools and handoffs, for the people and agents that take part in them.

An event has ids and no content. A reader sees the events of their own agents, of pools that they
own or in which one of their agents is a member now, and of handoffs from and to them.
"""

from collections.abc import Awaitable
from datetime import datetime, timedelta
from typing import Final

from gateway.errors import BadInput
from gateway.ports import Clock
from memory.agents.model import AgentEvent, EventKind, EventPage
from memory.agents.stores.events import EventReader, EventSignal, SqlAgentEvents
from memory.model.scope import RequestScope

KEEP: Final = timedelta(days=7)
MOST: Final = 100_000
"""Events that are kept; older ones are deleted."""
MAX_PAGE: Final = 500


class AgentEvents:
    """The events of an installation. Every method raises `StoreUnavailable`."""

    def __init__(
        self, store: SqlAgentEvents, clock: Clock, signal: EventSignal | None = None
    ) -> None:
        """`signal` is the one of the stores that add events."""
        self._store = store
        self._clock = clock
        self._signal = signal or EventSignal()

    async def after(self, request: RequestScope, number: int = 0, limit: int = 100) -> EventPage:
        """Return the events after a number that the caller may see, oldest first.

        `EventPage.last` is the next `number`. Raises `BadInput` for a negative number or a limit
        that is not from 1 to 500.
        """
        if number < 0:
            raise BadInput(f"after: must be 0 or more, is {number}")
        if not 1 <= limit <= MAX_PAGE:
            raise BadInput(f"limit: must be from 1 to {MAX_PAGE}, is {limit}")
        return await self._store.after(reader_of(request), number, limit)

    async def newest(self) -> int:
        """Return the number of the newest event; events after it are new."""
        return await self._store.newest()

    @property
    def added(self) -> int:
        """The number of times that this process has added events; the next `since`."""
        return self._signal.added

    async def wait(self, since: int, timer: Awaitable[None]) -> None:
        """Return when this process has added events after `since`, or the timer ends. Events of
        other processes do not end the wait."""
        await self._signal.wait(since, timer)

    async def prune(self) -> int:
        """Delete a batch of old events; return their number."""
        return await self._store.prune(self._clock.now() - KEEP, MOST)


def event_of(
    request: RequestScope,
    kind: EventKind,
    at: datetime,
    *,
    agent: str = "",
    pool: str = "",
    memory: str = "",
) -> AgentEvent:
    """Return the event of a change that the caller makes; without an agent, the asking one."""
    return AgentEvent(
        kind,
        request.principal.tenant,
        at,
        agent=agent or request.agent,
        pool=pool,
        memory=memory,
        person=str(request.principal.person),
    )


def reader_of(request: RequestScope) -> EventReader:
    """Return the caller as a reader of events."""
    persons = tuple(sorted({str(request.principal.person), *request.persons}))
    return EventReader(request.principal.tenant, persons, request.agent)
