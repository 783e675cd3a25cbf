"""The records."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from db import (
    FOR_UPDATE,
    SKIP_LOCKED,
    Database,
    Statement,
    Work,
    among,
    either,
    fetch_first,
    together,
)
from db.fragments import within
from db.pruning import AT_ONCE
from db.times import micros
from db.values import storable
from db.work import Change, ChangeMany, Execute, Fetch
from gateway.ports import Clock
from memory.model.record import Embedding, Kind, Record, Tier
from memory.model.scope import AccessScope
from memory.model.scope_sql import MAY_CHANGE, OWN, parameters
from memory.ports.memories import ChangedMemory, Duplicate, Filter, Insertion, Match, Unembedded
from memory.stores import find as finding
from memory.stores import insert as inserting
from memory.stores import message_changes
from memory.stores.duplicates import DuplicateKeys, duplicate_keys_of
from memory.stores.filters import HOLDS, VISIBLE, visible_at
from memory.stores.guard import check_limit, check_turn, check_writable
from memory.stores.insert import CANDIDATES, COUNT, UNCOMPARED, NewRecord, looked_up
from memory.stores.rows import SELECTED, record_from
from memory.stores.search import Searches

WINDOW: Final = {"sqlite": 2_000, "postgres": 50_000}
"""Numbers among which memories without a vector are looked for at once: some milliseconds, because
SQLite works on the event loop."""
KEPT_VECTOR: Final = either(sqlite="v.vector", postgres="CAST(v.vector AS text)")
GET: Final = Statement(f"SELECT {SELECTED} FROM memories m WHERE m.id = :id AND {VISIBLE}")  # noqa: S608
GET_WITH_VECTOR: Final = Statement(f"""
    SELECT {SELECTED}, v.model, {KEPT_VECTOR} FROM memories m
    LEFT JOIN memory_vectors v ON v.memory = m.seq WHERE m.id = :id AND {VISIBLE}
""")  # noqa: S608 - constants
THERE: Final = Statement(
    f"SELECT m.id FROM memories m WHERE {among('m.id', 'ids')} AND {HOLDS}"  # noqa: S608
)
DELETE: Final = Statement(
    f"DELETE FROM memories AS m WHERE {among('m.id', 'ids')} AND {MAY_CHANGE} RETURNING id"  # noqa: S608
)
TAKEN: Final = Statement(f"""
    SELECT m.supersedes, m.superseded_by FROM memories m WHERE m.id = :id AND {MAY_CHANGE}
    {FOR_UPDATE}
""")  # noqa: S608 - constants
RESTORE: Final = Statement(f"""
    UPDATE memories AS m SET superseded_by = :next,
        superseded_at = CASE WHEN :next = '' THEN NULL ELSE m.superseded_at END
    WHERE m.id = :old AND m.superseded_by = :id AND {MAY_CHANGE}
""")  # noqa: S608 - constants
FOLLOW: Final = Statement(
    "UPDATE memories SET supersedes = :old WHERE id = :next AND supersedes = :id"
)
CLEAR: Final = Statement(f"""
    DELETE FROM memories AS m WHERE m.tenant = :for_tenant AND {OWN} AND {among("m.tier", "tiers")}
""")  # noqa: S608 - constants
NEXT: Final = Statement("SELECT coalesce(max(seq), 0) + 1 FROM memories")
UNEMBEDDED: Final = Statement("""
    SELECT m.seq, m.id, m.content FROM memories m LEFT JOIN memory_vectors v ON v.memory = m.seq
    WHERE m.seq < :before AND m.seq > :after AND (v.model IS NULL OR v.model <> :model)
        AND m.superseded_by = '' AND (m.expires_at IS NULL OR m.expires_at > :now)
    ORDER BY m.seq DESC LIMIT :limit
""")
EMBEDDED: Final = Statement("""
    SELECT (SELECT count(*) FROM memory_vectors WHERE model = :model),
        (SELECT count(*) FROM memories)
