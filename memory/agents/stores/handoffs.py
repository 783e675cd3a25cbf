"""Stores handoffs. Each step is one conditional update, so of two callers at once one succeeds."""

import json
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from db import (
    SKIP_LOCKED,
    Database,
    Params,
    Row,
    Statement,
    Work,
    among,
    execute,
    fetch,
    together,
)
from db.database import deleted_some, deleting_some
from db.transaction import Fetch
from db.values import micros, storable, time_of
from memory.agents.handoff_text import says_same
from memory.agents.model import (
    AgentEvent,
    AgentLimits,
    EventKind,
    Handoff,
    HandoffContext,
    HandoffStatus,
    HandoffStep,
)
from memory.agents.stores.events import EventSignal, EventWriter, add_events
from memory.stores.links import of_same_person

Capacity: TypeAlias = Literal[
    "stored", "full", "person_full", "target_full", "target_full_of_yours", "too_often"
]
"""The result of storing a handoff; everything but `stored` names the limit that is reached: of all
handoffs, of those from the agents of one person, of those that wait for the receiver, of those
among them from the agents of one other person, of those that the receiver, a person, gets in an
hour."""


class HandoffReceiver(Struct, frozen=True):
    """The caller as a receiver: one of their agents, or the person by all linked identities."""

    tenant: str
    agent: str = ""
    persons: tuple[str, ...] = ()


MAX_COMPARED: Final = 200
"""Open handoffs of the same source and target with which a new one is compared."""
EXPIRE_AT_ONCE: Final = 100
HOUR: Final = timedelta(hours=1)
COLUMNS: Final = """id, tenant, source, source_owner, source_name, target, target_person,
    target_owner, context, status, created_at, until, ttl_seconds, result, reason"""
SELECT: Final = f"SELECT {COLUMNS} FROM agent_handoffs"
TO_RECEIVER: Final = f"""(tenant = :tenant AND (
    (:agent <> '' AND target = :agent)
    OR (:agent = '' AND target_person <> '' AND {among("target_person", "persons")})))"""
