"""Makes the vectors of memories in the background.

New memories come first, then older ones, from the newest to the oldest; after a change of the model
all vectors are made again. Until then words find a memory.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import structlog
from msgspec import Struct

from db.errors import StoreUnavailable
from gateway.errors import ModelError, ModelUnavailable
from gateway.immutable import replace
from gateway.ports import Clock
from gateway.ports.work_guard import UNGUARDED, WorkGuard, WorkItem
from memory.ports.memories import MemoryStore, TextVector, Unembedded
from memory.ports.recall import BackgroundEmbedder

AFTER_FAILURE: Final = 30.0
AFTER_REFUSAL: Final = 300.0
"""Seconds until another attempt; a wrong key or a missing file is not repaired sooner."""
MODEL: Final = "model"
"""The work item for loading the model."""

log = structlog.get_logger(__name__)


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


BATCH: Final = 16
"""Texts of one step: a tenth of a second for a model on this machine."""
WHOLE_AGAIN: Final = 600.0
"""Seconds until all memories are checked again, for edited or skipped ones."""
REPORT_EVERY: Final = 30.0


class EmbeddingBackfill:
    """Makes vectors step by step; the caller decides when. `count` is called for every vector.
    `warm` loads the model before the first one, so that no question has to wait for it."""

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
        self._reported = 0.0

    async def step(self) -> int:
        """Make some vectors; return their number, 0 if there are none to make."""
        if self._attempts.resting:
            return 0
        place = self._place
        try:
            if not await self._attempts.loaded():
                return 0
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
        return await self._memories.unembedded(self._embedder.model, BATCH, before, after)

    async def _make(self, some: Sequence[Unembedded]) -> int:
        """Return the vectors of these texts; texts that were involved in crashes are tried one by
        one, or skipped."""
        fresh, suspects = list[Unembedded](), list[Unembedded]()
        for one in some:
            item = WorkItem("embedding", one.id)
            if not self._guard.exhausted(item):
                (suspects if self._guard.crash_weight(item) else fresh).append(one)
        for batch in (fresh, *([one] for one in suspects)):
            if batch:
                with self._guard.working(*(WorkItem("embedding", one.id) for one in batch)):
                    await self._embed(batch)
        return len(some)

    async def _embed(self, some: Sequence[Unembedded]) -> None:
        vectors = await self._embedder.embed_in_background([one.text for one in some])
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
