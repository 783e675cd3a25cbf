"""The store of the review queue. Writers take turns, so that its limits hold."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Literal

from msgspec import Struct
from pydantic import TypeAdapter

from db import Database, Row, Statement, Work, among, execute, fetch_first, lock
from db.statements import begins
from db.values import json_list, micros, storable, texts_of, time_of, time_or_none
from gateway.immutable import replace
from gateway.text import Text, as_json, from_json
from memory.model.record import Record, Scope
from memory.model.scope import CONFINED, OPERATED, SHOWN, AccessScope
from memory.stores.limits import MAX_HISTORY, MAX_WAITING, MAX_WAITING_IN_ALL, check_submitted
from memory.stores.rows import columns_of, record_of
from memory.text.display import escaped
from memory.text.proposals import REJECTED_FOR, Hashed, Proposal, marks_of, words_of

MAX_EARLIER: Final = 400
"""Earlier proposals with which a new one is compared."""
FORGET_AT_ONCE: Final = 100
"""Decided entries that one decision may delete; it adds one."""

DECIDES: Final = f"(m.tenant = :for_tenant AND {CONFINED} AND ({SHOWN} OR {OPERATED}))"
"""The entry waits for this person: an own one that may be shown, or an operator's."""
COLUMNS: Final = (
    "id, record, reason, submitted_at, passed, failed, state, decided_at, note, target, decided_by"
)
SHARED_TEXT: Final = "(SELECT x.content FROM memories x WHERE x.id = substr(m.target, 42))"
"""The text of the memory that a proposal names (`ShareProposal.target`): the queue has no copy, so
that its deletion takes effect at once."""
ALIVE: Final = f"(m.target NOT LIKE 'share:%' OR {SHARED_TEXT} IS NOT NULL)"
SELECT: Final = f"""
    SELECT {COLUMNS}, {SHARED_TEXT} FROM memory_reviews m WHERE {DECIDES}
"""
WAITING: Final = Statement(
    f"{SELECT} AND m.state = 'pending' AND {ALIVE} ORDER BY m.seq LIMIT :limit"
)
HISTORY: Final = Statement(f"""
    {SELECT} AND m.state <> 'pending' ORDER BY m.decided_at DESC, m.seq DESC LIMIT :limit
""")
GET: Final = Statement(f"{SELECT} AND m.id = :id")
APPROVAL: Final = Statement(f"""
    {SELECT} AND m.state = 'approved' AND m.target = '' AND {begins("m.record", ":begin")}
    ORDER BY m.decided_at DESC, m.seq DESC LIMIT 1
""")
ROOM: Final = Statement(f"""
    SELECT (SELECT count(*) FROM memory_reviews m
            WHERE m.state = 'pending' AND m.tenant = :for_tenant
                AND {among("m.person", "for_persons")}) < :most
        AND (SELECT count(*) FROM memory_reviews WHERE state = 'pending') < :most_in_all
""")
ADD: Final = Statement("""
    INSERT INTO memory_reviews (id, tenant, person, scope, project, room, from_repository, target,
        state, record, reason, passed, failed, submitted_at, note)
    VALUES (:id, :tenant, :person, :scope, :project, :room, :from_repository, :target,
        'pending', :record, :reason, :passed, :failed, :submitted_at, '')
    ON CONFLICT (id) DO NOTHING
""")
EARLIER: Final = Statement(f"""
    SELECT m.id, m.state, m.record, m.likeness FROM memory_reviews m
    WHERE m.tenant = :for_tenant AND {CONFINED} AND {among("m.person", "for_persons")}
        AND (:for_private OR m.room = :for_room) AND m.scope = :scope AND m.project = :project
        AND m.target = :target
        AND (m.state = 'pending' OR (m.state = 'rejected' AND m.likeness <> ''
            AND m.decided_at >= :since))
    ORDER BY m.state, m.seq DESC LIMIT :limit
""")
PROPOSED: Final = Statement(f"""
    SELECT CASE WHEN m.scope = 'global' THEN '' ELSE m.project END AS whose, count(*)
    FROM memory_reviews m
    WHERE :for_operates AND m.tenant = :for_tenant AND m.state = 'pending' AND (m.scope = 'global'
        OR (m.scope = 'project' AND {among("m.project", "projects")})) AND {ALIVE}
    GROUP BY whose
""")
TAKE: Final = Statement(f"""
    UPDATE memory_reviews AS m SET state = :state, note = :note, decided_at = :at, decided_by = :by
    WHERE m.id = :id AND m.state = 'pending' AND {DECIDES} RETURNING {COLUMNS}
""")
SETTLE: Final = Statement(
    "UPDATE memory_reviews SET record = :record, likeness = :likeness WHERE id = :id"
)
FORGET: Final = Statement("""
    DELETE FROM memory_reviews WHERE seq IN (
        SELECT seq FROM memory_reviews WHERE decided_at IS NOT NULL
        ORDER BY decided_at DESC, seq DESC LIMIT :most OFFSET :kept)
""")
PUT_BACK: Final = Statement(f"""
    UPDATE memory_reviews AS m SET state = 'pending', note = '', decided_at = NULL, decided_by = '',
        record = :record, likeness = ''
    WHERE m.id = :id AND m.state = 'approved' AND {DECIDES}
""")

