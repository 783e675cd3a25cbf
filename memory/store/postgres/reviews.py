"""The review queue in PostgreSQL. Whoever adds holds the queue's lock, so that its limits hold."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, LiteralString

from psycopg.rows import TupleRow

from db.postgres import Connection, PostgresDatabase
from db.values import storable
from memory.scope import Reach
from memory.store.guard import check_submitted
from memory.store.limits import MAX_HISTORY, MAX_WAITING, MAX_WAITING_IN_ALL
from memory.store.ports import Pending, ReviewState
from memory.store.postgres.locks import LOCK, lock_numbers
from memory.store.postgres.reach import OWN, parameters
from memory.store.reviews import record_from_json, record_to_json, scope_of, settled

DECIDES: Final = f"""(m.tenant = %(for_tenant)s AND (
    ({OWN} AND (%(for_private)s OR (%(for_room)s <> '' AND m.room = %(for_room)s)))
    OR (m.scope = 'global' AND %(for_operates)s)
    OR (m.scope = 'project' AND %(for_operates)s
        AND %(for_project)s <> '' AND m.project = %(for_project)s)
))"""
"""Whose word an entry waits for: its owner's, where their own may be shown, or an operator's."""
COLUMNS: Final = (
    "m.id, m.record, m.reason, m.submitted_at, m.passed, m.failed, m.state, m.decided_at, m.note,"
    " m.target"
)
SELECT: Final = f"SELECT {COLUMNS} FROM memory_reviews m WHERE {DECIDES} AND "  # noqa: S608
WAITING: Final = f"{SELECT} m.state = 'pending' ORDER BY m.seq LIMIT %(limit)s"
HISTORY: Final = f"""
    {SELECT} m.state <> 'pending' ORDER BY m.decided_at DESC, m.seq DESC LIMIT %(limit)s
"""
GET: Final = f"{SELECT} m.id = %(id)s"
ROOM: Final = f"""
    SELECT (SELECT count(*) FROM memory_reviews m WHERE m.state = 'pending'
            AND m.tenant = %(for_tenant)s
            AND m.person = ANY (%(for_persons)s::text[])) < {MAX_WAITING}
        AND (SELECT count(*) FROM memory_reviews WHERE state = 'pending') < {MAX_WAITING_IN_ALL}
"""  # noqa: S608 - constants
ADD: Final = """
    INSERT INTO memory_reviews (id, tenant, person, scope, project, room, target, state,
        record, reason, passed, failed, submitted_at, note)
    VALUES (%(id)s, %(tenant)s, %(person)s, %(scope)s, %(project)s, %(room)s, %(target)s,
        'pending', %(record)s, %(reason)s, %(passed)s::text[], %(failed)s::text[],
        %(submitted_at)s, '')
    ON CONFLICT (id) DO NOTHING
"""
PROPOSED: Final = """
    SELECT CASE WHEN m.scope = 'global' THEN '' ELSE m.project END AS whose, count(*)
    FROM memory_reviews m
    WHERE %(for_operates)s AND m.tenant = %(for_tenant)s AND m.state = 'pending'
        AND (m.scope = 'global'
            OR (m.scope = 'project' AND m.project = ANY (%(projects)s::text[])))
    GROUP BY whose
"""
TAKE: Final = f"""
    UPDATE memory_reviews m SET state = %(state)s, note = %(note)s, decided_at = %(at)s
    WHERE m.id = %(id)s AND m.state = 'pending' AND {DECIDES} RETURNING {COLUMNS}
"""  # noqa: S608 - constants
PUT_BACK: Final = f"""
    UPDATE memory_reviews m SET state = 'pending', note = '', decided_at = NULL,
        record = %(record)s
    WHERE m.id = %(id)s AND m.state = 'approved' AND {DECIDES}
"""  # noqa: S608 - constants
SETTLE: Final = "UPDATE memory_reviews SET record = %(record)s WHERE id = %(id)s"
FORGET: Final = f"""
    DELETE FROM memory_reviews WHERE seq IN (
        SELECT seq FROM memory_reviews WHERE decided_at IS NOT NULL
        ORDER BY decided_at DESC, seq DESC OFFSET {MAX_HISTORY})
