"""Takes back what an agent gave: shares in pools, open handoffs, and what waits for review."""

from datetime import datetime
from typing import Final

from msgspec import Struct

from db import Database, Row, Statement, Work, among, change, fetch
from db.statements import json_text
from db.values import micros, storable
from memory.agents.model import AgentEvent, EventKind
from memory.agents.stores.events import EventSignal, EventWriter, add_events
from memory.model.scope import AccessScope

AT_ONCE: Final = 500


def taken_by(column: str) -> str:
    """Return the condition that the person in a column is the caller, or the caller an operator."""
    return f"(:for_operates OR {among(column, 'for_persons')})"


SHARES: Final = Statement(f"""
    DELETE FROM pool_memories WHERE seq IN (
        SELECT seq FROM pool_memories WHERE tenant = :for_tenant AND agent = :origin
            AND shared_at >= :since AND {taken_by("person")}
        ORDER BY seq LIMIT {AT_ONCE})
    RETURNING pool, memory
""")
REVIEWS: Final = Statement(f"""
    DELETE FROM memory_reviews WHERE seq IN (
        SELECT seq FROM memory_reviews WHERE tenant = :for_tenant AND state = 'pending'
            AND submitted_at >= :since AND {json_text("record", "provenance", "agent")} = :origin
            AND {taken_by("person")}
        ORDER BY seq LIMIT {AT_ONCE})
""")
HANDOFFS: Final = Statement(f"""
    UPDATE agent_handoffs SET status = 'rejected', reason = :reason, ended_at = :now,
        notified = true
    WHERE id IN (
        SELECT id FROM agent_handoffs WHERE tenant = :for_tenant AND source = :origin
            AND created_at >= :since AND status IN ('pending', 'accepted')
            AND {taken_by("source_owner")}
        ORDER BY created_at LIMIT {AT_ONCE})
    RETURNING id, source_owner, target_owner
""")
REASON: Final = "It was taken back, with everything that this agent wrote, shared and handed over."


class Gone(Struct, frozen=True):
    """The numbers of shares, handoffs and waiting reviews that one step took back."""

    shares: int
    handoffs: int
    reviews: int

    @property
    def any(self) -> bool:
        """True if there may be more."""
        return bool(self.shares or self.handoffs or self.reviews)


class SqlOrigins:
    """Every method raises `StoreUnavailable`."""

    def __init__(self, database: Database, signal: EventSignal | None = None) -> None:
        self._writer = EventWriter(database, signal)

    async def take_back(
        self, access: AccessScope, agent_id: str, since: datetime, now: datetime
    ) -> Gone:
        """Take back a batch of what an agent shared and handed over since then, as far as this
        access reaches: the agent's person, or an operator of the tenant."""
        params = access.parameters() | {
            "origin": storable(agent_id),
            "since": micros(since),
            "now": micros(now),
            "reason": REASON,
        }

        def work() -> Work[Gone]:
            shares = yield from fetch(SHARES, params)
            reviews = yield from change(REVIEWS, params)
            ended = yield from fetch(HANDOFFS, params)
            events = [_unshared(access, agent_id, now, row) for row in shares]
            events += [_rejected(access, agent_id, now, row) for row in ended]
            yield from add_events(events)
            return Gone(len(shares), len(ended), reviews)

        return await self._writer.run(work)


def _unshared(access: AccessScope, agent: str, now: datetime, row: Row) -> AgentEvent:
    pool, memory = row
    kind, person = EventKind.POOL_UNSHARED, access.person
    return AgentEvent(kind, access.tenant, now, agent, pool, memory=memory, person=person)


def _rejected(access: AccessScope, agent: str, now: datetime, row: Row) -> AgentEvent:
    handoff, person, other = row
    kind = EventKind.HANDOFF_REJECTED
    return AgentEvent(kind, access.tenant, now, agent, "", handoff, person=person, other=other)
