"""The store of agents and their sessions. Registrations take turns, so that the limits hold."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Literal

from db import (
    FOR_UPDATE,
    SKIP_LOCKED,
    Database,
    Row,
    Statement,
    Work,
    among,
    change,
    execute,
    fetch,
    lock,
    together,
)
from db.statements import within
from db.transaction import Change, Fetch
from db.values import json_list, micros, storable, texts_of, time_of, time_or_none
from memory.agents.model import (
    Admission,
    Agent,
    AgentEvent,
    AgentLimits,
    AgentSession,
    AgentType,
    Capability,
    EventKind,
)
from memory.agents.stores.events import EventSignal, EventWriter, add_events
from memory.model.scope import MAY_CHANGE, AccessScope
from memory.stores.links import of_same_person

COLUMNS: Final = "id, tenant, person, type, capabilities, registered_at, name"
OF: Final = ", ".join(f"a.{name}" for name in COLUMNS.split(", "))
THEIRS: Final = f"tenant = :tenant AND {among('person', 'persons')}"
COUNTED: Final = Statement(f"""
    SELECT (SELECT count(*) FROM agents),
        (SELECT count(*) FROM agents WHERE tenant = :tenant AND {of_same_person("person")})
""")
ADD: Final = Statement(f"""
    INSERT INTO agents ({COLUMNS})
    VALUES (:id, :tenant, :person, :type, :capabilities, :registered_at, :name)
""")
GET: Final = Statement(f"SELECT {COLUMNS} FROM agents WHERE id = :id AND tenant = :tenant")
KNOWN: Final = Statement(f"""
    SELECT {OF} FROM agents a WHERE a.id = :id AND a.tenant = :tenant AND (
        {among("a.person", "persons")} OR EXISTS (
            SELECT 1 FROM pool_members theirs JOIN pool_members own ON own.pool = theirs.pool
            WHERE theirs.agent = a.id AND own.tenant = :tenant AND {among("own.person", "persons")}
        ) OR EXISTS (
            SELECT 1 FROM pool_members theirs JOIN pools p ON p.id = theirs.pool
            WHERE theirs.agent = a.id AND p.tenant = :tenant AND {among("p.person", "persons")}
        ))
""")
RECEIVES: Final = Statement(f"""
    SELECT {OF} FROM agents a WHERE a.id = :id AND a.tenant = :tenant AND (
        {among("a.person", "persons")} OR EXISTS (
            SELECT 1 FROM pool_members theirs JOIN pools p ON p.id = theirs.pool
                LEFT JOIN pool_members own ON own.pool = p.id AND own.agent = :source
            WHERE theirs.agent = a.id AND p.tenant = :tenant
                AND (own.granted OR {among("p.person", "persons")})
        ))
""")
LISTED: Final = Statement(f"""
    SELECT {COLUMNS} FROM agents WHERE {THEIRS} ORDER BY registered_at, id LIMIT :limit
""")
REMOVE: Final = Statement(f"DELETE FROM agents WHERE id = :id AND {THEIRS}")
AFTERWARDS: Final = (
    Statement("DELETE FROM agent_sessions WHERE agent = :id"),
    Statement("DELETE FROM pool_members WHERE agent = :id"),
    Statement("DELETE FROM pool_invitations WHERE agent = :id"),
    Statement("DELETE FROM person_tokens WHERE agent = :id AND agent <> ''"),
)
OPEN_HANDOFF: Final = "status IN ('pending', 'accepted')"
"""As in the index of open handoffs."""
END_HANDOFFS: Final = tuple(
    Statement(f"""
        UPDATE agent_handoffs SET status = 'expired', ended_at = until, notified = true
        WHERE {where}
        RETURNING id, source, source_owner, target_owner
    """)
    for where in (
        "source = :id AND status = 'pending'",
        f"{OPEN_HANDOFF} AND status = 'pending' AND target = :id AND target <> ''",
    )
)
WRITTEN: Final = Statement(f"""
    SELECT m.id FROM memories m
    WHERE m.agent = :id AND m.agent <> '' AND m.at >= :since AND {MAY_CHANGE}
    ORDER BY m.at DESC, m.seq DESC LIMIT :limit
""")
OPEN: Final = "ended_at IS NULL AND at > :idle"
COUNTED_SESSIONS: Final = Statement(f"""
    SELECT (SELECT count(*) FROM agent_sessions WHERE {OPEN}),
        (SELECT count(*) FROM agent_sessions
            WHERE tenant = :tenant AND {of_same_person("person")} AND {OPEN})
