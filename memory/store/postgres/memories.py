"""The records in PostgreSQL. Every call but `insert` is one statement, and thus one transaction."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from db.postgres import Connection, PostgresDatabase
from db.values import storable
from gateway.ports import Clock
from memory.record import Embedding, Kind, Record, Tier
from memory.scope import Reach
from memory.store.alike import Filed, filed_under, same_among
from memory.store.guard import check_limit, check_turn, check_writable
from memory.store.ports import Filter, Insertion, Like, Match, Touched, Unembedded
from memory.store.postgres.conditions import HOLDS, VISIBLE
from memory.store.postgres.filing import UNFILED, file_again, file_these
from memory.store.postgres.finding import find, tally
from memory.store.postgres.inserting import (
    CANDIDATES,
    COUNT,
    PUT_VECTOR,
    insert,
    keep_turn,
    questions,
)
from memory.store.postgres.locks import LOCK, lock_numbers
from memory.store.postgres.reach import MAY_CHANGE, OWN, parameters
from memory.store.postgres.rows import SELECTED, record_from, vector, vector_text
from memory.store.postgres.vectors import PostgresVectors
from memory.store.rows import origin

AT_ONCE: Final = 2_000
"""Rows that one step of forgetting deletes, so that no lock is held for long."""

WINDOW: Final = 50_000
"""Numbers among which memories without a vector are looked for at once."""

GET: Final = f"SELECT {SELECTED} FROM memories m WHERE m.id = %(id)s AND {VISIBLE}"  # noqa: S608
VECTOR: Final = """
    SELECT v.model, v.vector::text FROM memory_vectors v JOIN memories m ON m.seq = v.memory
    WHERE m.id = %(id)s
"""
THERE: Final = f"""
    SELECT m.id FROM memories m WHERE m.id = ANY (%(ids)s::text[]) AND {HOLDS}
"""  # noqa: S608 - constants
DELETE: Final = f"""
    DELETE FROM memories m WHERE m.id = ANY (%(ids)s::text[]) AND {MAY_CHANGE} RETURNING m.id
"""  # noqa: S608 - constants
TAKEN: Final = f"""
    SELECT m.supersedes, m.superseded_by FROM memories m
    WHERE m.id = %(id)s AND {MAY_CHANGE} FOR UPDATE
"""  # noqa: S608 - constants
RESTORE: Final = f"""
    UPDATE memories m SET superseded_by = %(next)s::text,
        superseded_at = CASE WHEN %(next)s::text = '' THEN NULL ELSE m.superseded_at END
    WHERE m.id = %(old)s AND m.superseded_by = %(id)s AND {MAY_CHANGE}
"""  # noqa: S608 - constants
FOLLOW: Final = """
    UPDATE memories SET supersedes = %(old)s WHERE id = %(next)s AND supersedes = %(id)s
"""
CLEAR: Final = f"""
    DELETE FROM memories m WHERE m.tenant = %(for_tenant)s AND {OWN}
        AND m.tier = ANY (%(tiers)s::text[])
"""  # noqa: S608 - constants
DERIVED: Final = """
    m.tenant = %(for_tenant)s AND m.seq IN (
        SELECT memory FROM memory_origins WHERE origin = ANY (%(origins)s::text[]))
"""
PROPOSED: Final = """
    r.tenant = %(for_tenant)s AND r.state = 'pending' AND r.target = ''
    AND r.record::jsonb #>> '{provenance,channel}' = %(channel)s
    AND r.record::jsonb -> 'derived_from' ?| %(messages)s::text[]
"""
"""What waits for its owner's word, and goes back to one of these messages."""
UNASKED: Final = f"DELETE FROM memory_reviews r WHERE {PROPOSED}"  # noqa: S608 - constants
KNOWS: Final = f"""
    SELECT EXISTS (SELECT FROM memories m WHERE {DERIVED})
        OR EXISTS (SELECT FROM memory_reviews r WHERE {PROPOSED})
"""  # noqa: S608 - constants
FORGET: Final = f"DELETE FROM memories m WHERE {DERIVED} AND NOT m.confirmed"  # noqa: S608
FORGET_ALL: Final = f"""
    WITH unasked AS ({UNASKED} RETURNING r.person, r.id),
    gone AS ({FORGET} RETURNING m.person, m.id)
    SELECT * FROM unasked UNION ALL SELECT * FROM gone
"""  # noqa: S608 - constants
REVISE: Final = f"""
    WITH unasked AS ({UNASKED} RETURNING r.person, r.id, NULL::bigint),
    gone AS ({FORGET} AND m.role <> 'user' RETURNING m.person, m.id, NULL::bigint), changed AS (
        UPDATE memories m SET content = %(content)s, claim = %(content)s,
            words = NULL, length = NULL, lexemes = ''
        WHERE {DERIVED} AND m.role = 'user' AND NOT m.confirmed RETURNING m.person, m.id, m.seq
    )
    SELECT * FROM unasked UNION ALL SELECT * FROM gone UNION ALL SELECT * FROM changed
"""  # noqa: S608 - constants
NEXT: Final = "SELECT coalesce(max(seq), 0) + 1 FROM memories"
NOT_EMBEDDED: Final = """
    SELECT m.seq, m.id, m.content FROM memories m
    LEFT JOIN memory_vectors v ON v.memory = m.seq
    WHERE m.seq < %(before)s AND m.seq > %(after)s
        AND v.model IS DISTINCT FROM %(model)s AND m.superseded_by = ''
        AND (m.expires_at IS NULL OR m.expires_at > %(now)s)
    ORDER BY m.seq DESC LIMIT %(limit)s
"""
EMBEDDED: Final = """
    SELECT (SELECT count(*) FROM memory_vectors WHERE model = %(model)s),
        (SELECT count(*) FROM memories)
"""
PRUNE: Final = f"""
    DELETE FROM memories WHERE seq IN (
        SELECT seq FROM memories WHERE expires_at <= %(now)s OR superseded_at <= %(superseded)s
        LIMIT {AT_ONCE} FOR UPDATE SKIP LOCKED
    ) RETURNING id
"""  # noqa: S608 - constants


