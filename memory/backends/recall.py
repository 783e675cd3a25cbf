"""Recall from Parley's database and from the backends in use."""

import asyncio
import time
from collections.abc import Sequence
from typing import Final

from gateway.errors import MemoryUnavailable
from gateway.immutable import replace
from gateway.ports import Clock
from memory.backends.conversion import backend_access_of, record_of
from memory.backends.matching import fits
from memory.backends.store import BackendMemories, usable
from memory.model.scope import AccessScope
from memory.ports.memories import Match
from memory.ports.recall import Query, Recall, Recalled, RecallStage, Recollection
from memory.recall.rules import RecallLimits
from memory.recall.selection import label_of, labelled_line, rough_tokens
from memory.recall.time_counts import Kind
from memory.recall.time_span import parse_time
from safety.secret_detection.detect import redact_and_cut
from safety.unicode import safe_unicode

BACKEND: Final = "backend"
"""The name of this search in `Recalled.source_scores` and in measurements."""
FAILED: Final = "backend_failed"
MAX_QUESTION: Final = 2_000


class CombinedRecall:
    """Implements `memory.ports.recall.Recall`. A backend that fails returns nothing, and a note
    says so."""

    def __init__(
        self,
        database: Recall,
        backends: Sequence[BackendMemories],
        clock: Clock,
        limits: RecallLimits | None = None,
        *,
        builtin: bool,
    ) -> None:
        """`builtin`: learned memories of the database are in use."""
        self._database = database
        self._backends = tuple(backends)
        self._clock = clock
        self._limits = limits or RecallLimits()
        self._builtin = builtin

    async def recall(self, access: AccessScope, query: Query) -> Recollection:
        """Return visible matches of all places, best first. A question that is still being typed
        is answered by the database alone. Raises `StoreUnavailable`."""
        backends = () if query.unfinished else self._backends
        own, *others = await asyncio.gather(
            self._of_database(access, query),
            *(self._of_backend(one, access, query) for one in backends),
        )
        return self._merged(own, others, query)

    async def _of_database(self, access: AccessScope, query: Query) -> Recollection:
        if self._builtin:
            return await self._database.recall(access, query)
        if query.filters.turns is False:
            return Recollection()
        filters = replace(query.filters, turns=True)
        return await self._database.recall(access, replace(query, filters=filters))

    async def _of_backend(
        self, memories: BackendMemories, access: AccessScope, query: Query
    ) -> Recollection:
        began = time.perf_counter()
        try:
            matches = await self._matches(memories, access, query)
            notes: tuple[str, ...] = ()
        except MemoryUnavailable:
            matches, notes = [], (FAILED,)
        results = tuple(
            Recalled(
                match.record,
                match.score,
                {BACKEND: match.score},
                {BACKEND: rank},
                label_of(match.record),
            )
            for rank, match in enumerate(matches, 1)
        )
        stage = RecallStage(BACKEND, (time.perf_counter() - began) * 1000)
        searches = {} if notes else {BACKEND: len(results)}
        return Recollection(results, searches, notes, (stage,), len(results))

    async def _matches(
        self, memories: BackendMemories, access: AccessScope, query: Query
    ) -> list[Match]:
        question = redact_and_cut(safe_unicode(query.text), MAX_QUESTION)
        if not question.strip():
            return []
        filters = replace(query.filters, at=query.filters.at or query.at, limit=query.limit)
        time = parse_time(query.text, query.languages, query.at, query.zone)
        if time is not None and (time.kind is Kind.PAST or not time.subject):
            filters = replace(filters, at=None, during=(time.start, time.end))
        backend = memories.backend
        if not backend.recalls:
            return await memories.find(access, replace(filters, text=question))
        results = await backend.recall(backend_access_of(access), question, query.limit)
        now = self._clock.now()
        matches = [Match(record_of(one.statement, backend.name), one.score) for one in results]
        return await usable([one for one in matches if fits(one.record, access, filters, now)])

    def _merged(
        self, own: Recollection, others: Sequence[Recollection], query: Query
    ) -> Recollection:
        """Return everything in one order, within the limits."""
        parts = (own, *others)
        candidates = [one for part in parts for one in part.results]
        candidates.sort(key=lambda one: -one.score)
        results: list[Recalled] = []
        left, statements = self._limits.tokens, self._limits.semantic
        for one in candidates:
            size = rough_tokens(labelled_line(one.record))
            from_backend = BACKEND in one.source_scores
            if len(results) == query.limit or size > left or (from_backend and not statements):
                continue
            left -= size
            statements -= from_backend
            results.append(one)
        searches = dict(own.searches)
        for part in others:
            for name, number in part.searches.items():
                searches[name] = searches.get(name, 0) + number
        return Recollection(
            tuple(results),
            searches,
            tuple(dict.fromkeys(note for part in parts for note in part.notes)),
            tuple(stage for part in parts for stage in part.stages),
            candidates=sum(part.candidates for part in parts),
            left_out=own.left_out + len(candidates) - len(results),
            repeats=own.repeats,
            tokens=self._limits.tokens - left,
        )
