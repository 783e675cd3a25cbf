"""Events of agents, pools and handoffs, for the people and agents that take part in them: their
table, the signal that some were added, and the progress of webhooks.

Events are added by the transactions of the stores that change something.

An event has ids and no content. A reader sees the events of their own agents, of pools that they
own or in which one of their agents is a member now, and of handoffs from and to them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeVar

from msgspec import Struct

from db import Database, Params, Row, Statement, Work, among, execute, fetch, lock
from db.database import delete_some, deleting_some
from db.values import micros, storable, time_of
from gateway.errors import UsageError
from gateway.ports import Clock
from memory.agents.model import AgentEvent, EventKind, EventPage
from memory.model.scope import RequestScope


class EventReader(Struct, frozen=True):
    """The reader of events: a person by all linked identities, or one agent of theirs."""

    tenant: str
    persons: tuple[str, ...]
    agent: str = ""


class WebhookState(Struct, frozen=True):
    """The progress of a webhook. `number` is the last event that was delivered or given up,
    `attempts` the failures of the next one, `dead` the events that were given up, `error` the last
    failure."""

    name: str
    number: int
    attempts: int = 0
    dead: int = 0
    error: str = ""


class EventSignal:
    """Wakes those who wait for events, without the events. Processes do not hear each other."""

    def __init__(self) -> None:
        self.added = 0
        """The number of calls of `notify`."""
        self._changed = asyncio.Event()

    def notify(self) -> None:
        """Wake all who wait."""
        self.added += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait(self, since: int, timer: Awaitable[None]) -> None:
        """Return when there was a call of `notify` after `added` had the value `since`, or when the
        timer ends, which is cancelled otherwise."""
        timing = asyncio.ensure_future(timer)
        changed = asyncio.ensure_future(self._changed.wait())
        try:
            if self.added == since:
                await asyncio.wait((timing, changed), return_when=asyncio.FIRST_COMPLETED)
        finally:
            timing.cancel()
            changed.cancel()


EVENTS_LOCK: Final = "agent events"
"""`add_events` takes this lock and the commit releases it. So events become visible in the order of
their numbers, and a reader that continues after a number misses none."""
COLUMNS: Final = "number, tenant, at, kind, agent, pool, handoff, memory, person, other"
ADD: Final = Statement("""
    INSERT INTO agent_events (tenant, at, kind, agent, pool, handoff, memory, person, other)
    VALUES (:tenant, :at, :kind, :agent, :pool, :handoff, :memory, :person, :other)
""")


def add_events(events: Iterable[AgentEvent]) -> Work[None]:
    """Add events, as the last step of work that an `EventWriter` runs: all writers of events wait
    for each other from here on."""
    rows = [_params(event) for event in events]
    if rows:
        yield from lock(EVENTS_LOCK)
        yield from execute(ADD, *rows)


T = TypeVar("T")


class EventWriter:
    """Runs work that adds events together with the change that they tell of, so that neither is
    stored without the other."""

    def __init__(self, database: Database, signal: EventSignal | None = None) -> None:
        """`signal` wakes those who wait for events in this process."""
        self._database = database
        self._signal = signal or EventSignal()

    async def run(self, make: Callable[[], Work[T]], *locks: str) -> T:
        """Return the result of the work, which runs with these locks, and at last adds events with
        `add_events`."""

        def work() -> Work[T]:
            if locks:
                yield from lock(*locks)
            return (yield from make())

        result = await self._database.run(work)
        self._signal.notify()
        return result


def _event(row: Row) -> AgentEvent:
    """Return the event of a row with `COLUMNS`."""
    number, tenant, at, kind, agent, pool, handoff, memory, person, other = row
    return AgentEvent(
        EventKind(kind), tenant, time_of(at), agent, pool, handoff, memory, person, other, number
    )


def _params(event: AgentEvent) -> Params:
    return {
        "tenant": storable(event.tenant),
        "at": micros(event.at),
        "kind": event.kind.value,
        "agent": storable(event.agent),
        "pool": storable(event.pool),
        "handoff": storable(event.handoff),
        "memory": storable(event.memory),
        "person": storable(event.person),
        "other": storable(event.other),
    }


WINDOW: Final = 2_000
"""Events that one call reads, of all readers, so that it takes a bounded time."""
IN_WINDOW: Final = f"""
    (SELECT {COLUMNS} FROM agent_events WHERE number > :number ORDER BY number LIMIT {WINDOW}) e
"""
OF_PERSON: Final = f"""({among("e.person", "persons")} OR {among("e.other", "persons")}
    OR (e.pool <> '' AND e.pool IN (
        SELECT pool FROM pool_members WHERE tenant = :tenant AND {among("person", "persons")}
        UNION SELECT id FROM pools WHERE tenant = :tenant AND {among("person", "persons")})))"""
OF_AGENT: Final = """(e.agent = :agent
    OR (e.pool <> '' AND e.pool IN (SELECT pool FROM pool_members WHERE agent = :agent))
    OR (e.handoff <> '' AND e.handoff IN (
        SELECT id FROM agent_handoffs WHERE source = :agent
        UNION SELECT id FROM agent_handoffs WHERE target = :agent)))"""
AFTER: Final = Statement(f"""
    SELECT {COLUMNS} FROM {IN_WINDOW}
    WHERE e.tenant = :tenant AND ((:agent = '' AND {OF_PERSON}) OR (:agent <> '' AND {OF_AGENT}))
    ORDER BY number LIMIT :limit