_RECORDS: TypeAdapter[Record] = TypeAdapter(Record)

ReviewState = Literal["pending", "approved", "rejected"]


class ReviewItem(Struct, frozen=True):
    """A memory or document that waits for a decision; `reason` says why it was not stored."""

    id: str
    """The id of the review."""
    record: Record
    """The memory as it would be stored."""
    reason: Text
    submitted_at: datetime
    """The time since which it waits."""
    passed: tuple[str, ...] = ()
    """The checks that speak for it."""
    failed: tuple[str, ...] = ()
    """The checks that speak against it."""
    state: ReviewState = "pending"
    """The decision, or that it waits."""
    decided_at: datetime | None = None
    """The time of the decision; None while it waits."""
    note: str = ""
    """The reason of a rejection; empty otherwise."""
    target: str = ""
    """Empty for a memory, else the document that it would rewrite, or a `ShareProposal.target`."""
    decided_by: str = ""
    """The `str(PersonId)` of the person who decided; empty if it is not known."""

    @property
    def share(self) -> "ShareProposal | None":
        """The share that an agent proposed; None for a memory or a document."""
        if not self.target.startswith(SHARE):
            return None
        _, pool, scope, memory = self.target.split(":", 3)
        return ShareProposal(pool, int(scope), memory)


SHARE: Final = "share:"


class ShareProposal(Struct, frozen=True):
    """A memory that an agent would share with a pool, for an operator's decision. `pool` has 32
    characters, `scope` is as in `SharedScope`."""

    pool: str
    scope: int
    memory: str

    @property
    def target(self) -> str:
        """The stored form; `SHARED_TEXT` reads the memory from its 42nd character on."""
        return f"{SHARE}{self.pool}:{self.scope}:{self.memory}"


