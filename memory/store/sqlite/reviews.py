"""The review queue in SQLite."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from db.sqlite import SqliteDatabase
from db.values import storable
from memory.scope import Reach
from memory.store.guard import check_submitted
from memory.store.limits import MAX_HISTORY, MAX_WAITING, MAX_WAITING_IN_ALL
from memory.store.ports import Pending, ReviewState
from memory.store.reviews import record_from_json, record_to_json, scope_of, settled
from memory.store.sqlite.reach import OWN, parameters
from memory.store.sqlite.rows import moment, seconds

DECIDES: Final = f"""(m.tenant = :for_tenant AND (
    ({OWN} AND (:for_private OR (:for_room <> '' AND m.room = :for_room)))
    OR (m.scope = 'global' AND :for_operates)
    OR (m.scope = 'project' AND :for_operates
        AND :for_project <> '' AND m.project = :for_project)
))"""
"""Whose word an entry waits for: its owner's, where their own may be shown, or an operator's."""
SELECT: Final = f"""
    SELECT id, record, reason, submitted_at, passed, failed, state, decided_at, note, target
    FROM memory_reviews m WHERE {DECIDES}
"""  # noqa: S608 - constants
PROPOSED: Final = """
    SELECT iif(m.scope = 'global', '', m.project) AS whose, count(*) FROM memory_reviews m
    WHERE :for_operates AND m.tenant = :for_tenant AND m.state = 'pending' AND (m.scope = 'global'
        OR (m.scope = 'project' AND m.project IN (SELECT value FROM json_each(:projects))))
    GROUP BY whose
"""
TAKE: Final = f"""
    UPDATE memory_reviews AS m SET state = :state, note = :note, decided_at = :at
    WHERE m.id = :id AND m.state = 'pending' AND {DECIDES}
"""  # noqa: S608 - constants
PUT_BACK: Final = f"""
    UPDATE memory_reviews AS m SET state = 'pending', note = '', decided_at = NULL,
        record = :record
    WHERE m.id = :id AND m.state = 'approved' AND {DECIDES}
"""  # noqa: S608 - constants
SETTLE: Final = "UPDATE memory_reviews SET record = :record WHERE id = :id"
ROOM: Final = f"""
    SELECT (SELECT count(*) FROM memory_reviews m WHERE m.state = 'pending'
            AND m.tenant = :for_tenant
            AND m.person IN (SELECT value FROM json_each(:for_persons))) < {MAX_WAITING}
        AND (SELECT count(*) FROM memory_reviews WHERE state = 'pending') < {MAX_WAITING_IN_ALL}
"""  # noqa: S608 - constants
ADD: Final = """
    INSERT OR IGNORE INTO memory_reviews (id, tenant, person, scope, project, room, target, state,
        record, reason, passed, failed, submitted_at, note)
    VALUES (:id, :tenant, :person, :scope, :project, :room, :target, 'pending',
        :record, :reason, :passed, :failed, :submitted_at, '')
"""
FORGET: Final = f"""
    DELETE FROM memory_reviews WHERE seq IN (
        SELECT seq FROM memory_reviews WHERE decided_at IS NOT NULL
        ORDER BY decided_at DESC, seq DESC LIMIT -1 OFFSET {MAX_HISTORY})
"""  # noqa: S608 - constants


class SqliteReviews:
    """Implements `memory.store.ports.ReviewStore`."""

    def __init__(self, engine: SqliteDatabase) -> None:
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
            "passed": json.dumps(pending.passed),
            "failed": json.dumps(pending.failed),
            "submitted_at": seconds(pending.submitted_at),
        }

        def job(db: sqlite3.Connection) -> bool:
            if not db.execute(ROOM, row).fetchone()[0]:
                return False
            db.execute(ADD, row)
            return True

        return await self._engine.run_job(job)

    async def waiting(self, reach: Reach, limit: int) -> list[Pending]:
        """What waits for this person's word, oldest first."""
        return await self._select(reach, "m.state = 'pending' ORDER BY m.seq LIMIT :limit", limit)

    async def proposed(self, reach: Reach, projects: Sequence[str]) -> dict[str, int]:
        """How many entries wait for an operator's word, by project."""
        names = json.dumps([storable(project) for project in projects])
        asked = parameters(reach) | {"projects": names}
        rows = await self._engine.run_job(lambda db: db.execute(PROPOSED, asked).fetchall())
        return {str(project): int(count) for project, count in rows}

    async def history(self, reach: Reach, limit: int) -> list[Pending]:
        """What was decided, the latest first."""
        latest = "m.state <> 'pending' ORDER BY m.decided_at DESC, m.seq DESC LIMIT :limit"
        return await self._select(reach, latest, limit)

    async def get(self, reach: Reach, review_id: str) -> Pending | None:
        """One entry, None when it is not this person's to decide."""
        found = await self._select(reach, "m.id = :id LIMIT :limit", 1, review_id)
        return found[0] if found else None

    async def take(
        self, reach: Reach, review_id: str, state: ReviewState, note: str, now: datetime
    ) -> Pending | None:
        """Decide, once: the entry goes to the first who asks, None to everybody else; its text
        goes with it."""
        asked = parameters(reach) | {
            "id": storable(review_id),
            "state": state,
            "note": storable(note),
            "at": now.timestamp(),
        }

        def job(db: sqlite3.Connection) -> Pending | None:
            if db.execute(TAKE, asked).rowcount != 1:
                return None
            db.execute(FORGET)
            row = db.execute(f"{SELECT} AND m.id = :id", asked).fetchone()
            if row is None:
                return None
            pending = _pending(row)
            kept = {"id": pending.id, "record": record_to_json(settled(pending.record))}
            db.execute(SETTLE, kept)
            return pending

        return await self._engine.run_job(job)

    async def put_back(self, reach: Reach, pending: Pending) -> None:
        """What was approved could not be stored: it waits again."""
        record = record_to_json(pending.record)
        asked = parameters(reach) | {"id": storable(pending.id), "record": record}
        await self._engine.run_job(lambda db: db.execute(PUT_BACK, asked))

    async def _select(
        self, reach: Reach, condition: str, limit: int, review_id: str = ""
    ) -> list[Pending]:
        asked = parameters(reach) | {"limit": limit, "id": storable(review_id)}
        sql = f"{SELECT} AND {condition}"
        rows = await self._engine.run_job(lambda db: db.execute(sql, asked).fetchall())
        return [_pending(row) for row in rows]


def _pending(
    row: tuple[str, str, str, float, str, str, ReviewState, float | None, str, str],
) -> Pending:
    id_, record, reason, submitted_at, passed, failed, state, decided_at, note, target = row
    return Pending(
        id=id_,
        record=record_from_json(record),
        reason=reason,
        submitted_at=moment(submitted_at),
        passed=tuple(json.loads(passed)),
        failed=tuple(json.loads(failed)),
        state=state,
        decided_at=None if decided_at is None else moment(decided_at),
        note=note,
        target=target,
    )
