"""Events of agents, pools and handoffs, for the people and agents that take part in them.

An event has ids and no content. A reader sees the events of their own agents, of pools in which one
of their agents is a member now, and of handoffs from and to them.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from gateway.errors import BadInput
from gateway.ports import Clock
from memory.agents.model import AgentEvent, EventKind, EventPage
from memory.agents.ports.events import EventStore, Reader
from memory.model.scope import RequestScope
from memory.ports.audit import AuditAction

KEEP: Final = timedelta(days=7)
MOST: Final = 100_000
"""Events that are kept; older ones are deleted."""
MAX_PAGE: Final = 500
_KINDS: Final[Mapping[tuple[AuditAction, str], EventKind]] = {
    ("agent_auth", "register"): EventKind.AGENT_REGISTERED,
    ("agent_auth", "unregister"): EventKind.AGENT_UNREGISTERED,
    ("pool_operation", "create"): EventKind.POOL_CREATED,
    ("pool_operation", "join"): EventKind.POOL_JOINED,
    ("pool_operation", "leave"): EventKind.POOL_LEFT,
    ("pool_operation", "share"): EventKind.POOL_SHARED,
    ("pool_operation", "update"): EventKind.POOL_UPDATED,
    ("pool_operation", "unshare"): EventKind.POOL_UNSHARED,
    ("pool_operation", "delete"): EventKind.POOL_DELETED,
}
"""Entries of the audit log that are events; the store of handoffs adds its own."""


class AgentEvents:
    """The events of an installation. Every method raises `StoreUnavailable`."""

    def __init__(self, store: EventStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

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

    async def noted(
        self, request: RequestScope, action: AuditAction, details: Mapping[str, str | int]
    ) -> None:
        """Add the event of an entry of the audit log, if it is one."""
        kind = _KINDS.get((action, str(details.get("operation", ""))))
        if kind is None:
            return
        event = AgentEvent(
            kind,
            request.principal.tenant,
            self._clock.now(),
            agent=str(details.get("agent", request.agent)),
            pool=str(details.get("pool", "")),
            memory=str(details.get("memory", "")),
            person=str(request.principal.person),
        )
        await self._store.add([event])

    async def prune(self) -> int:
        """Delete a batch of old events; return their number."""
        return await self._store.prune(self._clock.now() - KEEP, MOST)


def reader_of(request: RequestScope) -> Reader:
    """Return the caller as a reader of events."""
    persons = tuple(sorted({str(request.principal.person), *request.persons}))
    return Reader(request.principal.tenant, persons, request.agent)
