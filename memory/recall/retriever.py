"""Recall: runs both searches, fuses their candidates and adds neighbouring turns."""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Final

import structlog

from gateway.errors import ModelError
from gateway.immutable import replace
from memory.model.record import Embedding, Record
from memory.model.scope import AccessScope
from memory.ports.memories import Filter, MemoryStore
from memory.ports.recall import Embedder, Query, RecallStage, Recollection, Reranker, SearchHit
from memory.recall.query import Question, about, understood
from memory.recall.repeat_filter import silent_in
from memory.recall.rules import RecallRules
from memory.recall.scoring import (
    LEXICAL,
    RERANKER,
    VECTOR,
    Neighbours,
    alike,
    fused,
    lending,
    ranks,
    related,
    reranked,
    scored,
    towards,
)
from memory.recall.selection import (
    AT_ONCE,
    Count,
    SearchTrace,
    best_first,
    chosen,
    labelled_line,
    rough_tokens,
)
from memory.recall.time_counts import Kind
from memory.recall.time_listing import Answer, added, answered_by, listed_within, spread
from memory.recall.time_span import TimeSpan, load_words, words_loaded
from memory.stores.search import RecallStore

RERANK_SECONDS: Final = 1.0
NEXT: Final = timedelta(seconds=1)
"""A time up to now includes what is stored in this moment."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Work:
    """The state of one question."""

    access: AccessScope
    query: Query
    question: Question
    filters: Filter
    hits: dict[str, Sequence[SearchHit]] = field(default_factory=dict)
    vector: Embedding | None = None
    notes: list[str] = field(default_factory=list)
    stages: list[RecallStage] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure the duration of a step."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.stages.append(RecallStage(name, (time.perf_counter() - began) * 1000))


class Retriever:
    """Finds memories that answer a question, for one `AccessScope`."""

    def __init__(
        self,
        store: RecallStore,
        memories: MemoryStore,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        rules: RecallRules | None = None,
        count: Count = rough_tokens,
    ) -> None:
        self._store = store
        self._memories = memories
        self._embedder = embedder
        self._reranker = reranker
        self._rules = rules or RecallRules()
        self._count = count
        self._paused_until = 0.0

    async def recall(self, access: AccessScope, query: Query) -> Recollection:
        """Return visible results, best first, within the limits.

        If the model is missing, fails or is too slow, only the words count, and a note says so.
        Raises `StoreUnavailable`.
        """
        if not words_loaded():
            await asyncio.to_thread(load_words)
        question = understood(query)
        if not question.text:
            return Recollection()
        filters = replace(query.filters, text="", unfinished=query.unfinished)
        if question.time is not None:
            within = await self._within(_Work(access, query, question, filters), question.time)
            if within is not None:
                return within
        if filters.at is None:
            filters = replace(filters, at=query.at)
        work = _Work(access, query, question, filters)
        await self._search(work)
        if question.time is not None:
            work.notes.append(Answer.ANYTHING)
            await self._add_words_within(work, question.time)
        if not related(work.hits, question, self._rules.searches):
            work.notes.append("unrelated")
            return await self._given(work, (), {}, {})
        return await self._ordered(work)

    async def _ordered(self, work: _Work, listed: Sequence[Sequence[Record]] = ()) -> Recollection:
        """Return the results of the searches, and behind them what is `listed`."""
        question, access = work.question, work.access
        with work.stage("fusion"):
            first = fused(work.hits, self._rules.searches)
        with work.stage("context"):
            around = await self._around(work, first)
        if self._rules.searches.feedback and work.vector is not None:
            with work.stage("feedback"):
                first, around = await self._fed_back(work, first, around)
        with work.stage("scoring"):
            scores = scored(first, around, question, access, work.query.at, self._rules)
            records = around.records
            if listed:
                scores = added(scores, spread(listed))
                there = {record.id for record in records}
                more = (record for part in listed for record in part if record.id not in there)
                records = (*records, *more)
            ordered = best_first(scores, records)
        judged = await self._judged(work, ordered)
        if judged:
            scores = reranked(scores, judged, self._rules.rerank_weight)
            ordered = best_first(scores, records)
        return await self._given(work, ordered, scores, judged)

    # --- the searches ---------------------------------------------------------------------------

    async def _search(self, work: _Work) -> None:
        """Search by words and, in parallel, by the question's vector; then with feedback.

        An exact question is answered by its words; vectors are searched only if no memory has them.
        """
        embedder = self._embedder
        if work.question.exact or embedder is None or work.query.unfinished:
            await self._ask_words(work)
            if embedder is None:
                work.notes.append("no_model")
            elif work.hits[LEXICAL] or work.query.unfinished:
                work.notes.append("exact")
            else:
                await self._ask_likeness(work, await self._embedded(work, embedder))
            return
        vector, _ = await asyncio.gather(self._embedded(work, embedder), self._ask_words(work))
        await self._ask_likeness(work, vector)

    async def _ask_words(self, work: _Work) -> None:
        with work.stage(LEXICAL):
            work.hits[LEXICAL] = await self._store.lexical(
                work.access, work.question.search, work.filters, self._rules.searches.depth
            )

    async def _embedded(self, work: _Work, embedder: Embedder) -> Embedding | None:
        if time.monotonic() < self._paused_until:
            work.notes.append("model_paused")
            return None
        with work.stage("embedding"):
            try:
                async with asyncio.timeout(self._rules.searches.embed_seconds):
                    return (await embedder.embed([work.question.text]))[0]
            except (ModelError, TimeoutError) as error:
                slow = isinstance(error, TimeoutError)
                work.notes.append("model_slow" if slow else "model_failed")
                log.warning("recall_without_vectors", error=str(error) or "it took too long")
                self._paused_until = time.monotonic() + self._rules.searches.pause_seconds
                return None

    async def _ask_likeness(self, work: _Work, vector: Embedding | None) -> None:
        if vector is None:
            return
        work.vector = vector
        with work.stage(VECTOR):
            work.hits[VECTOR] = await self._alike(work, vector)

    async def _alike(self, work: _Work, vector: Embedding) -> list[SearchHit]:
        rules = self._rules.searches
        hits = await self._store.nearest(work.access, vector, work.filters, rules.depth)
        return alike(hits, rules)

    # --- a time ---------------------------------------------------------------------------------

    async def _within(self, work: _Work, time: TimeSpan) -> Recollection | None:
        """Return the answer of the memories of a time; None if others may answer as well."""
        until = min(time.end, work.query.at + NEXT)
        filters = replace(work.filters, at=None, during=(time.start, until))
        work = replace(work, filters=filters, question=about(work.question, time))
        with work.stage("time"):
            within = await listed_within(self._memories, work.access, filters, time.start, until)
        listed = any(within)
        if time.subject and (listed or time.kind is not Kind.DATE):
            await self._search(work)
        found = any(work.hits.values())
        answer = answered_by(time, found=found, listed=listed)
        if answer is Answer.ANYTHING:
            return None
        work.notes.append(answer)
        if answer is Answer.NOTHING:
            return Recollection(notes=tuple(work.notes), stages=tuple(work.stages))
        return await self._ordered(work, within)

    async def _add_words_within(self, work: _Work, time: TimeSpan) -> None:
        """Add the matches of the words within a time: of a long memory they may be too far down
        among all."""
        if not time.subject:
            return
        during = replace(work.filters, at=None, during=(time.start, time.end))
        hits = await self._store.lexical(
            work.access, time.subject, during, self._rules.searches.depth
        )
        there = {hit.id for hit in work.hits[LEXICAL]}
        more = [hit for hit in hits if hit.id not in there]
        work.hits[LEXICAL] = [*work.hits[LEXICAL], *more]

    # --- what is around -------------------------------------------------------------------------

    async def _around(self, work: _Work, scores: Mapping[str, float]) -> Neighbours:
        """Return the candidates' records, and the neighbouring turns of the best ones that fit the
        filters."""
        weights = self._rules.weights
        best = lending(scores, weights)
        if not scores:
            return Neighbours(())
        others = sorted(scores.keys() - set(best))
        records = await self._store.neighbours(work.access, best, weights.span, others)
        neighbours = [one for one in records if one.id in scores or _fits(one, work.filters)]
        silent = silent_in(work.question.text, neighbours)
        return Neighbours(tuple(best), tuple(neighbours), silent=silent)

    async def _alone(
        self, work: _Work, scores: Mapping[str, float], there: Sequence[Record]
    ) -> list[Record]:
        missing = sorted(scores.keys() - {record.id for record in there})
        return await self._store.neighbours(work.access, missing, 0) if missing else []

    async def _fed_back(
        self, work: _Work, scores: dict[str, float], around: Neighbours
    ) -> tuple[dict[str, float], Neighbours]:
        """Search vectors again, with the question's vector moved towards the matches."""
        rules, question_text = self._rules.searches, work.vector
        telling = scores.keys() - around.silent
        best = sorted(telling, key=lambda id_: (-scores[id_], id_))[: rules.feedback]
        standing = {record.id for record in around.records if not record.role}
        records = [await self._memories.get(work.access, id_) for id_ in best if id_ in standing]
        vectors = [
            one.embedding.vector
            for one in records
            if one is not None
            and one.embedding is not None
            and question_text is not None
            and (one.embedding.model, one.embedding.dimension)
            == (question_text.model, question_text.dimension)
        ]
        if question_text is None or not vectors:
            return scores, around
        moved = replace(
            question_text, vector=towards(question_text.vector, vectors, rules.feedback_weight)
        )
        work.hits[VECTOR] = await self._alike(work, moved)
        again = fused(work.hits, rules)
        more = await self._alone(work, again, around.records)
        silent = around.silent | silent_in(work.question.text, more)
        return again, replace(around, alone=(*around.alone, *more), silent=silent)

    # --- the end --------------------------------------------------------------------------------

    async def _judged(self, work: _Work, ordered: Sequence[Record]) -> dict[str, float]:
        if self._reranker is None or not ordered or work.query.unfinished:
            return {}
        some = ordered[: self._rules.rerank]
        with work.stage(RERANKER):
            try:
                async with asyncio.timeout(RERANK_SECONDS):
                    judged = await self._reranker.judge(
                        work.question.text, [labelled_line(record) for record in some]
                    )
            except (ModelError, TimeoutError) as error:
                work.notes.append("reranker_failed")
                log.warning("recall_without_reranker", error=str(error) or "it took too long")
                return {}
        return {record.id: score for record, score in zip(some, judged, strict=True)}

    async def _given(
        self,
        work: _Work,
        ordered: Sequence[Record],
        scores: Mapping[str, float],
        judged: Mapping[str, float],
    ) -> Recollection:
        lists = dict(work.hits)
        if judged:
            lists[RERANKER] = [SearchHit(id_, score) for id_, score in judged.items()]
        trace = SearchTrace(
            {search: {hit.id: hit.score for hit in hits} for search, hits in lists.items()},
            {search: ranks(hits) for search, hits in lists.items()},
        )
        with work.stage("selection"):
            limits = self._rules.limits, work.query.limit
            pick = partial(chosen, ordered, scores, trace, *limits, self._count)
            # Each text is searched for secrets, which takes up to 5 us per character.
            aside = sum(len(record.content) for record in ordered) > AT_ONCE
            results, tokens, left_out = await asyncio.to_thread(pick) if aside else pick()
        return Recollection(
            tuple(results),
            {search: len(hits) for search, hits in lists.items()},
            tuple(work.notes),
            tuple(work.stages),
            candidates=len(ordered),
            left_out=left_out,
            tokens=tokens,
        )


def _fits(record: Record, filters: Filter) -> bool:
    """True if a neighbour, which no query filtered, fits the filter."""
    return (
        (filters.superseded or record.current)
        and (not filters.tiers or record.tier in filters.tiers)
        and (not filters.kinds or record.kind in filters.kinds)
        and (not filters.scopes or record.scope in filters.scopes)
        and set(filters.tags) <= set(record.tags)
        and not filters.own_only
        and (filters.since is None or record.provenance.at >= filters.since)
        and (filters.until is None or record.provenance.at < filters.until)
        and (filters.during is None or record.is_during(*filters.during))
    )
