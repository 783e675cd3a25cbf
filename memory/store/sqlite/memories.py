"""The records in SQLite."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final

from db.sqlite import SqliteDatabase
from db.values import storable
from gateway.ports import Clock
from memory.record import Embedding, Kind, Record, Tier
from memory.scope import Reach
from memory.store.alike import filed_under
from memory.store.guard import check_limit, check_turn, check_writable
from memory.store.ports import Filter, Insertion, Like, Match, Touched, Unembedded
from memory.store.rows import origin
from memory.store.sqlite import inserting
from memory.store.sqlite.conditions import HOLDS, VISIBLE
from memory.store.sqlite.filing import file_again, file_these, unfiled
from memory.store.sqlite.finding import find, tally
from memory.store.sqlite.reach import MAY_CHANGE, OWN, parameters
from memory.store.sqlite.rows import SELECTED, record_from, vector

AT_ONCE: Final = 500
"""Rows that one step of forgetting deletes, because nothing else is done meanwhile."""
MAX_SEQ: Final = 2**62
MERGE_PAGES: Final = 200
"""Pages of the full-text index that one step of upkeep rewrites: some milliseconds."""

GET: Final = f"""
    SELECT {SELECTED}, v.model, v.vector FROM memories m
    LEFT JOIN memory_vectors v ON v.memory = m.seq WHERE m.id = :id AND {VISIBLE}
"""  # noqa: S608 - constants
THERE: Final = f"""
    SELECT m.id FROM memories m
    WHERE m.id IN (SELECT value FROM json_each(:ids)) AND {HOLDS}
"""  # noqa: S608 - constants
DELETE: Final = f"""
    DELETE FROM memories AS m WHERE m.id IN (SELECT value FROM json_each(:ids)) AND {MAY_CHANGE}
    RETURNING id
"""  # noqa: S608 - constants
TAKEN: Final = f"""
    SELECT m.supersedes, m.superseded_by FROM memories m WHERE m.id = :id AND {MAY_CHANGE}
"""  # noqa: S608 - constants
RESTORE: Final = f"""
    UPDATE memories AS m SET superseded_by = :next,
        superseded_at = CASE WHEN :next = '' THEN NULL ELSE superseded_at END
    WHERE m.id = :old AND m.superseded_by = :id AND {MAY_CHANGE}
"""  # noqa: S608 - constants
FOLLOW: Final = "UPDATE memories SET supersedes = :old WHERE id = :next AND supersedes = :id"
CLEAR: Final = f"""
    DELETE FROM memories AS m WHERE m.tenant = :for_tenant AND {OWN}
        AND m.tier IN (SELECT value FROM json_each(:tiers))
"""  # noqa: S608 - constants
DERIVED: Final = """
    m.tenant = :for_tenant AND m.seq IN (
        SELECT memory FROM memory_origins WHERE origin IN (SELECT value FROM json_each(:origins)))
"""
FORGET: Final = f"DELETE FROM memories AS m WHERE {DERIVED} AND NOT m.confirmed"  # noqa: S608
SAID: Final = f"{DERIVED} AND m.role = 'user' AND NOT m.confirmed"
RESAID: Final = "content = :content, claim = :content"
PROPOSED: Final = """
    r.tenant = :for_tenant AND r.state = 'pending' AND r.target = ''
    AND json_extract(r.record, '$.provenance.channel') = :channel
    AND EXISTS (SELECT 1 FROM json_each(r.record, '$.derived_from') said
        WHERE said.value IN (SELECT value FROM json_each(:messages)))
"""
"""What waits for its owner's word, and goes back to one of these messages."""
UNASKED: Final = f"DELETE FROM memory_reviews AS r WHERE {PROPOSED}"  # noqa: S608
KNOWS: Final = f"""
    SELECT EXISTS (SELECT 1 FROM memories m WHERE {DERIVED})
        OR EXISTS (SELECT 1 FROM memory_reviews r WHERE {PROPOSED})
"""  # noqa: S608 - constants
WINDOW: Final = "SELECT seq FROM memories WHERE seq < ? ORDER BY seq DESC LIMIT 1 OFFSET 1999"
"""Memories that are looked through at once: some milliseconds."""
UNEMBEDDED: Final = """
    SELECT m.seq, m.id, m.content FROM memories m LEFT JOIN memory_vectors v ON v.memory = m.seq
    WHERE m.seq < :before AND m.seq > :after AND v.model IS NOT :model AND m.superseded_by = ''
        AND (m.expires_at IS NULL OR m.expires_at > :now)
    ORDER BY m.seq DESC LIMIT :limit
"""
EMBEDDED: Final = """
    SELECT (SELECT count(*) FROM memory_vectors WHERE model = :model),
        (SELECT count(*) FROM memories)
"""
PRUNE: Final = f"""
    DELETE FROM memories WHERE seq IN (
        SELECT seq FROM memories WHERE expires_at IS NOT NULL AND expires_at <= :now
        UNION SELECT seq FROM memories
            WHERE superseded_at IS NOT NULL AND superseded_at <= :superseded
        LIMIT {AT_ONCE}
    ) RETURNING id
"""  # noqa: S608 - constants


