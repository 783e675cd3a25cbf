"""The review queue: what waits for its owner's word. Whoever adds to it takes turns, so that its
limits hold."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from pydantic import TypeAdapter

from db import Database, Row, Statement, Work, among, execute, fetch_first, lock
from db.times import micros, time_of, time_or_none
from db.values import json_list, storable, texts_of
from memory.model.record import Record, Scope
from memory.model.scope import AccessScope
from memory.ports.reviews import ReviewItem, ReviewState
from memory.stores.limits import MAX_HISTORY, MAX_WAITING, MAX_WAITING_IN_ALL, check_submitted
from memory.stores.rows import columns_of, record_of

FORGET_AT_ONCE: Final = 100
"""Decided entries that one decision deletes; it adds one."""

OWN: Final = among("m.person", "for_persons")
DECIDES: Final = f"""(m.tenant = :for_tenant AND (
    (m.scope = 'user' AND {OWN}
        AND (:for_private OR (:for_room <> '' AND m.room = :for_room)))
    OR (m.scope = 'global' AND :for_operates)
    OR (m.scope = 'project' AND :for_operates
        AND :for_project <> '' AND m.project = :for_project)
))"""
"""Whose word an entry waits for: its owner's, where their own may be shown, or an operator's."""
COLUMNS: Final = "id, record, reason, submitted_at, passed, failed, state, decided_at, note, target"
SELECT: Final = f"SELECT {COLUMNS} FROM memory_reviews m WHERE {DECIDES}"  # noqa: S608 - constants
WAITING: Final = Statement(f"{SELECT} AND m.state = 'pending' ORDER BY m.seq LIMIT :limit")
HISTORY: Final = Statement(f"""
    {SELECT} AND m.state <> 'pending' ORDER BY m.decided_at DESC, m.seq DESC LIMIT :limit
""")
GET: Final = Statement(f"{SELECT} AND m.id = :id")
ROOM: Final = Statement(f"""
    SELECT (SELECT count(*) FROM memory_reviews m
            WHERE m.state = 'pending' AND m.tenant = :for_tenant AND {OWN}) < :most
        AND (SELECT count(*) FROM memory_reviews WHERE state = 'pending') < :most_in_all
""")  # noqa: S608 - constants
ADD: Final = Statement("""
    INSERT INTO memory_reviews (id, tenant, person, scope, project, room, target, state,
        record, reason, passed, failed, submitted_at, note)
    VALUES (:id, :tenant, :person, :scope, :project, :room, :target, 'pending',
        :record, :reason, :passed, :failed, :submitted_at, '')
    ON CONFLICT (id) DO NOTHING
""")
PROPOSED: Final = Statement(f"""
    SELECT CASE WHEN m.scope = 'global' THEN '' ELSE m.project END AS whose, count(*)
    FROM memory_reviews m
    WHERE :for_operates AND m.tenant = :for_tenant AND m.state = 'pending' AND (m.scope = 'global'
        OR (m.scope = 'project' AND {among("m.project", "projects")}))
    GROUP BY whose
""")  # noqa: S608 - constants
TAKE: Final = Statement(f"""
    UPDATE memory_reviews AS m SET state = :state, note = :note, decided_at = :at
    WHERE m.id = :id AND m.state = 'pending' AND {DECIDES} RETURNING {COLUMNS}
""")  # noqa: S608 - constants
SETTLE: Final = Statement("UPDATE memory_reviews SET record = :record WHERE id = :id")
FORGET: Final = Statement("""
    DELETE FROM memory_reviews WHERE seq IN (
        SELECT seq FROM memory_reviews WHERE decided_at IS NOT NULL
        ORDER BY decided_at DESC, seq DESC LIMIT :most OFFSET :kept)
""")
PUT_BACK: Final = Statement(f"""
    UPDATE memory_reviews AS m SET state = 'pending', note = '', decided_at = NULL,
        record = :record
    WHERE m.id = :id AND m.state = 'approved' AND {DECIDES}