class PostgresMemories:
    """Implements `memory.store.ports.MemoryStore`."""

    def __init__(self, engine: PostgresDatabase, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock
        self.vectors = PostgresVectors(engine)

    async def insert(
        self, reach: Reach, record: Record, *, threshold: float, quota: int | None
    ) -> Insertion:
        """Store a record, in one step with everything that speaks against it."""
        check_writable(reach, record)
        filed = filed_under(reach, record, threshold)
        asked = await self._asked(reach, record, filed)

        async def work(connection: Connection) -> Insertion:
            return await insert(
                connection, reach, record, filed, asked, threshold=threshold, quota=quota
            )

        return await self._engine.with_connection(work)

    async def like(self, reach: Reach, record: Record, *, threshold: float) -> Like | None:
        """The current memory that would keep `insert` from storing this one as a duplicate."""
        filed = filed_under(reach, record, threshold)
        asked = questions(reach, record, filed, self._clock.now())
        rows = await self._engine.fetch_raw(CANDIDATES, asked) if filed.lookup else []
        return same_among(filed, ((id_, text) for id_, text in rows), threshold)

    async def keep_turns(self, reach: Reach, records: Sequence[Record]) -> None:
        """Store turns of a conversation, without any check; the same id again is replaced."""
        for record in records:
            check_turn(reach, record)
        turns = [await self._asked(reach, record, Filed()) for record in records]
        locks = lock_numbers(f"turn {record.id}" for record in records)

        async def work(connection: Connection) -> None:
            async with connection.transaction():
                await connection.execute(LOCK, (locks,))
                for turn in turns:
                    await keep_turn(connection, turn)

        await self._engine.with_connection(work)

    async def find(self, reach: Reach, wanted: Filter) -> list[Match]:
        """What may be seen and fits, without its vectors."""
        check_limit(wanted)
        return await find(self._engine, reach, wanted, self._clock.now())

    async def get(self, reach: Reach, memory_id: str) -> Record | None:
        """One memory with its vector, None when there is none or it may not be seen."""
        asked = parameters(reach) | {"now": self._clock.now()} | {"id": storable(memory_id)}
        rows = await self._engine.fetch_raw(GET, asked)
        if not rows:
            return None
        found = await self._engine.fetch_raw(VECTOR, asked) if await self.vectors.there() else []
        embedding = Embedding(found[0][0], vector(found[0][1])) if found else None
        return record_from(rows[0], embedding)

    async def visible(self, reach: Reach, memory_ids: Sequence[str]) -> set[str]:
        """Which of these memories are still there and true, and may be seen."""
        asked = parameters(reach) | {
            "now": self._clock.now(),
            "ids": [storable(id_) for id_ in memory_ids],
        }
        return {str(row[0]) for row in await self._engine.fetch_raw(THERE, asked)}

    async def count(self, reach: Reach) -> int:
        """How many memories count towards this person's plan."""
        rows = await self._engine.fetch_raw(COUNT, parameters(reach) | {"now": self._clock.now()})
        return int(rows[0][0])

    async def tally(self, reach: Reach, wanted: Filter) -> dict[Kind, int]:
        """How many of the person's own there are of each kind."""
        return await tally(self._engine, reach, wanted, self._clock.now())

    async def delete(self, reach: Reach, memory_ids: Sequence[str]) -> list[str]:
        """Delete what may be changed; the ids that went."""
        asked = parameters(reach) | {"ids": [storable(id_) for id_ in memory_ids]}
        return [str(row[0]) for row in await self._engine.fetch_raw(DELETE, asked)]

    async def take_back(self, reach: Reach, memory_ids: Sequence[str]) -> list[str]:
        """Delete these, and restore what they superseded; the ids that went."""
        asked = parameters(reach)

        async def work(connection: Connection) -> list[str]:
            gone: list[str] = []
            async with connection.transaction():
                for id_ in map(storable, memory_ids):
                    gone += await _take_back(connection, asked | {"id": id_, "ids": [id_]})
            return gone

        return await self._engine.with_connection(work)

    async def clear(self, reach: Reach, tiers: Sequence[Tier]) -> int:
        """Delete everything of the person's own in these tiers."""
        asked = parameters(reach) | {"tiers": [tier.value for tier in tiers]}
        return await self._engine.change_raw(CLEAR, asked)

    async def knows_message(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> bool:
        """True when a memory, or one that waits, goes back to one of these messages."""
        rows = await self._engine.fetch_raw(KNOWS, _messages(tenant, channel, message_ids))
        return bool(rows[0][0])

    async def forget_message(
        self, tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
    ) -> list[Touched]:
        """Delete what was derived from these messages and never confirmed."""
        asked = _messages(tenant, channel, message_ids)
        return [Touched(*row) for row in await self._engine.fetch_raw(FORGET_ALL, asked)]

    async def revise_message(
        self, tenant: str, channel: tuple[str, str, str], message_id: str, content: str
    ) -> list[Touched]:
        """Replace the stored turn; delete what else was derived and never confirmed."""
        asked = _messages(tenant, channel, (message_id,))
        asked |= {"content": storable(content)}

        async def work(connection: Connection) -> list[Touched]:
            async with connection.transaction():
                touched = await (await connection.execute(REVISE, asked)).fetchall()
                await file_again(connection, [seq for _, _, seq in touched if seq is not None])
            return [Touched(person, id_) for person, id_, _ in touched]

        return await self._engine.with_connection(work)

    async def embed(self, vectors: Sequence[tuple[str, Embedding]]) -> int:
        """Set the vectors of these memories; how many exist, 0 without the extension `vector`."""
        if not vectors or not await self.vectors.made():
            return 0

        async def work(connection: Connection) -> int:
            found = 0
            async with connection.transaction():
                for memory_id, embedding in vectors:
                    asked = {"id": storable(memory_id), **_vector_of(embedding)}
                    found += (await connection.execute(PUT_VECTOR, asked)).rowcount
            return found

        return await self._engine.with_connection(work)

    async def unembedded(
        self, model: str, limit: int, before: int | None = None, after: int = 0
    ) -> list[Unembedded]:
        """Current memories without a vector of this model, newest first; none where vectors cannot
        be kept."""
        if not await self.vectors.made():
            return []
        upper = before
        if upper is None:
            upper = int((await self._engine.fetch_raw(NEXT))[0][0])
        found: list[Unembedded] = []
        while len(found) < limit and upper > after + 1:
            lower = max(after, upper - WINDOW)
            asked = {"model": model, "limit": limit - len(found), "now": self._clock.now()}
            asked |= {"before": upper, "after": lower}
            found += [Unembedded(*row) for row in await self._engine.fetch_raw(NOT_EMBEDDED, asked)]
            upper = lower + 1
        return found

    async def embedded(self, model: str) -> tuple[int, int]:
        """How many memories have a vector of this model, of how many."""
        if not await self.vectors.made():
            return 0, 0
        done, every = (await self._engine.fetch_raw(EMBEDDED, {"model": model}))[0]
        return int(done), int(every)

    async def unfiled(self, limit: int, passed: Sequence[str]) -> list[str]:
        """Ids of some of what an older version of the program stored, the newest first."""
        asked = {"limit": limit, "passed": list(passed)}
        return [str(row[0]) for row in await self._engine.fetch_raw(UNFILED, asked)]

    async def file(self, ids: Sequence[str]) -> int:
        """File these under their words; how many were not filed yet."""

        async def work(connection: Connection) -> int:
            return await file_these(connection, ids)

        return await self._engine.with_connection(work)

    async def prune(self, now: datetime, superseded_before: datetime) -> list[str]:
        """Delete some of what expired, or was superseded before then; the ids."""
        asked = {"now": now, "superseded": superseded_before}
        return [str(row[0]) for row in await self._engine.fetch_raw(PRUNE, asked)]

    async def _asked(self, reach: Reach, record: Record, filed: Filed) -> dict[str, object]:
        asked = questions(reach, record, filed, self._clock.now())
        if record.embedding is not None and await self.vectors.made():
            asked |= _vector_of(record.embedding)
        return asked


def _vector_of(embedding: Embedding) -> dict[str, object]:
    return {"model": embedding.model, "vector": vector_text(embedding.vector)}


def _messages(
    tenant: str, channel: tuple[str, str, str], message_ids: Sequence[str]
) -> dict[str, object]:
    where = ":".join(channel)
    return {
        "for_tenant": storable(tenant),
        "origins": [origin(where, message_id) for message_id in message_ids],
        "channel": storable(where),
        "messages": [storable(message_id) for message_id in message_ids],
    }


async def _take_back(connection: Connection, asked: dict[str, object]) -> list[str]:
    found = await (await connection.execute(TAKEN, asked)).fetchone()
    if found is None:
        return []
    chain = asked | {"old": found[0], "next": found[1]}
    await connection.execute(RESTORE, chain)
    await connection.execute(FOLLOW, chain)
    return [str(row[0]) for row in await (await connection.execute(DELETE, asked)).fetchall()]