class SqliteMemories:
    """Implements `memory.store.ports.MemoryStore`."""

    def __init__(self, engine: SqliteDatabase, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    async def insert(
        self, reach: Reach, record: Record, *, threshold: float, quota: int | None
    ) -> Insertion:
        """Store a record, in one step with everything that speaks against it."""
        check_writable(reach, record)
        filed, now = filed_under(reach, record, threshold), self._now()
        return await self._engine.run_job(
            lambda db: inserting.insert(
                db, reach, record, filed, threshold=threshold, quota=quota, now=now
            )
        )

    async def like(self, reach: Reach, record: Record, *, threshold: float) -> Like | None:
        """The current memory that would keep `insert` from storing this one as a duplicate."""
        filed = filed_under(reach, record, threshold)
        asked = parameters(reach) | {"now": self._now(), "target": record.supersedes}
        return await self._engine.run_job(
            lambda db: inserting.like(db, record, filed, asked, threshold)
        )

    async def keep_turns(self, reach: Reach, records: Sequence[Record]) -> None:
        """Store turns of a conversation, without any check; the same id again is replaced."""
        for record in records:
            check_turn(reach, record)
        await self._engine.run_job(lambda db: inserting.keep_turns(db, reach, records))

    async def find(self, reach: Reach, wanted: Filter) -> list[Match]:
        """What may be seen and fits, without its vectors."""
        check_limit(wanted)
        now = self._now()
        return await self._engine.run_job(lambda db: find(db, reach, wanted, now))

    async def get(self, reach: Reach, memory_id: str) -> Record | None:
        """One memory with its vector, None when there is none or it may not be seen."""
        asked = parameters(reach) | {"now": self._now(), "id": storable(memory_id)}
        row = await self._engine.run_job(lambda db: db.execute(GET, asked).fetchone())
        if row is None:
            return None
        *columns, model, data = row
        embedding = None if model is None else Embedding(model, vector(data))
        return record_from(tuple(columns), embedding)

    async def visible(self, reach: Reach, memory_ids: Sequence[str]) -> set[str]:
        """Which of these memories are still there and true, and may be seen."""
        asked = parameters(reach) | {"now": self._now(), "ids": _json(memory_ids)}
        return set(await self._engine.run_job(lambda db: _ids(db, THERE, asked)))

    async def count(self, reach: Reach) -> int:
        """How many memories count towards this person's plan."""
        asked = parameters(reach) | {"now": self._now()}
        return await self._engine.run_job(lambda db: inserting.count(db, asked))

    async def tally(self, reach: Reach, wanted: Filter) -> dict[Kind, int]:
        """How many of the person's own there are of each kind."""
        now = self._now()
        return await self._engine.run_job(lambda db: tally(db, reach, wanted, now))

    async def delete(self, reach: Reach, memory_ids: Sequence[str]) -> list[str]:
        """Delete what may be changed; the ids that went."""
        asked = parameters(reach) | {"ids": _json(memory_ids)}
        return await self._engine.run_job(lambda db: _ids(db, DELETE, asked))

    async def take_back(self, reach: Reach, memory_ids: Sequence[str]) -> list[str]:
        """Delete these, and restore what they superseded; the ids that went."""
        asked = parameters(reach)

        def job(db: sqlite3.Connection) -> list[str]:
            return [one for id_ in memory_ids for one in _take_back(db, asked, storable(id_))]

        return await self._engine.run_job(job)

    async def clear(self, reach: Reach, tiers: Sequence[Tier]) -> int:
        """Delete everything of the person's own in these tiers."""
        asked = parameters(reach) | {"tiers": _json(tiers)}
        return await self._engine.run_job(lambda db: db.execute(CLEAR, asked).rowcount)

    async def knows_message(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> bool:
        """True when a memory, or one that waits, goes back to one of these messages."""
        asked = _messages(tenant, channel, message_ids)
        return await self._engine.run_job(lambda db: bool(db.execute(KNOWS, asked).fetchone()[0]))

    async def forget_message(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> list[Touched]:
        """Delete what was derived from these messages and never confirmed."""
        asked = _messages(tenant, channel, message_ids)

        def job(db: sqlite3.Connection) -> list[Touched]:
            return [*_touched(db, UNASKED, asked), *_touched(db, FORGET, asked)]

        return await self._engine.run_job(job)

    async def revise_message(
        self, tenant: str, channel: tuple[str, str, str], message_id: str, content: str
    ) -> list[Touched]:
        """Replace the stored turn; delete what else was derived and never confirmed."""
        asked = _messages(tenant, channel, (message_id,)) | {"content": storable(content)}

        def job(db: sqlite3.Connection) -> list[Touched]:
            gone = _touched(db, UNASKED, asked)
            gone += _touched(db, f"{FORGET} AND m.role <> 'user'", asked)
            sql = f"UPDATE memories AS m SET {RESAID} WHERE {SAID} RETURNING seq, person, id"  # noqa: S608
            revised = db.execute(sql, asked).fetchall()
            file_again(db, [int(row[0]) for row in revised])
            return gone + [Touched(person, id_) for _, person, id_ in revised]

        return await self._engine.run_job(job)

    async def embed(self, vectors: Sequence[tuple[str, Embedding]]) -> int:
        """Set the vectors of these memories, where they still exist; returns how many do."""
        return await self._engine.run_job(
            lambda db: sum(inserting.put_vector(db, storable(id_), one) for id_, one in vectors)
        )

    async def unembedded(
        self, model: str, limit: int, before: int | None = None, after: int = 0
    ) -> list[Unembedded]:
        """Current memories without a vector of this model, newest first."""
        found: list[Unembedded] = []
        upper = before or MAX_SEQ
        while len(found) < limit and upper > after + 1:
            asked = {"model": model, "limit": limit - len(found), "now": self._now()}
            some, upper = await self._engine.run_job(partial(_window, asked, upper, after))
            found += some
        return found

    async def embedded(self, model: str) -> tuple[int, int]:
        """How many memories have a vector of this model, of how many."""
        asked = {"model": model}
        done, every = await self._engine.run_job(lambda db: db.execute(EMBEDDED, asked).fetchone())
        return int(done), int(every)

    async def prune(self, now: datetime, superseded_before: datetime) -> list[str]:
        """Delete some of what expired, or was superseded before then; the ids."""
        asked = {"now": now.timestamp(), "superseded": superseded_before.timestamp()}
        return await self._engine.run_job(lambda db: _ids(db, PRUNE, asked))

    async def unfiled(self, limit: int, passed: Sequence[str]) -> list[str]:
        """Ids of some of what an older version of the program stored, the newest first."""
        return await self._engine.run_job(lambda db: unfiled(db, limit, passed))

    async def file(self, ids: Sequence[str]) -> int:
        """File these under their words; how many were not filed yet."""
        return await self._engine.run_job(lambda db: file_these(db, ids))

    async def merge(self) -> int:
        """One step of taking the words of deleted memories out of the index's file pages; the
        number of steps done, 0 when there is nothing to do.

        FTS5 only marks a deleted text until its pages are merged (its `secure-delete` would make
        the file unreadable to SQLite before 3.42).
        """
        return await self._engine.run_job(_merge)

    def _now(self) -> float:
        return self._clock.now().timestamp()


def _window(
    asked: dict[str, object], before: int, after: int, db: sqlite3.Connection
) -> tuple[list[Unembedded], int]:
    """Some memories without a vector, and below which number it goes on; at most 2,000 are looked
    at."""
    last = db.execute(WINDOW, (before,)).fetchone()
    lowest = after if last is None else max(int(last[0]) - 1, after)
    rows = db.execute(UNEMBEDDED, asked | {"before": before, "after": lowest}).fetchall()
    return [Unembedded(*row) for row in rows], lowest + 1


def _merge(db: sqlite3.Connection) -> int:
    due = db.execute("SELECT due FROM memory_upkeep WHERE task = 'merge'").fetchone()[0]
    if not due:
        return 0
    pages = -MERGE_PAGES if due == 1 else MERGE_PAGES  # the first step marks everything for merging
    before = db.total_changes
    db.execute("INSERT INTO memories_text (memories_text, rank) VALUES ('merge', ?)", (pages,))
    done = due > 1 and db.total_changes - before < 2  # as SQLite documents the end of a merge
    db.execute("UPDATE memory_upkeep SET due = ? WHERE task = 'merge'", (0 if done else 2,))
    return 1


def _take_back(db: sqlite3.Connection, asked: Mapping[str, object], memory_id: str) -> list[str]:
    found = db.execute(TAKEN, {**asked, "id": memory_id}).fetchone()
    if found is None:
        return []
    old, following = found
    chain = {**asked, "id": memory_id, "old": old, "next": following}
    db.execute(RESTORE, chain)
    db.execute(FOLLOW, chain)
    return _ids(db, DELETE, {**asked, "ids": _json([memory_id])})


def _ids(db: sqlite3.Connection, sql: str, asked: Mapping[str, object]) -> list[str]:
    return [str(row[0]) for row in db.execute(sql, asked).fetchall()]


def _touched(db: sqlite3.Connection, sql: str, asked: dict[str, object]) -> list[Touched]:
    return [Touched(*row) for row in db.execute(f"{sql} RETURNING person, id", asked).fetchall()]


def _messages(
    tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
) -> dict[str, object]:
    where = ":".join(channel)
    return {
        "for_tenant": storable(tenant),
        "origins": _json([origin(where, i) for i in message_ids]),
        "channel": storable(where),
        "messages": _json(message_ids),
    }


def _json(values: Sequence[str]) -> str:
    return json.dumps([storable(value) for value in values])
