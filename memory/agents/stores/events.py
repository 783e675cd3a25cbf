"""The table of events. Events are added by the transactions of the stores that change something."""

from collections.abc import Iterable
from typing import Final

from db import Params, Row, Statement, Work, execute
from db.values import micros, storable, time_of
from memory.agents.model import AgentEvent, EventKind

EVENTS_LOCK: Final = "agent events"
"""Work that adds events takes this lock first. So events become visible in the order of their
numbers, and a reader that continues after a number misses none."""
COLUMNS: Final = "number, tenant, at, kind, agent, pool, handoff, memory, person, other"
ADD: Final = Statement("""
    INSERT INTO agent_events (tenant, at, kind, agent, pool, handoff, memory, person, other)
    VALUES (:tenant, :at, :kind, :agent, :pool, :handoff, :memory, :person, :other)
""")


def add_events(events: Iterable[AgentEvent]) -> Work[None]:
    """Add events, in work that holds `EVENTS_LOCK`."""
    rows = [_params(event) for event in events]
    if rows:
        yield from execute(ADD, *rows)


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