""")
END_OF_WINDOW: Final = Statement(
    f"SELECT COALESCE(max(number), :number), count(*) FROM {IN_WINDOW}"
)
OF_TENANT: Final = Statement(f"""
    SELECT {COLUMNS} FROM agent_events WHERE tenant = :tenant AND number > :number
    ORDER BY number LIMIT :limit
""")
NEWEST: Final = Statement("SELECT COALESCE(max(number), 0) FROM agent_events")
PRUNE: Final = deleting_some(
    "agent_events",
    "number",
    "(at < :before OR number <= (SELECT max(number) FROM agent_events) - :kept)",
    "number",
)


class SqlAgentEvents:
    """An append-only table. Every method raises `StoreUnavailable`."""

    def __init__(self, database: Database, signal: EventSignal | None = None) -> None:
        self._database = database
        self._writer = EventWriter(database, signal)

    async def add(self, events: Sequence[AgentEvent]) -> None:
        await self._writer.run(lambda: add_events(events))

    async def after(self, reader: EventReader, number: int, limit: int) -> EventPage:
        """Return the events after a number that this reader may see, oldest first."""
        params = {
            "tenant": storable(reader.tenant),
            "persons": [storable(person) for person in reader.persons if person],
            "agent": storable(reader.agent),
            "number": number,
            "limit": limit,
        }

        def work() -> Work[EventPage]:
            # The end is read first: what is added in between is found by the next call.
            ((end, read),) = yield from fetch(END_OF_WINDOW, {"number": number})
            rows = yield from fetch(AFTER, params)
            found = tuple(event for row in rows if (event := _event(row)).number <= end)
            if len(rows) == limit:
                return EventPage(found, found[-1].number if found else end, more=True)
            return EventPage(found, int(end), more=read == WINDOW)

        return await self._database.run(work)

    async def of_tenant(self, tenant: str, number: int, limit: int) -> list[AgentEvent]:
        """Return the events of a tenant after a number, for its operators."""
        params = {"tenant": storable(tenant), "number": number, "limit": limit}
        return [_event(row) for row in await self._database.fetch(OF_TENANT, params)]

    async def newest(self) -> int:
        """Return the number of the newest event, 0 for none."""
        ((number,),) = await self._database.fetch(NEWEST)
        return int(number)

    async def prune(self, before: datetime, most: int) -> int:
        """Delete a batch of events before that time or beyond the newest `most`; return their
        number."""
        params = {"before": micros(before), "kept": most}
        return await delete_some(self._database, PRUNE, params)


MAX_ERROR: Final = 200
WEBHOOK_COLUMNS: Final = "name, number, attempts, dead, error"
BEGIN: Final = Statement("""
    INSERT INTO agent_webhooks (name, number, attempts, dead, error, due)
    SELECT :name, COALESCE(max(number), 0), 0, 0, '', 0 FROM agent_events WHERE true
    ON CONFLICT (name) DO NOTHING
""")
CLAIM: Final = Statement(f"""
    UPDATE agent_webhooks SET due = :until WHERE name = :name AND due <= :now
    RETURNING {WEBHOOK_COLUMNS}
""")
RELEASE: Final = Statement("""
    UPDATE agent_webhooks SET number = :number, attempts = :attempts, dead = :dead, error = :error,
        due = :due
    WHERE name = :name
""")
STATES: Final = Statement(f"SELECT {WEBHOOK_COLUMNS} FROM agent_webhooks ORDER BY name")


class SqlWebhooks:
    """Every method raises `StoreUnavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(self, name: str, now: datetime, until: datetime) -> WebhookState | None:
        """Take a webhook that is due, for this process until then; None if it is not due. A new
        webhook begins with the events after the newest."""
        params = {"name": name, "now": micros(now), "until": micros(until)}

        def work() -> Work[list[Row]]:
            yield from execute(BEGIN, {"name": name})
            return (yield from fetch(CLAIM, params))

        rows = await self._database.run(work)
        return WebhookState(*rows[0]) if rows else None

    async def release(self, state: WebhookState, due: datetime) -> None:
        """Store the progress of a claimed webhook; it is due again at that time."""
        params = {
            "name": state.name,
            "number": state.number,
            "attempts": state.attempts,
            "dead": state.dead,
            "error": storable(state.error)[:MAX_ERROR],
            "due": micros(due),
        }
        await self._database.change(RELEASE, params)

    async def states(self) -> list[WebhookState]:
        """Return the progress of all webhooks."""
        return [WebhookState(*row) for row in await self._database.fetch(STATES)]


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
            raise UsageError(f"after: must be 0 or more, is {number}")
        if not 1 <= limit <= MAX_PAGE:
            raise UsageError(f"limit: must be from 1 to {MAX_PAGE}, is {limit}")
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