"""True for a handoff to this agent, or to this person by one of their identities."""
ADD: Final = Statement("""
    INSERT INTO agent_handoffs (id, tenant, source, source_owner, source_name, target,
        target_person, target_owner, context, status, created_at, until, ttl_seconds, reason,
        notified)
    VALUES (:id, :tenant, :source, :source_owner, :source_name, :target, :target_person,
        :target_owner, :context, 'pending', :created_at, :until, :ttl_seconds, '', false)
""")
BY_SAME_PERSON: Final = of_same_person("source_owner", "source_owner")
COUNT: Final = Statement(f"""
    SELECT (SELECT count(*) FROM agent_handoffs), (SELECT count(*) FROM agent_handoffs
        WHERE tenant = :tenant AND {BY_SAME_PERSON})
""")
COUNTED: Final = f"count(*), COALESCE(sum(CASE WHEN {BY_SAME_PERSON} THEN 1 ELSE 0 END), 0)"
"""The number of handoffs, and of those from the agents of the same person."""
PENDING_OF_AGENT: Final = Statement(f"""
    SELECT {COUNTED} FROM agent_handoffs WHERE target = :target AND target <> ''
        AND status IN ('pending', 'accepted') AND status = 'pending' AND until > :now
""")
PENDING_OF_PERSON: Final = Statement(f"""
    SELECT {COUNTED} FROM agent_handoffs WHERE tenant = :tenant
        AND {among("target_person", "linked")} AND target_person <> ''
        AND status IN ('pending', 'accepted') AND status = 'pending' AND until > :now
""")
LATELY: Final = Statement(f"""
    SELECT {COUNTED} FROM agent_handoffs WHERE tenant = :tenant
        AND {among("target_owner", "linked")}
        AND target_person <> '' AND created_at > :since
""")
FIND: Final = Statement(f"{SELECT} WHERE tenant = :tenant AND id = :id")
FIND_RECEIVED: Final = Statement(f"{SELECT} WHERE id = :id AND {TO_RECEIVER}")
ACCEPT: Final = Statement(f"""
    UPDATE agent_handoffs SET status = 'accepted', notified = true,
        until = :now + CAST(ttl_seconds AS bigint) * 1000000
    WHERE id = :id AND {TO_RECEIVER} AND status = 'pending' AND until > :now
    RETURNING {COLUMNS}
""")
REJECT: Final = Statement(f"""
    UPDATE agent_handoffs SET status = 'rejected', notified = true, reason = :reason,
        ended_at = :now
    WHERE id = :id AND {TO_RECEIVER} AND status = 'pending' AND until > :now
    RETURNING {COLUMNS}
""")
COMPLETE: Final = Statement(f"""
    UPDATE agent_handoffs SET status = 'completed', result = :result, ended_at = :now
    WHERE id = :id AND {TO_RECEIVER} AND status = 'accepted' AND until > :now
    RETURNING {COLUMNS}
""")
STILL_OPEN: Final = "status IN ('pending', 'accepted') AND until > :now"
"""As in the partial indexes, one for agents and one for people."""
OPEN_OF_AGENT: Final = Statement(f"""
    {SELECT} WHERE target = :agent AND target <> '' AND tenant = :tenant AND {STILL_OPEN}
    ORDER BY created_at, id LIMIT :limit
""")
OPEN_OF_PERSON: Final = Statement(f"""
    {SELECT} WHERE tenant = :tenant AND target_person <> '' AND {among("target_person", "persons")}
        AND {STILL_OPEN}
    ORDER BY created_at, id LIMIT :limit
""")
OPEN_OF_ANY: Final = Statement(f"""
    {SELECT} WHERE tenant = :tenant AND {among("target_owner", "persons")} AND {STILL_OPEN}
    ORDER BY created_at, id LIMIT :limit
""")
SAME_WAY: Final = Statement(f"""
    {SELECT} WHERE tenant = :tenant AND source = :source AND target = :target
        AND target_person = :target_person AND {STILL_OPEN}
    ORDER BY created_at, id LIMIT {MAX_COMPARED}
""")
EXPIRE: Final = Statement(f"""
    UPDATE agent_handoffs SET status = 'expired', ended_at = :now, notified = true WHERE id IN (
        SELECT id FROM agent_handoffs
        WHERE status IN ('pending', 'accepted') AND until <= :now
        ORDER BY until LIMIT {EXPIRE_AT_ONCE} {SKIP_LOCKED})
    RETURNING {COLUMNS}
""")
UNNOTIFIED: Final = Statement(f"""
    {SELECT} WHERE status = 'pending' AND target_person <> '' AND NOT notified AND until > :now
    ORDER BY created_at LIMIT :limit
""")
NOTIFIED: Final = Statement(f"UPDATE agent_handoffs SET notified = true WHERE {among('id', 'ids')}")
CLEAN: Final = deleting_some(
    "agent_handoffs",
    "id",
    "ended_at IS NOT NULL AND ended_at < :before",
    "ended_at",
    "tenant, status",
)