""")  # noqa: S608 - constants

_RECORDS: TypeAdapter[Record] = TypeAdapter(Record)


class SqlReviews:
    """Implements `memory.ports.ReviewStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, access: AccessScope, pending: ReviewItem) -> bool:
        check_submitted(access, pending.record)
        params = _reached(access) | {
            "id": pending.id,
            "tenant": storable(pending.record.tenant),
            "person": storable(pending.record.provenance.person),
            "scope": scope_of(pending).value,
            "project": storable(pending.record.project),
            "room": storable(pending.record.provenance.room),
            "target": pending.target,
            "record": record_to_json(pending.record),
            "reason": storable(pending.reason),
            "passed": json_list(pending.passed),
            "failed": json_list(pending.failed),
            "submitted_at": micros(pending.submitted_at),
            "most": MAX_WAITING,
            "most_in_all": MAX_WAITING_IN_ALL,
        }

        def work() -> Work[bool]:
            yield from lock("reviews")
            room = yield from fetch_first(ROOM, params)
            if room is None or not room[0]:
                return False
            yield from execute(ADD, params)
            return True

        return await self._database.run(work)

    async def waiting(self, access: AccessScope, limit: int) -> list[ReviewItem]:
        return await self._read(WAITING, access, {"limit": limit})

    async def proposed(self, access: AccessScope, projects: Sequence[str]) -> dict[str, int]:
        params = _reached(access) | {"projects": [storable(project) for project in projects]}
        rows = await self._database.fetch(PROPOSED, params)
        return {str(project): int(count) for project, count in rows}

    async def history(self, access: AccessScope, limit: int) -> list[ReviewItem]:
        return await self._read(HISTORY, access, {"limit": limit})

    async def get(self, access: AccessScope, review_id: str) -> ReviewItem | None:
        """One entry, None when it is not this person's to decide."""
        found = await self._read(GET, access, {"id": storable(review_id)})
        return found[0] if found else None

    async def take(
        self, access: AccessScope, review_id: str, state: ReviewState, note: str, now: datetime
    ) -> ReviewItem | None:
        params = _reached(access) | {
            "id": storable(review_id),
            "state": state,
            "note": storable(note),
            "at": micros(now),
        }

        def work() -> Work[ReviewItem | None]:
            row = yield from fetch_first(TAKE, params)
            if row is None:
                return None
            pending = _pending(row)
            kept = {"id": pending.id, "record": record_to_json(settled(pending.record))}
            yield from execute(SETTLE, kept)
            yield from execute(FORGET, {"most": FORGET_AT_ONCE, "kept": MAX_HISTORY})
            return pending

        return await self._database.run(work)

    async def put_back(self, access: AccessScope, pending: ReviewItem) -> None:
        params = {"id": storable(pending.id), "record": record_to_json(pending.record)}
        await self._database.change(PUT_BACK, _reached(access) | params)

    async def _read(
        self, statement: Statement, access: AccessScope, params: Mapping[str, object]
    ) -> list[ReviewItem]:
        rows = await self._database.fetch(statement, {**_reached(access), **params})
        return [_pending(row) for row in rows]


def record_to_json(record: Record) -> str:
    """A record as JSON, without its vector."""
    kept = record_of(columns_of(record).values())
    return _RECORDS.dump_json(kept, exclude={"embedding"}).decode()


def record_from_json(text: str) -> Record:
    """The record again; raises pydantic's ValidationError on anything else."""
    return _RECORDS.validate_json(text)


def settled(record: Record) -> Record:
    """What stays of a record once it is decided: who, where, when, never a word of it."""
    evidence = replace(record.evidence, claim="", source_id="")
    return replace(record, content="", tags=(), evidence=evidence)


def scope_of(pending: ReviewItem) -> Scope:
    """Who decides: the person themselves, or operators. A proposal for a project's document is
    the project's, one for a SOUL its person's."""
    return Scope.PROJECT if pending.target == "bible" else pending.record.scope


def _reached(access: AccessScope) -> dict[str, object]:
    return {
        "for_tenant": storable(access.tenant),
        "for_persons": [storable(person) for person in access.persons],
        "for_room": storable(access.room),
        "for_project": storable(access.project),
        "for_private": access.private,
        "for_operates": access.operates,
    }


def _pending(row: Row) -> ReviewItem:
    id_, record, reason, submitted_at, passed, failed, state, decided_at, note, target = row
    return ReviewItem(
        id=id_,
        record=record_from_json(record),
        reason=reason,
        submitted_at=time_of(submitted_at),
        passed=texts_of(passed),
        failed=texts_of(failed),
        state=state,
        decided_at=time_or_none(decided_at),
        note=note,
        target=target,
    )
