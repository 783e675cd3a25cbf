"""Makes the vectors of chunks of repositories in the background, in the order of their numbers.

Processes that share an index claim chunks before they make vectors. Chunks of an interrupted
process are claimed again after its claims end. After a change of the model all vectors are made
again; until then words find a chunk.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final

import structlog

from db.errors import StoreUnavailable
from gateway.errors import ModelError, ModelUnavailable
from gateway.ports import Clock
from gateway.ports.work_guard import UNGUARDED, WorkGuard, WorkItem
from memory.embeddings.backfill import Attempts, batches, nothing_to_warm
from memory.knowledge.ports.vectors import ClaimedText
from memory.knowledge.stores.vectors import SqlChunkVectors
from memory.model.record import Embedding
from memory.ports.recall import BackgroundEmbedder

WHOLE_AGAIN: Final = 600.0
"""Seconds until all chunks are looked at again, for those that were skipped."""
REPORT_EVERY: Final = 30.0
HINT: Final = "repositories are searched by words"

log = structlog.get_logger(__name__)


class ChunkBackfill:
    """Makes vectors step by step; the caller decides when. `count` is called for every vector."""

    def __init__(
        self,
        vectors: SqlChunkVectors,
        embedder: BackgroundEmbedder,
        clock: Clock,
        count: Callable[[str], None] = lambda _: None,
        warm: Callable[[], Awaitable[None]] = nothing_to_warm,
        guard: WorkGuard = UNGUARDED,
    ) -> None:
        self._vectors = vectors
        self._embedder = embedder
        self._clock = clock
        self._count = count
        self._guard = guard
        self._attempts = Attempts(clock, HINT, warm, guard)
        self._noted: str | None = None
        self._after = 0
        self._again_at = 0.0
        self._reported = clock.monotonic()
        self._unreported = 0

    async def step(self) -> int:
        """Look at some chunks and make their vectors; 0 if nothing is to be done now. Raises
        `StoreUnavailable`."""
        if self._attempts.resting:
            return 0
        before = self._after
        try:
            if not await self._attempts.loaded():
                return 0
            return await self._next()
        except ModelError as error:
            self._attempts.failed(error)
            if isinstance(error, ModelUnavailable):
                self._after = before
            await self._note(self._attempts.problem)
            return 0

    async def _next(self) -> int:
        now = self._clock.monotonic()
        claim = await self._vectors.claim(self._embedder.model, self._after, self._clock.now())
        if claim.last == self._after:
            if self._after and now >= self._again_at:
                self._after, self._again_at = 0, now + WHOLE_AGAIN
                return 1
            return 0
        if self._after == 0:
            self._again_at = now + WHOLE_AGAIN
        self._after = claim.last  # a refused text does not delay the others
        self._unreported += claim.copied
        await self._make(claim.texts)
        self._report(now)
        return 1

    async def _make(self, texts: Sequence[ClaimedText]) -> None:
        for batch in batches(self._guard, texts, _item):
            with self._guard.working(*map(_item, batch)):
                await self._embed(batch)

    async def _embed(self, some: Sequence[ClaimedText]) -> None:
        try:
            made = await self._embedder.embed_in_background([one.text for one in some])
        except ModelError:
            with suppress(StoreUnavailable):
                await self._vectors.release(some)
            raise
        vectors: dict[ClaimedText, Embedding] = dict(zip(some, made, strict=True))
        stored = await self._vectors.put(self._embedder.model, vectors)
        for _ in range(stored):
            self._count("vectors_computed")
        self._unreported += stored
        self._attempts.succeeded()
        await self._note("")

    async def _note(self, problem: str) -> None:
        """Store the problem, which `parley knowledge status` shows."""
        if problem != self._noted:
            self._noted = problem
            model, now = self._embedder.model, self._clock.now()
            await self._vectors.note_problem(model, problem, now)

    def _report(self, now: float) -> None:
        if self._unreported and now - self._reported >= REPORT_EVERY:
            log.info("chunk_vectors_computed", model=self._embedder.model, made=self._unreported)
            self._reported, self._unreported = now, 0


def _item(text: ClaimedText) -> WorkItem:
    return WorkItem("embedding", f"chunk {text.chunks[0]}")