class SqlHandoffs:
    """Every method raises `StoreUnavailable`. A state changes by one conditional update: of two
    callers at once one succeeds.
    """

    def __init__(self, database: Database, signal: EventSignal | None = None) -> None:
        self._database = database
        self._writer = EventWriter(database, signal)

    async def add(
        self, handoff: Handoff, limits: AgentLimits, now: datetime, linked: Sequence[str] = ()
    ) -> Capacity | Handoff:
        """Store a pending handoff, unless a limit is reached. `linked` are all identities of the
        person who receives it, for whom limits count together. Returns the open handoff with the
        same content between the same two, if there is one; nothing is stored then."""
        params = _params(handoff)

        def work() -> Work[Capacity | Handoff]:
            rows = yield from fetch(SAME_WAY, params | {"now": micros(now)})
            same = (
                one for row in rows if says_same((one := _handoff(row)).context, handoff.context)
            )
            known = next(same, None)
            if known is not None:
                return known
            reached = yield from _reached(handoff, limits, now, linked)
            if reached != "stored":
                return reached
            yield from execute(ADD, params)
            yield from add_events([_event(EventKind.HANDOFF_INITIATED, handoff, now)])
            return "stored"

        return await self._writer.run(work, "agent handoffs")

    async def find(self, tenant: str, handoff_id: str) -> Handoff | None:
        params = {"tenant": storable(tenant), "id": storable(handoff_id)}
        rows = await self._database.fetch(FIND, params)
        return _handoff(rows[0]) if rows else None

    async def accept(
        self, receiver: HandoffReceiver, handoff_id: str, now: datetime
    ) -> HandoffStep:
        params = _step(receiver, handoff_id, now)
        return await self._change(ACCEPT, params, EventKind.HANDOFF_ACCEPTED, now)

    async def reject(
        self, receiver: HandoffReceiver, handoff_id: str, reason: str, now: datetime
    ) -> HandoffStep:
        params = {**_step(receiver, handoff_id, now), "reason": storable(reason)}
        return await self._change(REJECT, params, EventKind.HANDOFF_REJECTED, now)

    async def complete(
        self, receiver: HandoffReceiver, handoff_id: str, result: dict[str, object], now: datetime
    ) -> HandoffStep:
        params = {**_step(receiver, handoff_id, now), "result": json.dumps(result)}
        return await self._change(COMPLETE, params, EventKind.HANDOFF_COMPLETED, now)

    async def open(self, receiver: HandoffReceiver, now: datetime, limit: int) -> list[Handoff]:
        """Return pending and accepted handoffs to this receiver, oldest first."""
        params = {**_of(receiver), "now": micros(now), "limit": limit}
        statement = OPEN_OF_AGENT if receiver.agent else OPEN_OF_PERSON
        return [_handoff(row) for row in await self._database.fetch(statement, params)]

    async def open_of(
        self, tenant: str, persons: Sequence[str], now: datetime, limit: int
    ) -> list[Handoff]:
        """Return pending and accepted handoffs to these persons and to their agents, oldest
        first."""
        params = {
            "tenant": storable(tenant),
            "persons": [storable(person) for person in persons if person],
            "now": micros(now),
            "limit": limit,
        }
        return [_handoff(row) for row in await self._database.fetch(OPEN_OF_ANY, params)]

    async def expire(self, now: datetime) -> list[Handoff]:
        """End a batch of handoffs whose time is over; return them."""

        def work() -> Work[list[Handoff]]:
            rows = yield from fetch(EXPIRE, {"now": micros(now)})
            ended = [_handoff(row) for row in rows]
            yield from add_events(_event(EventKind.HANDOFF_EXPIRED, one, now) for one in ended)
            return ended

        return await self._writer.run(work)

    async def unnotified(self, now: datetime, limit: int) -> list[Handoff]:
        """Return pending handoffs to people who were not notified yet, oldest first."""
        rows = await self._database.fetch(UNNOTIFIED, {"now": micros(now), "limit": limit})
        return [_handoff(row) for row in rows]

    async def notified(self, handoff_ids: Sequence[str]) -> None:
        """Record that the receivers of these were notified."""
        await self._database.change(NOTIFIED, {"ids": list(handoff_ids)})

    async def clean(self, ended_before: datetime) -> Counter[tuple[str, str]]:
        """Delete a batch of handoffs that ended before that time; return their number by tenant and
        status."""
        rows = await deleted_some(self._database, CLEAN, {"before": micros(ended_before)})
        return Counter((str(tenant), str(status)) for tenant, status in rows)

    async def _change(
        self, statement: Statement, params: Params, kind: EventKind, now: datetime
    ) -> HandoffStep:
        def work() -> Work[HandoffStep]:
            changed = yield from fetch(statement, params)
            if changed:
                handoff = _handoff(changed[0])
                yield from add_events([_event(kind, handoff, now)])
                return HandoffStep("done", handoff)
            rows = yield from fetch(FIND_RECEIVED, params)
            return _refused(_handoff(rows[0]) if rows else None, now)

        return await self._writer.run(work)