""")
PRUNE: Final = Statement(f"""
    DELETE FROM memories WHERE {
    within(
        "seq",
        "SELECT seq FROM memories WHERE expires_at <= :now OR superseded_at <= :superseded"
        f" LIMIT :most {SKIP_LOCKED}",
    )
} RETURNING id
""")  # noqa: S608 - constants


class SqlMemories:
    """Implements `memory.ports.MemoryStore`."""

    def __init__(self, database: Database, clock: Clock, searches: Searches) -> None:
        self._database = database
        self._clock = clock
        self._words, self._vectors = searches.words, searches.vectors

    async def insert(
        self, access: AccessScope, record: Record, *, threshold: float, quota: int | None
    ) -> Insertion:
        """Store a record, in one step with everything that speaks against it."""
        check_writable(access, record)
        filed, now = duplicate_keys_of(access, record, threshold), self._now()
        new = await self._new(access, record, filed)
        return await self._database.run(
            lambda: inserting.insert(new, threshold=threshold, quota=quota, now=now)
        )

    async def like(
        self, access: AccessScope, record: Record, *, threshold: float
    ) -> Duplicate | None:
        """The current memory that would keep `insert` from storing this one as a duplicate."""
        filed = duplicate_keys_of(access, record, threshold)
        asked = looked_up(NewRecord(access, record, filed), self._now())
        rows = await self._database.fetch(CANDIDATES, asked) if filed.lookup else []
        return inserting.like(filed, rows, threshold)

    async def keep_turns(self, access: AccessScope, records: Sequence[Record]) -> None:
        """Store turns of a conversation, without any check; the same id again is replaced."""
        for record in records:
            check_turn(access, record)
        turns = [await self._new(access, record, UNCOMPARED) for record in records]
        if turns:
            await self._database.run(lambda: inserting.keep_turns(turns, locked=True))

    async def find(self, access: AccessScope, wanted: Filter) -> list[Match]:
        """What may be seen and fits, without its vectors."""
        check_limit(wanted)
        now = self._now()
        if not wanted.text:
            rows = await self._database.fetch(*finding.newest(access, wanted, now))
            return [Match(record_from(row), 0.0) for row in rows]
        found = await self._words.fitting(access, wanted, now)
        if not found:
            return []
        asked = visible_at(access, self._clock) | {"seqs": [seq for seq, _ in found]}
        records = {row[0]: row[1:] for row in await self._database.fetch(finding.RECORDS, asked)}
        return [Match(record_from(records[seq]), score) for seq, score in found if seq in records]

    async def get(self, access: AccessScope, memory_id: str) -> Record | None:
        """One memory with its vector, None when there is none or it may not be seen."""
        asked = visible_at(access, self._clock) | {"id": storable(memory_id)}
        if not await self._vectors.there():
            rows = await self._database.fetch(GET, asked)
            return record_from(rows[0]) if rows else None
        rows = await self._database.fetch(GET_WITH_VECTOR, asked)
        if not rows:
            return None
        *columns, model, kept = rows[0]
        embedding = None if model is None else Embedding(model, self._vectors.vector(kept))
        return record_from(tuple(columns), embedding)

    async def visible(self, access: AccessScope, memory_ids: Sequence[str]) -> set[str]:
        """Which of these memories are still there and true, and may be seen."""
        asked = visible_at(access, self._clock) | {"ids": [storable(id_) for id_ in memory_ids]}
        return {str(id_) for (id_,) in await self._database.fetch(THERE, asked)}

    async def count(self, access: AccessScope) -> int:
        """How many memories count towards this person's plan."""
        ((counted,),) = await self._database.fetch(COUNT, visible_at(access, self._clock))
        return int(counted)

    async def tally(self, access: AccessScope, wanted: Filter) -> dict[Kind, int]:
        """How many of the person's own there are of each kind."""
        rows = await self._database.fetch(*finding.tally(access, wanted, self._now()))
        return {Kind(kind): int(count) for kind, count in rows}

    async def delete(self, access: AccessScope, memory_ids: Sequence[str]) -> list[str]:
        """Delete what may be changed; the ids that went."""
        asked = parameters(access) | {"ids": [storable(id_) for id_ in memory_ids]}
        return [str(id_) for (id_,) in await self._database.fetch(DELETE, asked)]

    async def take_back(self, access: AccessScope, memory_ids: Sequence[str]) -> list[str]:
        """Delete these, and restore what they superseded; the ids that went."""
        asked = parameters(access)

        def work() -> Work[list[str]]:
            gone: list[str] = []
            for id_ in map(storable, memory_ids):
                gone += yield from _take_back(asked, id_)
            return gone

        return await self._database.run(work)

    async def clear(self, access: AccessScope, tiers: Sequence[Tier]) -> int:
        """Delete everything of the person's own in these tiers."""
        asked = parameters(access) | {"tiers": [tier.value for tier in tiers]}
        return await self._database.change(CLEAR, asked)

    async def knows_message(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> bool:
        """True when a memory, or one that waits, goes back to one of these messages."""
        asked = message_changes.messages(tenant, channel, message_ids)
        ((known,),) = await self._database.fetch(message_changes.KNOWS, asked)
        return bool(known)

    async def forget_message(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> list[ChangedMemory]:
        """Delete what was derived from these messages and never confirmed."""
        asked = message_changes.messages(tenant, channel, message_ids)
        return await self._database.run(lambda: message_changes.forget(asked))

    async def revise_message(
        self, tenant: str, channel: tuple[str, str, str], message_id: str, content: str
    ) -> list[ChangedMemory]:
        """Replace the stored turn; delete what else was derived and never confirmed."""
        asked = message_changes.messages(tenant, channel, (message_id,))
        return await self._database.run(lambda: message_changes.revise(asked, storable(content)))

    async def embed(self, vectors: Sequence[tuple[str, Embedding]]) -> int:
        """Set the vectors of these memories; how many exist, 0 where vectors cannot be kept."""
        if not vectors or not await self._vectors.made():
            return 0
        items = [self._vectors.values(id_, embedding) for id_, embedding in vectors]

        def work() -> Work[int]:
            (count,) = yield from together(ChangeMany(self._vectors.setting, items), last=True)
            return int(count)

        return await self._database.run(work)

    async def unembedded(
        self, model: str, limit: int, before: int | None = None, after: int = 0
    ) -> list[Unembedded]:
        """Current memories without a vector of this model, newest first; none where vectors cannot
        be kept."""
        if not await self._vectors.made():
            return []
        upper = before
        if upper is None:
            upper = int((await self._database.fetch(NEXT))[0][0])
        found: list[Unembedded] = []
        while len(found) < limit and upper > after + 1:
            lower = max(after, upper - WINDOW[self._database.engine])
            asked = {"model": storable(model), "limit": limit - len(found), "now": self._now()}
            asked |= {"before": upper, "after": lower}
            found += [Unembedded(*row) for row in await self._database.fetch(UNEMBEDDED, asked)]
            upper = lower + 1
        return found

    async def embedded(self, model: str) -> tuple[int, int]:
        """How many memories have a vector of this model, of how many."""
        if not await self._vectors.made():
            return 0, 0
        asked = {"model": storable(model)}
        ((done, every),) = await self._database.fetch(EMBEDDED, asked)
        return int(done), int(every)

    async def prune(self, now: datetime, superseded_before: datetime) -> list[str]:
        """Delete some of what expired, or was superseded before then; the ids."""
        asked = {
            "now": micros(now),
            "superseded": micros(superseded_before),
            "most": AT_ONCE[self._database.engine],
        }
        return [str(id_) for (id_,) in await self._database.fetch(PRUNE, asked)]

    async def _new(self, access: AccessScope, record: Record, filed: DuplicateKeys) -> NewRecord:
        if record.embedding is None or not await self._vectors.made():
            return NewRecord(access, record, filed)
        values = self._vectors.values(record.id, record.embedding)
        return NewRecord(access, record, filed, Execute(self._vectors.setting, (values,)))

    def _now(self) -> int:
        return micros(self._clock.now())


def _take_back(asked: Mapping[str, object], memory_id: str) -> Work[list[str]]:
    taken = {**asked, "id": memory_id, "ids": [memory_id]}
    found = yield from fetch_first(TAKEN, taken)
    if found is None:
        return []
    chain = {**taken, "old": found[0], "next": found[1]}
    steps = (Change(RESTORE, chain), Change(FOLLOW, chain), Fetch(DELETE, taken))
    *_, gone = yield from together(*steps)
    return [str(id_) for (id_,) in gone]
