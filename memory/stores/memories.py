"""The store of memories."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final

from db import (
    FOR_UPDATE,
    SKIP_LOCKED,
    Database,
    Params,
    Row,
    Statement,
    Work,
    among,
    either,
    fetch,
    fetch_first,
    together,
)
from db.database import AT_ONCE
from db.statements import within
from db.transaction import Change, ChangeMany, Execute, Fetch
from db.values import micros, storable
from gateway.ports import Clock
from memory.model.record import Embedding, Kind, Record, Tier
from memory.model.scope import MAY_CHANGE, OWN, SEES, AccessScope
from memory.ports.memories import (
    ChangedMemory,
    Duplicate,
    Filter,
    Insertion,
    Match,
    TextVector,
    Unembedded,
)
from memory.stores import insert as inserting
from memory.stores import message_changes
from memory.stores.filters import (
    MAX_STATEMENTS,
    TRUE_NOW,
    by_reader,
    conditions_of,
    statement,
    values_of,
    visible_at,
)
from memory.stores.insert import (
    CANDIDATES,
    COUNT,
    UNCOMPARED,
    DuplicateKeys,
    NewRecord,
    duplicate_keys_of,
    looked_up,
)
from memory.stores.limits import check_limit, check_turn, check_writable
from memory.stores.partitions import owners_within
from memory.stores.rows import SELECTED, record_from
from memory.stores.search import Searches
from memory.stores.shared_memories import (
    LAST,
    LATEST_MEMORIES,
    LISTED,
    SharedWords,
    audiences_of_reader,
)

IN_ROOM: Final = "m.tenant = :for_tenant AND m.room = :for_room AND m.room <> ''"
TALLY: Final = f"""
    SELECT m.kind, count(*) FROM memories m WHERE m.tenant = :for_tenant AND {OWN} AND
"""
AFTER: Final = f"""
    (m.at, m.seq) < (SELECT m.at, m.seq FROM memories m WHERE m.id = :after AND {SEES})
"""
RECORDS: Final = by_reader(
    lambda visible: (
        f"SELECT m.seq, {SELECTED} FROM memories m WHERE {among('m.seq', 'seqs')} AND {visible}"
    )
)


def _newest_statement(
    access: AccessScope, filters: Filter, now: int, audiences: Sequence[str] = ()
) -> tuple[Statement, Params]:
    """Return the statement for the newest matches, with rows of `SELECTED`; `audiences` are those
    of an agent."""
    owners = owners_within(access)
    values = values_of(access, filters, now)
    values |= {f"owner{number}": owner for number, owner in enumerate(owners)}
    conditions = conditions_of(access, filters)
    if filters.after_id:
        conditions = f"{conditions} AND {AFTER}"
    places = (IN_ROOM,) if access.room else ()
    if audiences and not filters.own_only:
        places = (*places, LATEST_MEMORIES)
        values |= {"names": audiences, "before": LAST, "page": LISTED}
    return _newest(conditions, len(owners), places), values


def _tally_statement(access: AccessScope, filters: Filter, now: int) -> tuple[Statement, Params]:
    """Return the statement that counts own matches by kind."""
    counted = statement(f"{TALLY} {conditions_of(access, filters)} GROUP BY m.kind")
    return counted, values_of(access, filters, now)


@lru_cache(MAX_STATEMENTS)
def _newest(conditions: str, owners: int, places: tuple[str, ...]) -> Statement:
    """Read the newest of each owner and of `places`, the room and pools, by an index; the newest
    of all are among them."""
    parts = [*(f"m.owner = :owner{number}" for number in range(owners)), *places]
    rest = f"{conditions} ORDER BY m.at DESC, m.seq DESC LIMIT :limit"
    newest = " UNION ".join(
        f"SELECT * FROM (SELECT m.at, m.seq FROM memories m WHERE {part} AND {rest}) AS p{number}"
        for number, part in enumerate(parts)
    )
    some = f"SELECT seq FROM ({newest} ORDER BY 1 DESC, 2 DESC LIMIT :limit) AS newest"
    return Statement(f"""
        SELECT {SELECTED} FROM memories m WHERE {within("m.seq", some)}
        ORDER BY m.at DESC, m.seq DESC
    """)


WINDOW: Final = {"sqlite": 2_000, "postgres": 50_000}
"""Numbers among which memories without a vector are searched at once: some milliseconds, because
SQLite works on the event loop."""
KEPT_VECTOR: Final = either(sqlite="v.vector", postgres="CAST(v.vector AS text)")
GET: Final = by_reader(
    lambda visible: f"SELECT {SELECTED} FROM memories m WHERE m.id = :id AND {visible}"
)
GET_WITH_VECTOR: Final = by_reader(
    lambda visible: (
        f"""
        SELECT {SELECTED}, v.model, {KEPT_VECTOR} FROM memories m
        LEFT JOIN memory_vectors v ON v.memory = m.seq WHERE m.id = :id AND {visible}
    """
    )
)
THERE: Final = by_reader(
    lambda visible: (
        f"SELECT m.id FROM memories m WHERE {among('m.id', 'ids')} AND {visible} AND {TRUE_NOW}"
    )
)
DELETE: Final = Statement(
    f"DELETE FROM memories AS m WHERE {among('m.id', 'ids')} AND {MAY_CHANGE} RETURNING id"
)
TAKEN: Final = Statement(f"""
    SELECT m.supersedes, m.superseded_by FROM memories m WHERE m.id = :id AND {MAY_CHANGE}
    {FOR_UPDATE}
