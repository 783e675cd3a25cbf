"""Reads what people and operators see of agents and pools, and takes back what an agent gave:
shares in pools, open handoffs, and what waits for review."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from db import Database, Row, Statement, Work, among, change, fetch
from db.statements import json_text
from db.values import micros, storable
from memory.agents.model import (
    Agent,
    AgentActivity,
    AgentEvent,
    EventKind,
    Membership,
    Permission,
    Pool,
    PoolSummary,
)
from memory.agents.stores.agents import COLUMNS, agent_of
from memory.agents.stores.events import EventSignal, EventWriter, add_events
from memory.agents.stores.pools import COLUMNS as POOL_COLUMNS
from memory.agents.stores.pools import pool_of
from memory.model.scope import MAY_CHANGE, OWN, AccessScope

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


WAITING_AGENT: Final = json_text("w.record", "provenance", "agent")
ACTIVITY: Final = Statement(f"""
    SELECT 'memories' AS what, m.agent AS agent, count(*) FROM memories m
    WHERE {among("m.agent", "agents")} AND m.agent <> '' AND m.tenant = :for_tenant
        AND {taken_by("m.person")}
    GROUP BY m.agent
    UNION ALL SELECT 'waiting', {WAITING_AGENT}, count(*) FROM memory_reviews w
    WHERE w.tenant = :for_tenant AND w.state = 'pending' AND {taken_by("w.person")}
        AND {among(WAITING_AGENT, "agents")}
    GROUP BY 2
    UNION ALL SELECT 'shares', s.agent, count(*) FROM pool_memories s JOIN pools p ON p.id = s.pool
    WHERE s.tenant = :for_tenant AND {taken_by("s.person")} AND {among("s.agent", "agents")}
    GROUP BY s.agent
    UNION ALL SELECT 'handoffs', h.source, count(*) FROM agent_handoffs h
    WHERE h.tenant = :for_tenant AND {taken_by("h.source_owner")} AND {among("h.source", "agents")}
        AND h.status IN ('pending', 'accepted')
    GROUP BY h.source
""")
UNREGISTERED: Final = Statement(f"""
    SELECT DISTINCT m.agent FROM memories m
    WHERE m.agent <> '' AND m.tenant = :for_tenant AND {OWN}
        AND NOT EXISTS (SELECT 1 FROM agents a WHERE a.id = m.agent)
    ORDER BY m.agent LIMIT :limit
""")
OF_TENANT: Final = Statement(f"""
    SELECT {COLUMNS} FROM agents WHERE tenant = :for_tenant ORDER BY registered_at, id LIMIT :limit
""")
WRITTEN: Final = Statement(f"""
    SELECT m.id FROM memories m WHERE m.agent = :agent AND m.agent <> '' AND {MAY_CHANGE}
    ORDER BY m.at DESC, m.seq DESC LIMIT :limit
""")
MEMBERSHIPS: Final = Statement(f"""
    SELECT p.id, p.name, r.permission, (SELECT count(*) FROM pool_memories s
        WHERE s.pool = p.id AND s.agent = r.agent), p.person
    FROM pool_members r JOIN pools p ON p.id = r.pool
    WHERE r.agent = :agent AND r.tenant = :for_tenant AND {taken_by("r.person")}
    ORDER BY p.created_at, p.id LIMIT :limit
""")
IN_OTHERS: Final = Statement(f"""
    SELECT r.agent, p.id, p.name, r.permission, (SELECT count(*) FROM pool_memories s
        WHERE s.pool = p.id AND s.agent = r.agent), p.person
    FROM pool_members r JOIN pools p ON p.id = r.pool
    WHERE r.tenant = :for_tenant AND {among("r.person", "for_persons")}
        AND NOT {among("p.person", "for_persons")}
    ORDER BY r.joined_at, p.id, r.agent LIMIT :limit
