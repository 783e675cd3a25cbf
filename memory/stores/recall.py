"""Finds candidates for recall."""

from collections.abc import Sequence
from typing import Final

from db import Database, among, either
from db.values import micros, storable
from gateway.ports import Clock
from memory.model.record import Embedding, Record
from memory.model.scope import AccessScope
from memory.ports.memories import Filter
from memory.ports.recall import Hit
from memory.stores.filters import by_reader, visible_at
from memory.stores.rows import SELECTED, record_from
from memory.stores.search import Searches
from memory.stores.shared_words import SharedWords, merged


def _beside(visible: str, sign: str, order: str) -> str:
    """The turns before or after each of `these`, in its conversation."""
    beside = f"""
        SELECT m.seq FROM memories m
        WHERE m.tenant = t.tenant AND m.conversation = t.conversation AND m.role <> ''
            AND (m.at, m.seq) {sign} (t.at, t.seq) AND m.superseded_by = '' AND {visible}
        ORDER BY m.at {order}, m.seq {order} LIMIT :span
    """  # noqa: S608 - constants
    joined = either(
        sqlite=f"JOIN memories b ON b.seq IN ({beside})",
        postgres=f"CROSS JOIN LATERAL ({beside}) AS b",
    )
    return f"SELECT b.seq FROM these t {joined} WHERE t.lends"  # noqa: S608 - constants


def _neighbours(visible: str) -> str:
    return f"""
        WITH these AS MATERIALIZED (
            SELECT m.seq, m.tenant, m.conversation, m.at,
                m.role <> '' AND m.conversation <> '' AND {among("m.id", "lending")} AS lends
            FROM memories m WHERE {among("m.id", "ids")} AND {visible}
        )
        SELECT {SELECTED} FROM memories m WHERE m.seq IN (
            SELECT seq FROM these UNION {_beside(visible, "<", "DESC")}
            UNION {_beside(visible, ">", "ASC")})
        ORDER BY m.conversation, m.at, m.seq
    """  # noqa: S608 - constants


NEIGHBOURS: Final = by_reader(_neighbours)


class RecallStore:
    """Finds candidates. Every method raises `StoreUnavailable`."""

    def __init__(self, database: Database, clock: Clock, searches: Searches) -> None:
        self._database = database
        self._clock = clock
        self._words, self._vectors = searches.words, searches.vectors
        self._shared = SharedWords(database)

    async def lexical(
        self, access: AccessScope, query: str, filters: Filter, limit: int
    ) -> list[Hit]:
        """Return matches of the words of `query` (BM25), best first. `filters.text` is ignored;
        with `filters.unfinished` the last word may go on."""
        now = micros(self._clock.now())
        hits = await self._words.weighed(access, query, filters, limit, now)
        if access.agent:
            shared = await self._shared.weighed(access, query, filters, limit, now)
            hits = merged(hits, shared, limit)
        return [Hit(*hit) for hit in hits]

    async def nearest(
        self, access: AccessScope, query: Embedding, filters: Filter, limit: int
    ) -> list[Hit]:
        """Return matches by cosine similarity to vectors of the same model, best first."""
        now = micros(self._clock.now())
        return [
            Hit(*hit) for hit in await self._vectors.nearest(access, query, filters, limit, now)
        ]

    async def neighbours(
        self, access: AccessScope, ids: Sequence[str], span: int, alone: Sequence[str] = ()
    ) -> list[Record]:
        """Return visible memories: `alone`, `ids`, and up to `span` turns before and after each
        turn of `ids` in its conversation; oldest first within a conversation."""
        lending = [storable(one) for one in ids]
        params = visible_at(access, self._clock) | {
            "span": max(0, span),
            "lending": lending if span > 0 else [],
            "ids": [*lending, *map(storable, alone)],
        }
        return [
            record_from(row) for row in await self._database.fetch(NEIGHBOURS.of(access), params)
        ]