def _reached(
    handoff: Handoff, limits: AgentLimits, now: datetime, linked: Sequence[str]
) -> Work[Capacity]:
    """The limit that is reached, or "stored"."""
    person = handoff.target_person
    own = _params(handoff) | {
        "linked": [storable(one) for one in (linked or (person,)) if one],
        "now": micros(now),
        "since": micros(now - HOUR),
    }
    pending = PENDING_OF_PERSON if person else PENDING_OF_AGENT
    counted, waits, sent = yield from together(
        Fetch(COUNT, own), Fetch(pending, own), Fetch(LATELY, own)
    )
    all_, of_source = counted[0]
    if all_ >= limits.handoffs:
        return "full"
    if of_source >= limits.handoffs_per_person:
        return "person_full"
    waiting, of_source = waits[0]
    if waiting >= limits.pending_per_target:
        return "target_full"
    if handoff.source_owner != handoff.target_owner and of_source >= limits.pending_from_person:
        return "target_full_of_yours"
    everybody, ours = sent[0]
    often = everybody >= limits.person_per_hour_all or ours >= limits.person_per_hour
    return "too_often" if person and often else "stored"


def _refused(handoff: Handoff | None, now: datetime) -> HandoffStep:
    """The reason why no row changed."""
    if handoff is None:
        return HandoffStep("unknown")
    over = handoff.status is HandoffStatus.EXPIRED or handoff.until <= now
    if over and handoff.status not in (HandoffStatus.COMPLETED, HandoffStatus.REJECTED):
        return HandoffStep("expired", handoff)
    return HandoffStep("not_open", handoff)


def _event(kind: EventKind, handoff: Handoff, now: datetime) -> AgentEvent:
    by_source = kind in (EventKind.HANDOFF_INITIATED, EventKind.HANDOFF_EXPIRED)
    return AgentEvent(
        kind,
        handoff.tenant,
        now,
        agent=handoff.source if by_source else handoff.target,
        handoff=handoff.id,
        person=handoff.source_owner,
        other=handoff.target_owner,
    )


def _of(receiver: HandoffReceiver) -> dict[str, object]:
    return {
        "tenant": storable(receiver.tenant),
        "agent": storable(receiver.agent),
        "persons": [storable(person) for person in receiver.persons],
    }


def _step(receiver: HandoffReceiver, handoff_id: str, now: datetime) -> dict[str, object]:
    return {**_of(receiver), "id": storable(handoff_id), "now": micros(now)}


def _params(handoff: Handoff) -> dict[str, object]:
    return {
        "id": handoff.id,
        "tenant": storable(handoff.tenant),
        "source": handoff.source,
        "source_owner": storable(handoff.source_owner),
        "source_name": storable(handoff.source_name),
        "target": storable(handoff.target),
        "target_person": storable(handoff.target_person),
        "target_owner": storable(handoff.target_owner),
        "context": _stored(handoff.context),
        "created_at": micros(handoff.created_at),
        "until": micros(handoff.until),
        "ttl_seconds": handoff.ttl_seconds,
    }


def _stored(context: HandoffContext) -> str:
    return json.dumps(asdict(context))


def _context(value: str) -> HandoffContext:
    stored = json.loads(value)
    return HandoffContext(
        stored["task_description"],
        stored["current_state"],
        tuple(stored["relevant_memories"]),
        tuple(stored["relevant_files"]),
        tuple(stored["findings"]),
    )


def _handoff(row: Row) -> Handoff:
    (
        id_, tenant, source, source_owner, source_name, target, target_person, target_owner,
        context, status, created_at, until, ttl_seconds, result, reason,
    ) = row  # fmt: skip
    return Handoff(
        id=id_,
        tenant=tenant,
        source=source,
        target=target,
        target_person=target_person,
        context=_context(context),
        status=HandoffStatus(status),
        created_at=time_of(created_at),
        until=time_of(until),
        ttl_seconds=ttl_seconds,
        source_owner=source_owner,
        source_name=source_name,
        target_owner=target_owner,
        result=None if result is None else json.loads(result),
        reason=reason,
    )
