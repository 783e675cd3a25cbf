"""Forgets what has served its time: expired ids, old conversations, old traces."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import structlog

from db.errors import StoreUnavailable
from gateway.ports import Clock
from gateway.ports.work_guard import UNGUARDED, WorkGuard, WorkItem

EVERY = 300.0
"""Seconds between two rounds."""
MAX_STEPS = 1_000
"""Steps of one chore in a round; what is left then waits for the next one."""

log = structlog.get_logger(__name__)

Chore = Callable[[], Awaitable[int]]
"""Forgets a bounded number of rows, because nothing else is done meanwhile; returns how many."""


class Housekeeping:
    """Runs its chores, by name, again and again; one that fails is tried again in the next round.
    One that processes die of is left out for a day."""

    def __init__(
        self,
        chores: Mapping[str, Chore],
        clock: Clock,
        guard: WorkGuard = UNGUARDED,
        *,
        every: float = EVERY,
    ) -> None:
        """`every`: seconds between two rounds."""
        self._chores = chores
        self._clock = clock
        self._guard = guard
        self._every = every
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin, the first round at once."""
        self._task = asyncio.create_task(self._run(), name="housekeeping")

    async def stop(self) -> None:
        """End."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def round(self) -> int:
        """Run every chore until it has nothing left; returns how many rows went."""
        return sum([await self._finish(name, chore) for name, chore in self._chores.items()])

    async def _finish(self, name: str, chore: Chore) -> int:
        gone, item = 0, WorkItem("chore", name)
        try:
            if self._guard.exhausted(item):
                return 0
            for _ in range(MAX_STEPS):
                with self._guard.working(item):
                    step = await chore()
                if not step:
                    break
                gone += step
        except StoreUnavailable as error:
            log.warning("chore_failed", chore=name, error=str(error))
        except Exception:
            log.exception("chore_failed", chore=name)
        return gone

    async def _run(self) -> None:
        while True:
            await self.round()
            await self._clock.sleep(self._every)
