"""Background work: jobs that a process repeats, and those that yield to answers, such as the
consolidation of turns and the computation of vectors."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from db.errors import StoreUnavailable
from gateway.background_tasks import stop_task
from gateway.ports import Clock

IDLE_PAUSE: Final = 1.0
"""Seconds until the next step after one that found no work."""
STEP_PAUSE: Final = 0.02
"""Seconds between two steps."""
LATE: Final = 0.005
"""Seconds. A pause that takes so much longer than requested shows that the program is busy."""
QUEUE: Final = 20
"""Number of waiting messages from which the program is busy."""
CALM: Final = 5
"""Number of pauses in a row without a sign of load, after which the program is no longer busy."""
LOOK: Final = 0.005
"""Seconds between two checks for a moment without answers."""
LOOKS: Final = 10
LATEST: Final = 60.0
"""Seconds of load after which work continues anyway: the load may last."""
AFTER_FAILURE: Final = 5.0

log = structlog.get_logger(__name__)


class BackgroundJob(ABC):
    """Work that a process repeats until it stops; `name` is the name of its task."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start, with the first round at once."""
        self._task = asyncio.create_task(self._run(), name=self._name)

    async def stop(self) -> None:
        """Stop; the next start continues. Safe to call twice, and before `start`."""
        task, self._task = self._task, None
        await stop_task(task)

    @abstractmethod
    async def _run(self) -> None:
        """Repeat the work for ever."""


class Background(BackgroundJob):
    """Calls `step` repeatedly and yields to answers. `name` is its name in the log, `queued` the
    number of waiting messages, `answering` the number of messages that are being answered."""

    def __init__(
        self,
        step: Callable[[], Awaitable[int]],
        clock: Clock,
        name: str,
        queued: Callable[[], int] = lambda: 0,
        answering: Callable[[], int] = lambda: 0,
    ) -> None:
        super().__init__(name)
        self._step = step
        self._clock = clock
        self._queued = queued
        self._answering = answering

    async def _run(self) -> None:
        pause, calm, calm_at = IDLE_PAUSE, CALM, self._clock.monotonic()
        while True:
            is_busy = await self._paused(pause) > LATE or self._queued() >= QUEUE
            now = self._clock.monotonic()
            calm = 0 if is_busy else min(CALM, calm + 1)
            if calm == CALM:
                calm_at = now
            elif now - calm_at < LATEST:
                pause = STEP_PAUSE
                continue
            await self._gap()
            pause = await self._next()

    async def _paused(self, seconds: float) -> float:
        """Pause, and return by how much the pause was too long."""
        began = self._clock.monotonic()
        await self._clock.sleep(seconds)
        return self._clock.monotonic() - began - seconds

    async def _gap(self) -> None:
        """Return when no message is being answered, or after a short time: most of an answer's time
        is waiting for a model."""
        for _ in range(LOOKS):
            if not self._answering():
                return
            await self._clock.sleep(LOOK)

    async def _next(self) -> float:
        """Run one step and return the pause after it."""
        try:
            return STEP_PAUSE if await self._step() else IDLE_PAUSE
        except StoreUnavailable as error:
            log.warning("background_work_failed", work=self._name, error=str(error))
        except Exception:
            log.exception("background_work_failed", work=self._name)
        return AFTER_FAILURE
