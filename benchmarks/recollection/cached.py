"""The searches of a store, asked once for the same question. For comparing settings of recall,
never for their times."""

from collections.abc import Hashable, Sequence
from typing import Final, TypeVar

from memory.model.record import Embedding, Record
from memory.model.scope import AccessScope
from memory.ports.memories import Filter
from memory.ports.recall import SearchHit
from memory.stores.search import RecallStore

MAX_CACHED: Final = 200_000
"""Answers of each search; further ones are not cached."""
Answer = TypeVar("Answer")


class CachedSearches(RecallStore):
    """Gives the answers of a store whose memories do not change."""

    def __init__(self, store: RecallStore) -> None:
        self._store = store
        self._hits: dict[Hashable, list[SearchHit]] = {}
        self._around: dict[Hashable, list[Record]] = {}
        self._records: dict[str, Record] = {}

    async def lexical(
        self, access: AccessScope, query: str, filters: Filter, limit: int
    ) -> list[SearchHit]:
        """Return the hits by words."""
        key = (access.person, query, filters, limit)
        hits = self._hits.get(key)
        if hits is None:
            hits = await self._store.lexical(access, query, filters, limit)
            _keep(self._hits, key, hits)
        return hits

    async def nearest(
        self, access: AccessScope, query: Embedding, filters: Filter, limit: int
    ) -> list[SearchHit]:
        """Return the hits by vectors."""
        key = (access.person, query.vector, filters, limit)
        hits = self._hits.get(key)
        if hits is None:
            hits = await self._store.nearest(access, query, filters, limit)
            _keep(self._hits, key, hits)
        return hits

    async def neighbours(
        self, access: AccessScope, ids: Sequence[str], span: int, alone: Sequence[str] = ()
    ) -> list[Record]:
        """Return the turns around others, each record held once."""
        key = (access.person, tuple(ids), span, tuple(alone))
        around = self._around.get(key)
        if around is None:
            found = await self._store.neighbours(access, ids, span, alone)
            around = [self._records.setdefault(record.id, record) for record in found]
            _keep(self._around, key, around)
        return around


def _keep(kept: dict[Hashable, list[Answer]], key: Hashable, answer: list[Answer]) -> None:
    if len(kept) < MAX_CACHED:
        kept[key] = answer