""")
ADD_SESSION: Final = Statement(f"""
    INSERT INTO agent_sessions (id, tenant, person, agent, started_at, at)
    SELECT :session, a.tenant, a.person, a.id, :now, :now FROM agents a
    WHERE a.id = :id AND a.tenant = :tenant
    {FOR_UPDATE}
""")
USE_SESSION: Final = Statement(f"""
    UPDATE agent_sessions SET at = :now
    WHERE id = :session AND :id IN ('', agent) AND {THEIRS} AND {OPEN}
    RETURNING id, agent, started_at, ended_at
""")
END_SESSION: Final = Statement(f"""
    UPDATE agent_sessions SET ended_at = :now
    WHERE id = :session AND :id IN ('', agent) AND {THEIRS} AND ended_at IS NULL
""")
AT_ONCE: Final = 1_000
"""Sessions of one batch of the housekeeping."""


def _some(where: str) -> str:
    return within(
        "id",
        f"SELECT id FROM agent_sessions WHERE {where} LIMIT {AT_ONCE} {SKIP_LOCKED}",
    )


END_IDLE: Final = Statement(
    f"UPDATE agent_sessions SET ended_at = at WHERE {_some('ended_at IS NULL AND at <= :idle')}"
)
FORGET_ENDED: Final = Statement(
    f"DELETE FROM agent_sessions WHERE {_some('ended_at IS NOT NULL AND ended_at <= :ended')}"
)


class SqlAgents:
    """The registered agents. Every method raises `StoreUnavailable`. An `event` is stored with the
    change that it tells of; without a change there is none.
    """

    def __init__(self, database: Database, signal: EventSignal | None = None) -> None:
        self._database = database
        self._writer = EventWriter(database, signal)

    async def add(self, agent: Agent, limits: AgentLimits, event: AgentEvent) -> Admission:
        """Store an agent, unless there are `agents` in all tenants together, or
        `agents_per_person` of its person."""
        params = {
            "id": agent.id,
            "tenant": storable(agent.tenant),
            "person": storable(agent.owner),
            "type": agent.type.value,
            "capabilities": json_list(sorted(agent.capabilities)),
            "registered_at": micros(agent.registered_at),
            "name": storable(agent.name),
        }

        def work() -> Work[Admission]:
            ((all_, own),) = yield from fetch(COUNTED, params)
            admission = admitted(all_, own, limits.agents, limits.agents_per_person)
            if admission == "stored":
                yield from execute(ADD, params)
                yield from add_events([event])
            return admission

        return await self._writer.run(work, "agents")

    async def get(self, tenant: str, agent_id: str) -> Agent | None:
        """Return an agent of the tenant."""
        params = {"id": storable(agent_id), "tenant": storable(tenant)}
        rows = await self._database.fetch(GET, params)
        return agent_of(rows[0]) if rows else None

    async def known(self, tenant: str, persons: Sequence[str], agent_id: str) -> Agent | None:
        """Return an agent of these persons, or one that is in a pool with one of theirs."""
        rows = await self._database.fetch(KNOWN, _theirs(tenant, persons, agent_id))
        return agent_of(rows[0]) if rows else None

    async def receives(
        self, tenant: str, persons: Sequence[str], source: str, agent_id: str
    ) -> Agent | None:
        """Return an agent to which the agent `source` of these persons may hand tasks: one of
        theirs, or a member of a pool that they own or whose owner let `source` in."""
        params = _theirs(tenant, persons, agent_id) | {"source": storable(source)}
        rows = await self._database.fetch(RECEIVES, params)
        return agent_of(rows[0]) if rows else None

    async def of_persons(self, tenant: str, persons: Sequence[str], limit: int) -> list[Agent]:
        """Return the agents of these persons, first registered first."""
        params = _theirs(tenant, persons) | {"limit": limit}
        return [agent_of(row) for row in await self._database.fetch(LISTED, params)]

    async def remove(
        self, tenant: str, persons: Sequence[str], agent_id: str, event: AgentEvent
    ) -> bool:
        """Delete an agent of these persons with its sessions, memberships and tokens, and end its
        pending handoffs; False if there is none."""
        params = _theirs(tenant, persons, agent_id)

        def work() -> Work[bool]:
            if not (yield from change(REMOVE, params)):
                return False
            *_, given, received = yield from together(
                *(Change(one, params) for one in AFTERWARDS),
                *(Fetch(one, params) for one in END_HANDOFFS),
            )
            ended = [_expired(event, row) for row in (*given, *received)]
            yield from add_events([event, *ended])
            return True

        return await self._writer.run(work)

    async def memories_of(
        self, access: AccessScope, agent_id: str, since: datetime, limit: int
    ) -> list[str]:
        """Return the ids of changeable memories that the agent wrote since then, newest first."""
        params = access.parameters() | {"id": storable(agent_id), "since": micros(since)}
        params |= {"limit": limit}
        return [str(id_) for (id_,) in await self._database.fetch(WRITTEN, params)]

    async def add_session(
        self, agent: Agent, session: AgentSession, idle_since: datetime, limits: AgentLimits
    ) -> Admission | Literal["missing"]:
        """Store a session, unless `sessions` were used after `idle_since`, `sessions_per_person` of
        them by agents of its person, or the agent does not exist."""
        params = {
            "id": agent.id,
            "tenant": storable(agent.tenant),
            "person": storable(agent.owner),
            "session": session.id,
            "now": micros(session.started_at),
            "idle": micros(idle_since),
        }

        def work() -> Work[Admission | Literal["missing"]]:
            yield from lock("agent sessions")
            ((all_, own),) = yield from fetch(COUNTED_SESSIONS, params)
            admission = admitted(all_, own, limits.sessions, limits.sessions_per_person)
            if admission == "stored" and not (yield from change(ADD_SESSION, params)):
                return "missing"
            return admission

        return await self._database.run(work)

    async def use_session(
        self,
        tenant: str,
        persons: Sequence[str],
        agent_id: str,
        session_id: str,
        now: datetime,
        idle: datetime,
    ) -> AgentSession | None:
        """Note the use of an open session of this agent, of any of theirs for an empty id, and
        return it; None if it ended or was last used before `idle`."""
        params = _theirs(tenant, persons, agent_id) | {
            "session": storable(session_id),
            "now": micros(now),
            "idle": micros(idle),
        }
        rows = await self._database.fetch(USE_SESSION, params)
        return _session(rows[0]) if rows else None

    async def end_session(
        self, tenant: str, persons: Sequence[str], agent_id: str, session_id: str, now: datetime
    ) -> bool:
        """End an open session of this agent, of any of these persons for an empty id."""
        params = _theirs(tenant, persons, agent_id)
        params |= {"session": storable(session_id), "now": micros(now)}
        return await self._database.change(END_SESSION, params) == 1

    async def prune(self, idle: datetime, ended: datetime) -> int:
        """End a batch of sessions that were last used before `idle`, delete a batch of those that
        ended before `ended`; return their number."""
        params = {"idle": micros(idle), "ended": micros(ended)}

        def work() -> Work[int]:
            steps = (Change(END_IDLE, params), Change(FORGET_ENDED, params))
            return sum((yield from together(*steps, last=True)))

        return await self._database.run(work)


def admitted(everybody: int, own: int, most: int, most_own: int) -> Admission:
    """Return the limit that these numbers reach, or "stored"."""
    if everybody >= most:
        return "full"
    return "person_full" if own >= most_own else "stored"


def _theirs(tenant: str, persons: Sequence[str], agent_id: str = "") -> dict[str, object]:
    return {
        "id": storable(agent_id),
        "tenant": storable(tenant),
        "persons": [storable(person) for person in persons if person],
    }


def _expired(event: AgentEvent, row: Row) -> AgentEvent:
    """The event of a handoff that ends with its agent."""
    handoff, source, person, other = row
    kind = EventKind.HANDOFF_EXPIRED
    return AgentEvent(
        kind, event.tenant, event.at, source, handoff=handoff, person=person, other=other
    )


def agent_of(row: Row) -> Agent:
    id_, tenant, person, type_, capabilities, registered_at, name = row
    may = frozenset(map(Capability, texts_of(capabilities)))
    return Agent(id_, tenant, AgentType(type_), person, may, time_of(registered_at), name)


def _session(row: Row) -> AgentSession:
    id_, agent, started_at, ended_at = row
    return AgentSession(id_, agent, time_of(started_at), time_or_none(ended_at))