""")
RESTORE: Final = Statement(f"""
    UPDATE memories AS m SET superseded_by = :next,
        superseded_at = CASE WHEN :next = '' THEN NULL ELSE m.superseded_at END
    WHERE m.id = :old AND m.superseded_by = :id AND {MAY_CHANGE}
""")
FOLLOW: Final = Statement(
    "UPDATE memories SET supersedes = :old WHERE id = :next AND supersedes = :id"
)
REPLACED: Final = Statement(f"""
    SELECT m.superseded_by FROM memories m WHERE m.id = :id AND {MAY_CHANGE} AND m.role = ''
        AND m.superseded_by <> '' AND (m.expires_at IS NULL OR m.expires_at > :now) {FOR_UPDATE}
""")
SUCCESSOR: Final = Statement(f"""
    SELECT m.superseded_by FROM memories m WHERE m.id = :id AND {MAY_CHANGE}
""")
CURRENT_AGAIN: Final = Statement("""
    UPDATE memories SET superseded_by = '', superseded_at = NULL WHERE id = :id
""")
NO_LONGER_REPLACES: Final = Statement("""
    UPDATE memories SET supersedes = '' WHERE id = :next AND supersedes = :id
""")
MAX_SUCCESSORS: Final = 20
"""Memories that replaced each other, one after the other, that a restoration follows."""
CLEAR: Final = Statement(f"""
    DELETE FROM memories AS m WHERE m.tenant = :for_tenant AND {OWN} AND {among("m.tier", "tiers")}
""")
NEXT: Final = Statement("SELECT coalesce(max(seq), 0) + 1 FROM memories")
DIMENSION: Final = either(sqlite="v.dimension", postgres="vector_dims(v.vector)")
UNEMBEDDED: Final = Statement(f"""
    SELECT m.seq, m.id, m.content FROM memories m LEFT JOIN memory_vectors v ON v.memory = m.seq
    WHERE m.seq < :before AND m.seq > :after AND (v.model IS NULL OR v.model <> :model
            OR (:dimension > 0 AND {DIMENSION} <> :dimension))
        AND m.superseded_by = '' AND (m.expires_at IS NULL OR m.expires_at > :now)
    ORDER BY m.seq DESC LIMIT :limit