""")
POOLS: Final = ", ".join(f"p.{name}" for name in POOL_COLUMNS.split(", "))
COUNTED: Final = f"""
    SELECT {POOLS}, (SELECT count(*) FROM pool_members r WHERE r.pool = p.id),
        (SELECT count(*) FROM pool_memories s WHERE s.pool = p.id)
    FROM pools p WHERE p.tenant = :for_tenant
"""
POOLS_OF_TENANT: Final = Statement(f"{COUNTED} ORDER BY p.created_at, p.id LIMIT :limit")
POOLS_NAMED: Final = Statement(
    f"{COUNTED} AND {among('p.id', 'pools')} ORDER BY p.created_at, p.id LIMIT :limit"
)


class SqlAgentOverview:
    """Every method raises `StoreUnavailable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def activity(
        self, access: AccessScope, agent_ids: Sequence[str]
    ) -> dict[str, AgentActivity]:
        """Return the activity of agents by id: of the caller's, for an operator of everybody's. An
        agent without activity is missing."""
        params = access.parameters() | {"agents": [storable(id_) for id_ in agent_ids]}
        counts: dict[str, dict[str, int]] = defaultdict(dict)
        for what, agent, count in await self._database.fetch(ACTIVITY, params):
            counts[str(agent)][str(what)] = int(count)
        return {agent: AgentActivity(**each) for agent, each in counts.items()}

    async def unregistered(self, access: AccessScope, limit: int) -> list[str]:
        """Return the ids of unregistered agents that wrote memories of the caller."""
        params = access.parameters() | {"limit": limit}
        return [str(id_) for (id_,) in await self._database.fetch(UNREGISTERED, params)]

    async def of_tenant(self, access: AccessScope, limit: int) -> list[Agent]:
        """Return all agents of the tenant, first registered first."""
        params = access.parameters() | {"limit": limit}
        return [agent_of(row) for row in await self._database.fetch(OF_TENANT, params)]

    async def written(self, access: AccessScope, agent_id: str, limit: int) -> list[str]:
        """Return the ids of changeable memories that an agent wrote, latest first."""
        params = access.parameters() | {"agent": storable(agent_id), "limit": limit}
        return [str(id_) for (id_,) in await self._database.fetch(WRITTEN, params)]

    async def memberships(self, access: AccessScope, agent_id: str, limit: int) -> list[Membership]:
        """Return the pools in which an agent is a member."""
        params = access.parameters() | {"agent": storable(agent_id), "limit": limit}
        rows = await self._database.fetch(MEMBERSHIPS, params)
        return [_membership(row) for row in rows]

    async def in_pools_of_others(
        self, access: AccessScope, limit: int
    ) -> list[tuple[str, Membership]]:
        """Return the memberships of the caller's agents in pools of other people, each with the
        agent, the first joined first."""
        rows = await self._database.fetch(IN_OTHERS, access.parameters() | {"limit": limit})
        return [(str(agent), _membership(tuple(row))) for agent, *row in rows]

    async def pools_of_tenant(self, access: AccessScope, limit: int) -> list[PoolSummary]:
        """Return all pools of the tenant with their numbers, first created first."""
        return await self._pools(POOLS_OF_TENANT, access.parameters() | {"limit": limit})

    async def counted(self, access: AccessScope, pools: Sequence[Pool]) -> list[PoolSummary]:
        """Return these pools with their numbers."""
        ids = [storable(pool.id) for pool in pools]
        params = access.parameters() | {"pools": ids, "limit": len(ids)}
        return await self._pools(POOLS_NAMED, params)

    async def _pools(self, statement: Statement, params: dict[str, object]) -> list[PoolSummary]:
        rows = await self._database.fetch(statement, params)
        return [PoolSummary(pool_of(row[:-2]), int(row[-2]), int(row[-1])) for row in rows]


def _membership(row: Row) -> Membership:
    id_, name, may, count, owner = row
    return Membership(id_, name, Permission(may), int(count), owner)
