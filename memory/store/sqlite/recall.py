"""Finds candidates for recall in SQLite."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from db.sqlite import SqliteDatabase
from db.values import storable
from gateway.ports import Clock
from memory.recall.ports import Hit
from memory.record import Embedding, Record
from memory.scope import Reach
from memory.store.ports import Filter
from memory.store.sqlite.conditions import VISIBLE
from memory.store.sqlite.lexical import lexical
from memory.store.sqlite.reach import parameters
from memory.store.sqlite.rows import SELECTED, record_from

if TYPE_CHECKING:
    from memory.store.sqlite.nearest import NearestVectors

_BESIDE: Final = {
    sign: f"""
        SELECT b.seq FROM these t JOIN memories b ON b.seq IN (
            SELECT m.seq FROM memories m
            WHERE m.tenant = t.tenant AND m.conversation = t.conversation AND m.role <> ''
                AND (m.at, m.seq) {sign} (t.at, t.seq) AND m.superseded_by = '' AND {VISIBLE}
            ORDER BY m.at {order}, m.seq {order} LIMIT :span)
        WHERE t.lends
    """  # noqa: S608 - constants
    for sign, order in (("<", "DESC"), (">", "ASC"))
}
NEIGHBOURS: Final = f"""
    WITH these AS MATERIALIZED (
        SELECT m.seq, m.tenant, m.conversation, m.at,
            m.role <> '' AND m.conversation <> ''
                AND m.id IN (SELECT value FROM json_each(:lending)) AS lends
        FROM memories m WHERE m.id IN (SELECT value FROM json_each(:ids)) AND {VISIBLE}
    )
    SELECT {SELECTED} FROM memories m WHERE m.seq IN (
        SELECT seq FROM these UNION {_BESIDE["<"]} UNION {_BESIDE[">"]})
    ORDER BY m.conversation, m.at, m.seq
"""  # noqa: S608 - constants


class SqliteRecall:
    """Implements `memory.recall.ports.RecallStore`."""

    def __init__(self, engine: SqliteDatabase, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock
        self._vectors: NearestVectors | None = None

    async def lexical(self, reach: Reach, query: str, wanted: Filter, limit: int) -> list[Hit]:
        """By the words of `query` (BM25), best first."""
        now = self._now()
        found = await self._engine.run_job(lambda db: lexical(db, reach, query, wanted, limit, now))
        return [Hit(*hit) for hit in found]

    async def nearest(
        self, reach: Reach, query: Embedding, wanted: Filter, limit: int
    ) -> list[Hit]:
        """By cosine similarity to vectors of the same model, best first."""
        if self._vectors is None:
            # numpy costs 0.3 s and 25 MB, and is wanted only where there is a model
            from memory.store.sqlite.matrix import Matrices  # noqa: PLC0415
            from memory.store.sqlite.nearest import NearestVectors  # noqa: PLC0415

            self._vectors = NearestVectors(self._engine, Matrices())
        found = await self._vectors.nearest(reach, query, wanted, limit, self._now())
        return [Hit(*hit) for hit in found]

    async def neighbours(
        self, reach: Reach, ids: Sequence[str], span: int, alone: Sequence[str] = ()
    ) -> list[Record]:
        """These memories and the turns around them, as far as they may be seen."""
        asked = parameters(reach) | {"now": self._now(), "span": max(0, span)}
        lending = [storable(one) for one in ids]
        asked["lending"] = json.dumps(lending if span > 0 else [])
        asked["ids"] = json.dumps([*lending, *map(storable, alone)])
        rows = await self._engine.run_job(lambda db: db.execute(NEIGHBOURS, asked).fetchall())
        return [record_from(row) for row in rows]

    def _now(self) -> float:
        return self._clock.now().timestamp()