""")
DIMENSIONS: Final = Statement(f"""
    SELECT {DIMENSION}, count(*) FROM memory_vectors v WHERE v.model = :model GROUP BY 1 ORDER BY 1
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
""")


class SqlMemories:
    """Implements `memory.ports.memories.MemoryStore`."""

    def __init__(self, database: Database, clock: Clock, searches: Searches) -> None:
        self._database = database
        self._clock = clock
        self._words, self._vectors = searches.words, searches.vectors
        self._shared = SharedWords(database, searches.words.shares)

    async def insert(
        self, access: AccessScope, record: Record, *, threshold: float | None, quota: int | None
    ) -> Insertion:
        check_writable(access, record)
        keys, now = duplicate_keys_of(access, record, threshold), self._now()
        new = await self._new(access, record, keys)
        return await self._database.run(
            lambda: inserting.insert(new, threshold=threshold, quota=quota, now=now)
        )

    async def like(
        self, access: AccessScope, record: Record, *, threshold: float
    ) -> Duplicate | None:
        keys = duplicate_keys_of(access, record, threshold)
        params = looked_up(NewRecord(access, record, keys), self._now())
        rows = await self._database.fetch(CANDIDATES, params) if keys.lookup else []
        return inserting.like(keys, rows, threshold)

    async def keep_turns(self, access: AccessScope, records: Sequence[Record]) -> None:
        for record in records:
            check_turn(access, record)
        turns = [await self._new(access, record, UNCOMPARED) for record in records]
        if turns:
            await self._database.run(lambda: inserting.keep_turns(turns, locked=True))

    async def find(self, access: AccessScope, filters: Filter) -> list[Match]:
        check_limit(filters)
        now = self._now()
        if not filters.text:
            audiences = await audiences_of_reader(self._database, access)
            newest = _newest_statement(access, filters, now, audiences)
            rows = await self._database.fetch(*newest)
            return [Match(record_from(row), 0.0) for row in rows]
        if filters.similar:
            return await self._database.run(lambda: self._similar(access, filters, now))
        hits = await self._words.fitting(access, filters, now)
        if access.agent and not filters.after_id:
            hits = await self._with_shared(access, filters, now, hits)
        if not hits:
            return []
        params = visible_at(access, self._clock) | {"seqs": [seq for seq, _ in hits]}
        return _matches(hits, await self._database.fetch(RECORDS.of(access), params))

    async def get(self, access: AccessScope, memory_id: str) -> Record | None:
        params = visible_at(access, self._clock) | {"id": storable(memory_id)}
        if not await self._vectors.there():
            rows = await self._database.fetch(GET.of(access), params)
            return record_from(rows[0]) if rows else None
        rows = await self._database.fetch(GET_WITH_VECTOR.of(access), params)
        if not rows:
            return None
        *columns, model, kept = rows[0]
        embedding = None if model is None else Embedding(model, self._vectors.vector(kept))
        return record_from(tuple(columns), embedding)

    async def visible(self, access: AccessScope, memory_ids: Sequence[str]) -> set[str]:
        params = visible_at(access, self._clock) | {"ids": [storable(id_) for id_ in memory_ids]}
        return {str(id_) for (id_,) in await self._database.fetch(THERE.of(access), params)}

    async def count(self, access: AccessScope) -> int:
        ((counted,),) = await self._database.fetch(COUNT, visible_at(access, self._clock))
        return int(counted)

    async def tally(self, access: AccessScope, filters: Filter) -> dict[Kind, int]:
        rows = await self._database.fetch(*_tally_statement(access, filters, self._now()))
        return {Kind(kind): int(count) for kind, count in rows}

    async def delete(self, access: AccessScope, memory_ids: Sequence[str]) -> list[str]:
        params = access.parameters() | {"ids": [storable(id_) for id_ in memory_ids]}
        return [str(id_) for (id_,) in await self._database.fetch(DELETE, params)]

    async def take_back(self, access: AccessScope, memory_ids: Sequence[str]) -> list[str]:
        params = access.parameters()

        def work() -> Work[list[str]]:
            gone: list[str] = []
            for id_ in map(storable, memory_ids):
                gone += yield from _take_back(params, id_)
            return gone

        return await self._database.run(work)

    async def restore(self, access: AccessScope, memory_id: str) -> str | None:
        params = access.parameters() | {"id": storable(memory_id), "now": self._now()}
        return await self._database.run(lambda: _restore(params))

    async def clear(self, access: AccessScope, tiers: Sequence[Tier]) -> int:
        params = access.parameters() | {"tiers": [tier.value for tier in tiers]}
        return await self._database.change(CLEAR, params)

    async def knows_message(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> bool:
        params = message_changes.messages(tenant, channel, message_ids)
        ((known,),) = await self._database.fetch(message_changes.KNOWS, params)
        return bool(known)

    async def forget_message(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> list[ChangedMemory]:
        params = message_changes.messages(tenant, channel, message_ids)
        return await self._database.run(lambda: message_changes.forget(params))

    async def revise_message(
        self,
        tenant: str,
        channel: tuple[str, str, str],
        message_id: str,
        content: str,
        *,
        suspicious: bool = False,
    ) -> list[ChangedMemory]:
        params = message_changes.messages(tenant, channel, (message_id,))
        text = storable(content)
        return await self._database.run(
            lambda: message_changes.revise(params, text, suspicious=suspicious)
        )

    async def embed(self, vectors: Sequence[TextVector]) -> int:
        if not vectors or not await self._vectors.made():
            return 0
        items = [self._vectors.values(vector) for vector in vectors]

        def work() -> Work[int]:
            (count,) = yield from together(ChangeMany(self._vectors.setting, items), last=True)
            return int(count)

        return await self._database.run(work)

    async def unembedded(
        self,
        model: str,
        limit: int,
        before: int | None = None,
        after: int = 0,
        dimension: int = 0,
    ) -> list[Unembedded]:
        if not await self._vectors.made():
            return []
        upper = before
        if upper is None:
            upper = int((await self._database.fetch(NEXT))[0][0])
        rows: list[Unembedded] = []
        while len(rows) < limit and upper > after + 1:
            lower = max(after, upper - WINDOW[self._database.engine])
            params = {"model": storable(model), "limit": limit - len(rows), "now": self._now()}
            params |= {"before": upper, "after": lower, "dimension": dimension}
            rows += [Unembedded(*row) for row in await self._database.fetch(UNEMBEDDED, params)]
            upper = lower + 1
        return rows

    async def embedded(self, model: str) -> tuple[int, int]:
        if not await self._vectors.made():
            return 0, 0
        params = {"model": storable(model)}
        ((done, every),) = await self._database.fetch(EMBEDDED, params)
        return int(done), int(every)

    async def dimensions(self, model: str) -> dict[int, int]:
        if not await self._vectors.made():
            return {}
        rows = await self._database.fetch(DIMENSIONS, {"model": storable(model)})
        return {int(dimension): int(count) for dimension, count in rows}

    async def prune(self, now: datetime, superseded_before: datetime) -> list[str]:
        params = {
            "now": micros(now),
            "superseded": micros(superseded_before),
            "most": AT_ONCE[self._database.engine],
        }
        return [str(id_) for (id_,) in await self._database.fetch(PRUNE, params)]

    def _similar(self, access: AccessScope, filters: Filter, now: int) -> Work[list[Match]]:
        hits = yield from self._words.similar(access, filters, now)
        params = access.parameters() | {"now": now, "seqs": [seq for seq, _ in hits]}
        rows = (yield from fetch(RECORDS.of(access), params)) if hits else []
        return _matches(hits, rows)

    async def _with_shared(
        self, access: AccessScope, filters: Filter, now: int, hits: list[tuple[int, float]]
    ) -> list[tuple[int, float]]:
        best = dict(hits)
        for seq, score in await self._shared.fitting(access, filters, now):
            best[seq] = max(score, best.get(seq, 0.0))
        ordered = sorted(best.items(), key=lambda hit: (-hit[1], -hit[0]))
        return ordered[: filters.limit]

    async def _new(self, access: AccessScope, record: Record, keys: DuplicateKeys) -> NewRecord:
        if record.embedding is None or not await self._vectors.made():
            return NewRecord(access, record, keys)
        values = self._vectors.values(TextVector(record.id, record.content, record.embedding))
        return NewRecord(access, record, keys, Execute(self._vectors.setting, (values,)))

    def _now(self) -> int:
        return micros(self._clock.now())


def _matches(hits: Sequence[tuple[int, float]], rows: Sequence[Row]) -> list[Match]:
    """Return the records of `RECORDS` in the order of the hits."""
    records = {row[0]: row[1:] for row in rows}
    return [Match(record_from(records[seq]), score) for seq, score in hits if seq in records]


def _take_back(params: Mapping[str, object], memory_id: str) -> Work[list[str]]:
    taken = {**params, "id": memory_id, "ids": [memory_id]}
    row = yield from fetch_first(TAKEN, taken)
    if row is None:
        return []
    chain = {**taken, "old": row[0], "next": row[1]}
    steps = (Change(RESTORE, chain), Change(FOLLOW, chain), Fetch(DELETE, taken))
    *_, gone = yield from together(*steps)
    return [str(id_) for (id_,) in gone]


def _restore(params: Mapping[str, object]) -> Work[str | None]:
    row = yield from fetch_first(REPLACED, params)
    if row is None:
        return None
    successor = str(row[0])
    steps = (Change(CURRENT_AGAIN, params), Change(NO_LONGER_REPLACES, {**params, "next": row[0]}))
    yield from together(*steps)
    for _ in range(MAX_SUCCESSORS):
        row = yield from fetch_first(SUCCESSOR, {**params, "id": successor})
        if row is None:
            return ""
        if not row[0]:
            return successor
        successor = str(row[0])
    return ""
