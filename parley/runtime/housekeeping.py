"""Deletes expired data: ids, old conversations, old traces."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final

import structlog

from db.errors import StoreUnavailable
from gateway.ports import Clock
from gateway.ports.work_guard import UNGUARDED, WorkGuard, WorkItem
from parley.runtime.background import BackgroundJob

EVERY = 300.0
"""Seconds between two rounds."""
MAX_STEPS = 1_000
"""Maximum of steps of one chore in a round; the rest waits for the next round."""
REST: Final = 3.0
"""The pause after a step, in durations of that step. A step holds the event loop or the only writer
of SQLite: without a pause, half a year of expired data delayed each answer by 11 seconds."""
MAX_REST: Final = 10.0
"""Seconds of the longest pause."""

log = structlog.get_logger(__name__)

Chore = Callable[[], Awaitable[int]]
"""Deletes a bounded number of rows, because it blocks other statements; returns how many."""


class Housekeeping(BackgroundJob):
    """Runs its chores repeatedly. A failed one is retried in the next round; one that crashed the
    process is skipped for a day."""

    def __init__(
        self,
        chores: Mapping[str, Chore],
        clock: Clock,
        guard: WorkGuard = UNGUARDED,
        *,
        every: float = EVERY,
    ) -> None:
        """`every`: seconds between two rounds."""
        super().__init__("housekeeping")
        self._chores = chores
        self._clock = clock
        self._guard = guard
        self._every = every

    async def round(self) -> int:
        """Run every chore until it is done; returns the number of deleted rows."""
        return sum([await self._finish(name, chore) for name, chore in self._chores.items()])

    async def _finish(self, name: str, chore: Chore) -> int:
        deleted, item = 0, WorkItem("chore", name)
        try:
            if self._guard.exhausted(item):
                return 0
            for _ in range(MAX_STEPS):
                began = self._clock.monotonic()
                with self._guard.working(item):
                    step = await chore()
                if not step:
                    break
                deleted += step
                rest = REST * (self._clock.monotonic() - began)
                await self._clock.sleep(min(rest, MAX_REST))
        except StoreUnavailable as error:
            log.warning("chore_failed", chore=name, error=str(error))
        except Exception:
            log.exception("chore_failed", chore=name)
        return deleted

    async def _run(self) -> None:
        while True:
            await self.round()
            await self._clock.sleep(self._every)
