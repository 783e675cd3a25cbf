"""Finds candidates for recall in PostgreSQL."""

from collections.abc import Sequence
from typing import Final

from db.postgres import PostgresDatabase
from db.values import storable
from gateway.ports import Clock
from memory.recall.ports import Hit
from memory.record import Embedding, Record
from memory.scope import Reach
from memory.store.ports import Filter
from memory.store.postgres.conditions import VISIBLE
from memory.store.postgres.lexical import lexical
from memory.store.postgres.nearest import nearest
from memory.store.postgres.reach import parameters
from memory.store.postgres.rows import SELECTED, record_from
from memory.store.postgres.vectors import PostgresVectors

BESIDE: Final = f"""
    SELECT m.seq FROM memories m
    WHERE m.tenant = t.tenant AND m.conversation = t.conversation AND m.role <> ''
        AND m.superseded_by = '' AND {VISIBLE}
"""  # noqa: S608 - constants
NEIGHBOURS: Final = f"""
    WITH these AS MATERIALIZED (
        SELECT m.seq, m.tenant, m.conversation, m.at,
            m.role <> '' AND m.conversation <> '' AND m.id = ANY (%(lending)s::text[]) AS lends
        FROM memories m WHERE m.id = ANY (%(ids)s::text[]) AND {VISIBLE}
    ), wanted AS (
        SELECT seq FROM these
        UNION SELECT b.seq FROM these t, LATERAL (
            ({BESIDE} AND (m.at, m.seq) < (t.at, t.seq)
                ORDER BY m.at DESC, m.seq DESC LIMIT %(span)s)
            UNION ALL
            ({BESIDE} AND (m.at, m.seq) > (t.at, t.seq)
                ORDER BY m.at, m.seq LIMIT %(span)s)
        ) b WHERE t.lends
    )
    SELECT {SELECTED} FROM memories m WHERE m.seq IN (SELECT seq FROM wanted)
    ORDER BY m.conversation, m.at, m.seq
"""  # noqa: S608 - constants


class PostgresRecall:
    """Implements `memory.recall.ports.RecallStore`."""

    def __init__(self, engine: PostgresDatabase, clock: Clock, vectors: PostgresVectors) -> None:
        self._engine = engine
        self._clock = clock
        self._vectors = vectors

    async def lexical(self, reach: Reach, query: str, wanted: Filter, limit: int) -> list[Hit]:
        """By the words of `query` (BM25), best first."""
        found = await lexical(self._engine, reach, query, wanted, limit, self._clock.now())
        return [Hit(*hit) for hit in found]

    async def nearest(
        self, reach: Reach, query: Embedding, wanted: Filter, limit: int
    ) -> list[Hit]:
        """By cosine similarity to vectors of the same model, best first."""
        now = self._clock.now()
        found = await nearest(self._engine, self._vectors, reach, query, wanted, limit, now)
        return [Hit(*hit) for hit in found]

    async def neighbours(
        self, reach: Reach, ids: Sequence[str], span: int, alone: Sequence[str] = ()
    ) -> list[Record]:
        """These memories and the turns around them, as far as they may be seen."""
        asked = parameters(reach) | {"now": self._clock.now(), "span": max(0, span)}
        asked["lending"] = [storable(one) for one in ids]
        asked["ids"] = [storable(one) for one in (*ids, *alone)]
        return [record_from(row) for row in await self._engine.fetch_raw(NEIGHBOURS, asked)]
