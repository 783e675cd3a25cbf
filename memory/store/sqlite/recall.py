"""Finds candidates for recall in SQLite."""

import json
import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from gateway.ports import Clock
from memory.recall.ports import Hit
from memory.record import Embedding, Record
from memory.scope import Reach
from memory.store.ports import Filter
from memory.store.rows import storable
from memory.store.sqlite.conditions import VISIBLE
from memory.store.sqlite.engine import SqliteEngine
from memory.store.sqlite.lexical import lexical
from memory.store.sqlite.reach import parameters
from memory.store.sqlite.rows import SELECTED, record_from

if TYPE_CHECKING:
    from memory.store.sqlite.nearest import NearestVectors

THESE: Final = f"""
    SELECT m.seq, m.tenant, m.conversation, m.at, m.role <> '' FROM memories m
    WHERE m.id IN (SELECT value FROM json_each(:ids)) AND {VISIBLE}
"""  # noqa: S608 - constants
BESIDE: Final = {
    sign: f"""
        SELECT m.seq FROM memories m
        WHERE m.tenant = :tenant AND m.conversation = :conversation AND m.role <> ''
            AND (m.at, m.seq) {sign} (:at, :seq) AND m.superseded_by = '' AND {VISIBLE}
        ORDER BY m.at {order}, m.seq {order} LIMIT :span
    """  # noqa: S608 - constants
    for sign, order in (("<", "DESC"), (">", "ASC"))
}
RECORDS: Final = f"""
    SELECT {SELECTED} FROM memories m WHERE m.seq IN (SELECT value FROM json_each(:seqs))
    ORDER BY m.conversation, m.at, m.seq
"""  # noqa: S608 - constants


class SqliteRecall:
    """Implements `memory.recall.ports.RecallStore`."""

    def __init__(self, engine: SqliteEngine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock
        self._vectors: NearestVectors | None = None

    async def lexical(self, reach: Reach, query: str, wanted: Filter, limit: int) -> list[Hit]:
        """By the words of `query` (BM25), best first."""
        now = self._now()
        found = await self._engine.run(lambda db: lexical(db, reach, query, wanted, limit, now))
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

    async def neighbours(self, reach: Reach, ids: Sequence[str], span: int) -> list[Record]:
        """These memories and the turns around them, as far as they may be seen."""
        asked = parameters(reach) | {"now": self._now(), "span": span}
        asked["ids"] = json.dumps([storable(one) for one in ids])

        def job(db: sqlite3.Connection) -> list[tuple[object, ...]]:
            seqs = set()
            for seq, tenant, conversation, at, turn in db.execute(THESE, asked).fetchall():
                seqs.add(seq)
                if turn and conversation and span > 0:
                    here = {"tenant": tenant, "conversation": conversation, "at": at, "seq": seq}
                    for sql in BESIDE.values():
                        seqs.update(row[0] for row in db.execute(sql, asked | here))
            return db.execute(RECORDS, {"seqs": json.dumps(sorted(seqs))}).fetchall()

        return [record_from(row) for row in await self._engine.run(job)]

    def _now(self) -> float:
        return self._clock.now().timestamp()
