"""Makes the vectors of memories and of chunks of repositories in the background.

New memories come first, then older ones, from the newest to the oldest; chunks come in the order of
their numbers. After a change of the model all vectors are made again, and those of memories also
after a change of its dimension under the same name. Until then words find a memory and a chunk.

Processes that share an index claim chunks before they make vectors. Chunks of an interrupted
process are claimed again after its claims end.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from typing import Final, TypeVar

import structlog
from msgspec import Struct

from db.errors import StoreUnavailable
from gateway.errors import ModelError, ModelUnavailable
from gateway.immutable import replace
from gateway.ports import Clock
from gateway.ports.work_guard import UNGUARDED, WorkGuard, WorkItem
from memory.knowledge.ports import ClaimedText
from memory.knowledge.stores.vectors import SqlChunkVectors
from memory.model.record import Embedding
from memory.ports.memories import MemoryStore, TextVector, Unembedded
from memory.ports.recall import BackgroundEmbedder

AFTER_FAILURE: Final = 30.0
AFTER_REFUSAL: Final = 300.0
"""Seconds until another attempt; a wrong key or a missing file is not repaired sooner."""
MODEL: Final = "model"
"""The work item for loading the model."""

log = structlog.get_logger(__name__)

T = TypeVar("T")


async def nothing_to_warm() -> None:
    """Do nothing: the model needs no loading."""


class Attempts:
    """Says when work may use a model. `warm` loads it before the first text, so that no question
    has to wait for it; `hint` says what is done without vectors."""

    def __init__(
        self,
        clock: Clock,
        hint: str,
        warm: Callable[[], Awaitable[None]] = nothing_to_warm,
        guard: WorkGuard = UNGUARDED,
    ) -> None:
        self._clock = clock
        self._hint = hint
        self._warm = warm
        self._guard = guard
        self._is_warm = False
        self._not_before = 0.0
        self.problem = ""
        """The reason of the last failure, empty after a success."""

    @property
    def resting(self) -> bool:
        """True for a while after a failure."""
        return self._clock.monotonic() < self._not_before

    async def loaded(self) -> bool:
        """Load the model once; False if processes crashed during that, as without enough memory.
        Raises `ModelError`."""
        if self._is_warm:
            return True
        model = WorkItem("embedding", MODEL)
        if self._guard.exhausted(model):
            return False
        with self._guard.working(model):
            await self._warm()
        self._is_warm = True
        return True

    def failed(self, error: Exception) -> None:
        """Rest; a new problem is logged."""
        refused = isinstance(error, ModelError) and not isinstance(error, ModelUnavailable)
        self._not_before = self._clock.monotonic() + (AFTER_REFUSAL if refused else AFTER_FAILURE)
        if str(error) != self.problem:
            self.problem = str(error)
            log.warning("vectors_not_computed", problem=self.problem, hint=self._hint)

    def succeeded(self) -> None:
        """Forget the last problem."""
        self.problem = ""


def batches(
    guard: WorkGuard, some: Sequence[T], item_of: Callable[[T], WorkItem]
) -> Iterator[Sequence[T]]:
    """The texts that are computed together; those that were involved in crashes are tried one by
    one, or skipped."""
    fresh, suspects = list[T](), list[T]()
    for one in some:
        item = item_of(one)
        if not guard.exhausted(item):
            (suspects if guard.crash_weight(item) else fresh).append(one)
    yield from filter(None, (fresh, *([one] for one in suspects)))


BATCH: Final = 16
"""Texts of one step: a tenth of a second for a model on this machine."""
WHOLE_AGAIN: Final = 600.0
"""Seconds until all memories or chunks are checked again, for edited or skipped ones."""
REPORT_EVERY: Final = 30.0
PROBE: Final = "dimension"
"""The text that is sent to the model to know its dimension."""


async def dimension_of(embedder: BackgroundEmbedder) -> int:
    """Ask a model for the dimension of its vectors. Raises `ModelError`."""
    (vector,) = await embedder.embed_in_background([PROBE])
    return vector.dimension


class EmbeddingBackfill:
    """Makes vectors of memories step by step; the caller decides when. `count` is called for every
    vector. `warm` loads the model before the first one, so that no question has to wait for it."""

    def __init__(
        self,
        memories: MemoryStore,
        embedder: BackgroundEmbedder,
        clock: Clock,
        count: Callable[[str], None] = lambda _: None,
        warm: Callable[[], Awaitable[None]] = nothing_to_warm,
        guard: WorkGuard = UNGUARDED,
    ) -> None:
        self._memories = memories
        self._embedder = embedder
        self._clock = clock
        self._count = count
        self._guard = guard
        self._attempts = Attempts(clock, "memories are found by words", warm, guard)
        self._place = _BackfillPlace()
        self._dimension = 0
        self._reported = 0.0

    async def step(self) -> int:
        """Make some vectors; return their number, 0 if there are none to make."""
        if self._attempts.resting:
            return 0
        place = self._place
        try:
            if not await self._attempts.loaded():
                return 0
            await self._know_dimension()
            place = self._place
            some, place = await self._next()
            made = await self._make(some) if some else 0
        except (StoreUnavailable, ModelError) as error:
            self._attempts.failed(error)
            if isinstance(error, ModelError) and not isinstance(error, ModelUnavailable):
                self._place = place  # a refused text does not delay the others
            return 0
        passed, self._place = self._place, place
        ended = place.whole_at != passed.whole_at and (some or passed.before is not None)
        if ended or (some and self._clock.monotonic() - self._reported >= REPORT_EVERY):
            await self._report()
        return made

    async def _know_dimension(self) -> None:
        """Ask the model for its dimension, once, if there are vectors of its name."""
        if not self._dimension and await self._memories.dimensions(self._embedder.model):
            self._dimension = await dimension_of(self._embedder)

    async def _next(self) -> "tuple[list[Unembedded], _BackfillPlace]":
        """Return new memories, or else the next older ones, and where to continue after them."""
        at, now = self._place, self._clock.monotonic()
        if at.newest is not None:
            fresh = await self._unembedded(after=at.newest)
            if fresh:
                few = len(fresh) < BATCH
                return fresh, replace(at, newest=fresh[0].number if few else at.newest)
        if at.whole_at is not None and now < at.whole_at:
            return [], at
        older = await self._unembedded(before=at.before)
        newest = at.newest if at.newest is not None else (older[0].number if older else 0)
        if len(older) < BATCH:
            return older, _BackfillPlace(newest, None, now + WHOLE_AGAIN)
        return older, replace(at, newest=newest, before=older[-1].number)

    async def _unembedded(self, before: int | None = None, after: int = 0) -> list[Unembedded]:
        model, dimension = self._embedder.model, self._dimension
        return await self._memories.unembedded(model, BATCH, before, after, dimension)

    async def _make(self, some: Sequence[Unembedded]) -> int:
        """Make the vectors of these texts; return their number."""
        for batch in batches(self._guard, some, _memory_item):
            with self._guard.working(*map(_memory_item, batch)):
                await self._embed(batch)
        return len(some)

    async def _embed(self, some: Sequence[Unembedded]) -> None:
        vectors = await self._embedder.embed_in_background([one.text for one in some])
        if self._dimension and vectors[0].dimension != self._dimension:
            log.warning(
                "vectors_made_anew",
                model=self._embedder.model,
                dimension=vectors[0].dimension,
                before=self._dimension,
            )
        self._dimension = vectors[0].dimension
        made = await self._memories.embed(
            [
                TextVector(one.id, one.text, vector)
                for one, vector in zip(some, vectors, strict=True)
            ]
        )
        for _ in range(made):
            self._count("vectors_computed")
        self._attempts.succeeded()

    async def _report(self) -> None:
        self._reported = self._clock.monotonic()
        made, of = await self._memories.embedded(self._embedder.model)
        log.info("vectors_computed", model=self._embedder.model, made=made, of=of)


class _BackfillPlace(Struct, frozen=True):
    """The progress: memories up to number `newest` existed at the start, those from `before` on are
    done, and a new round starts at `whole_at`. `newest` is None before the start; `before` is None
    at the newest memory."""

    newest: int | None = None
    before: int | None = None
    whole_at: float | None = None


def _memory_item(text: Unembedded) -> WorkItem:
    return WorkItem("embedding", text.id)


HINT: Final = "repositories are searched by words"


class ChunkBackfill:
    """Makes vectors of chunks step by step, as `EmbeddingBackfill` does."""

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
        self._dimension = 0
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
            await self._know_dimension()
            return await self._next()
        except ModelError as error:
            self._attempts.failed(error)
            if isinstance(error, ModelUnavailable):
                self._after = before
            await self._note(self._attempts.problem)
            return 0

    async def _know_dimension(self) -> None:
        if not self._dimension and await self._vectors.dimensions(self._embedder.model):
            self._dimension = await dimension_of(self._embedder)

    async def _next(self) -> int:
        now, model = self._clock.monotonic(), self._embedder.model
        claim = await self._vectors.claim(model, self._after, self._clock.now(), self._dimension)
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
        for batch in batches(self._guard, texts, _chunk_item):
            with self._guard.working(*map(_chunk_item, batch)):
                await self._embed(batch)

    async def _embed(self, some: Sequence[ClaimedText]) -> None:
        try:
            made = await self._embedder.embed_in_background([one.text for one in some])
        except ModelError:
            with suppress(StoreUnavailable):
                await self._vectors.release(some)
            raise
        self._dimension = made[0].dimension
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


def _chunk_item(text: ClaimedText) -> WorkItem:
    return WorkItem("embedding", f"chunk {text.chunks[0]}")