class ReviewStore:
    """The review queue: at most 100 a person, 10,000 in all, a history of 10,000."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, access: AccessScope, item: ReviewItem) -> bool:
        """Add an entry; False if the queue of the person, or of all, is full."""
        check_submitted(access, item.record)
        params = access.parameters() | {
            "id": item.id,
            "tenant": storable(item.record.tenant),
            "person": storable(item.record.provenance.person),
            "scope": scope_of(item).value,
            "project": storable(item.record.project),
            "room": storable(item.record.provenance.room),
            "from_repository": item.record.provenance.from_repository,
            "target": item.target,
            "record": record_to_json(item.record),
            "reason": as_json(escaped(item.reason, storable)),
            "passed": json_list(item.passed),
            "failed": json_list(item.failed),
            "submitted_at": micros(item.submitted_at),
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
        """Return the entries that this person may decide, oldest first; an operator also decides
        for the project."""
        return await self._read(WAITING, access, {"limit": limit})

    async def proposed(self, access: AccessScope, projects: Sequence[str]) -> dict[str, int]:
        """Count the entries that wait for an operator in each of these projects, and under "" for
        the whole tenant; empty for other people."""
        params = access.parameters() | {"projects": [storable(project) for project in projects]}
        rows = await self._database.fetch(PROPOSED, params)
        return {str(project): int(count) for project, count in rows}

    async def history(self, access: AccessScope, limit: int) -> list[ReviewItem]:
        """Return decided entries without their text, latest first."""
        return await self._read(HISTORY, access, {"limit": limit})

    async def get(self, access: AccessScope, review_id: str) -> ReviewItem | None:
        """One entry, None when it is not this person's to decide."""
        items = await self._read(GET, access, {"id": storable(review_id)})
        return items[0] if items else None

    async def approval(self, access: AccessScope, memory: Record) -> ReviewItem | None:
        """Return the decision that stored this memory, without its text; None if no decision is
        kept, or it is not this person's to read."""
        begin = f'{{"id":"{storable(memory.id)}",'  # the id is the first field of a stored record
        items = await self._read(APPROVAL, access, {"begin": begin})
        return items[0] if items else None

    async def take(
        self,
        access: AccessScope,
        review_id: str,
        state: ReviewState,
        note: str,
        now: datetime,
        hashed: Hashed | None = None,
    ) -> ReviewItem | None:
        """Decide an entry and return it; None if it is already decided. Only the decision stays
        stored, without the text; of a rejected one also its words as keyed hashes, if `hashed` is
        given."""
        params = access.parameters() | {
            "id": storable(review_id),
            "state": state,
            "note": storable(note),
            "at": micros(now),
            "by": storable(access.person),
        }

        def work() -> Work[ReviewItem | None]:
            row = yield from fetch_first(TAKE, params)
            if row is None:
                return None
            item = _pending(row)
            marks: frozenset[str] = frozenset()
            if hashed is not None and state == "rejected" and item.share is None:
                marks = marks_of(words_of(item.record.content), hashed)
            kept = {"id": item.id, "record": record_to_json(settled(item.record))}
            kept["likeness"] = " ".join(sorted(marks))
            yield from execute(SETTLE, kept)
            yield from execute(FORGET, {"most": FORGET_AT_ONCE, "kept": MAX_HISTORY})
            return item

        return await self._database.run(work)

    async def earlier(
        self, access: AccessScope, record: Record, target: str, now: datetime
    ) -> list[Proposal]:
        """Return this person's waiting proposals of the same place as a record, and those that were
        rejected lately, latest first. Only what may be shown here is compared."""
        params = access.parameters() | {
            "scope": (Scope.PROJECT if target == "bible" else record.scope).value,
            "project": storable(record.project),
            "target": target,
            "since": micros(now - REJECTED_FOR),
            "limit": MAX_EARLIER,
        }
        return [_proposal(row) for row in await self._database.fetch(EARLIER, params)]

    async def put_back(self, access: AccessScope, item: ReviewItem) -> None:
        """Reopen an entry that could not be stored after its approval."""
        params = {"id": storable(item.id), "record": record_to_json(item.record)}
        await self._database.change(PUT_BACK, access.parameters() | params)

    async def _read(
        self, statement: Statement, access: AccessScope, params: Mapping[str, object]
    ) -> list[ReviewItem]:
        rows = await self._database.fetch(statement, {**access.parameters(), **params})
        return [_pending(row) for row in rows]


def record_to_json(record: Record) -> str:
    """A record as JSON, without its vector."""
    kept = record_of(columns_of(record).values())
    return _RECORDS.dump_json(kept, exclude={"embedding"}).decode()


def record_from_json(text: str) -> Record:
    """The record again; raises pydantic's ValidationError on anything else."""
    return _RECORDS.validate_json(text)


def settled(record: Record) -> Record:
    """Return the record of a decided entry: who, where and when, without its text."""
    evidence = replace(record.evidence, claim="", source_id="", fields={})
    return replace(record, content="", tags=(), evidence=evidence)


def scope_of(item: ReviewItem) -> Scope:
    """Return whose decision an entry needs: the person's, or the operators' for a project
    document."""
    return Scope.PROJECT if item.target == "bible" else item.record.scope


def _proposal(row: Row) -> Proposal:
    id_, state, record, likeness = row
    if state == "rejected":
        return Proposal(id_, "rejected", frozenset(likeness.split()))
    kept = record_from_json(record)
    return Proposal(id_, "waiting", words_of(kept.content), kept.supersedes)


def _pending(row: Row) -> ReviewItem:
    id_, record, reason, submitted_at, passed, failed, state, decided_at, note, *rest = row
    target, by, *more = rest
    memory = record_from_json(record)
    if more and more[0] is not None and state == "pending":
        memory = replace(memory, content=more[0])
    return ReviewItem(
        id=id_,
        record=memory,
        reason=from_json(reason),
        submitted_at=time_of(submitted_at),
        passed=texts_of(passed),
        failed=texts_of(failed),
        state=state,
        decided_at=time_or_none(decided_at),
        note=note,
        target=target,
        decided_by=by,
    )