"""  # noqa: S608 - constants


class PostgresReviews:
    """Implements `memory.store.ports.ReviewStore`."""

    def __init__(self, engine: PostgresDatabase) -> None:
        self._engine = engine

    async def add(self, reach: Reach, pending: Pending) -> bool:
        """False when the queue is full, the person's or all of it."""
        check_submitted(reach, pending.record)
        row = parameters(reach) | {
            "id": pending.id,
            "tenant": storable(pending.record.tenant),
            "person": storable(pending.record.provenance.person),
            "scope": scope_of(pending).value,
            "project": storable(pending.record.project),
            "room": storable(pending.record.provenance.room),
            "target": pending.target,
            "record": record_to_json(pending.record),
            "reason": storable(pending.reason),
            "passed": list(pending.passed),
            "failed": list(pending.failed),
            "submitted_at": pending.submitted_at,
        }

        async def work(connection: Connection) -> bool:
            async with connection.transaction():
                await connection.execute(LOCK, (lock_numbers(("reviews",)),))
                room = await (await connection.execute(ROOM, row)).fetchone()
                if room is None or not room[0]:
                    return False
                await connection.execute(ADD, row)
            return True

        return await self._engine.with_connection(work)

    async def waiting(self, reach: Reach, limit: int) -> list[Pending]:
        """What waits for this person's word, oldest first."""
        return await self._select(WAITING, reach, limit=limit)

    async def proposed(self, reach: Reach, projects: Sequence[str]) -> dict[str, int]:
        """How many entries wait for an operator's word, by project."""
        asked = parameters(reach) | {"projects": [storable(project) for project in projects]}
        rows = await self._engine.fetch_raw(PROPOSED, asked)
        return {str(project): int(count) for project, count in rows}

    async def history(self, reach: Reach, limit: int) -> list[Pending]:
        """What was decided, the latest first."""
        return await self._select(HISTORY, reach, limit=limit)

    async def get(self, reach: Reach, review_id: str) -> Pending | None:
        """One entry, None when it is not this person's to decide."""
        found = await self._select(GET, reach, id=storable(review_id))
        return found[0] if found else None

    async def take(
        self, reach: Reach, review_id: str, state: ReviewState, note: str, now: datetime
    ) -> Pending | None:
        """Decide, once: the entry goes to the first who asks, None to everybody else; its text
        goes with it."""
        asked = {"id": storable(review_id), "state": state, "note": storable(note), "at": now}

        async def work(connection: Connection) -> Pending | None:
            async with connection.transaction():
                taken = await connection.execute(TAKE, parameters(reach) | asked)
                row = await taken.fetchone()
                if row is None:
                    return None
                pending = _pending(row)
                kept = {"id": pending.id, "record": record_to_json(settled(pending.record))}
                await connection.execute(SETTLE, kept)
                await connection.execute(FORGET)
            return pending

        return await self._engine.with_connection(work)

    async def put_back(self, reach: Reach, pending: Pending) -> None:
        """What was approved could not be stored: it waits again."""
        asked = {"id": storable(pending.id), "record": record_to_json(pending.record)}
        await self._engine.change_raw(PUT_BACK, parameters(reach) | asked)

    async def _select(self, sql: LiteralString, reach: Reach, **asked: object) -> list[Pending]:
        return [
            _pending(row) for row in await self._engine.fetch_raw(sql, parameters(reach) | asked)
        ]


def _pending(row: TupleRow) -> Pending:
    id_, record, reason, submitted_at, passed, failed, state, decided_at, note, target = row
    return Pending(
        id=id_,
        record=record_from_json(record),
        reason=reason,
        submitted_at=submitted_at.astimezone(UTC),
        passed=tuple(passed),
        failed=tuple(failed),
        state=state,
        decided_at=None if decided_at is None else decided_at.astimezone(UTC),
        note=note,
        target=target,
    )
