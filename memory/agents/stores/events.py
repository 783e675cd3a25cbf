"""The table of events. Events are added by the transactions of the stores that change something."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Final, TypeVar

from db import Database, Params, Row, Statement, Work, among, execute, fetch, lock
from db.database import delete_some, deleting_some
from db.values import micros, storable, time_of
from memory.agents.event_signal import EventSignal
from memory.agents.model import AgentEvent, EventKind, EventPage
from memory.agents.values import Reader

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


def event_of(row: Row) -> AgentEvent:
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

    async def after(self, reader: Reader, number: int, limit: int) -> EventPage:
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
            found = tuple(event for row in rows if (event := event_of(row)).number <= end)
            if len(rows) == limit:
                return EventPage(found, found[-1].number if found else end, more=True)
            return EventPage(found, int(end), more=read == WINDOW)

        return await self._database.run(work)

    async def of_tenant(self, tenant: str, number: int, limit: int) -> list[AgentEvent]:
        """Return the events of a tenant after a number, for its operators."""
        params = {"tenant": storable(tenant), "number": number, "limit": limit}
        return [event_of(row) for row in await self._database.fetch(OF_TENANT, params)]

    async def newest(self) -> int:
        """Return the number of the newest event, 0 for none."""
        ((number,),) = await self._database.fetch(NEWEST)
        return int(number)

    async def prune(self, before: datetime, most: int) -> int:
        """Delete a batch of events before that time or beyond the newest `most`; return their
        number."""
        params = {"before": micros(before), "kept": most}
        return await delete_some(self._database, PRUNE, params)
