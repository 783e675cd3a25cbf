"""Work that nobody waits for, and that makes way for answers: taking turns up, making vectors."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from db.errors import StoreUnavailable
from gateway.ports import Clock

REST: Final = 1.0
"""Seconds until it is looked again for something to do, where there was nothing."""
BREATH: Final = 0.02
"""Seconds between two steps."""
LATE: Final = 0.005
"""Seconds. Where a pause takes so much longer than it should, the program has better to do."""
QUEUE: Final = 20
"""Messages that wait for their turn while there is a rush."""
CALM: Final = 5
"""Pauses in a row without a sign of a rush, after which it is over."""
LOOK: Final = 0.005
"""Seconds between two looks for a moment in which nobody is answered."""
LOOKS: Final = 10
LATEST: Final = 60.0
"""Seconds of a rush after which it goes on all the same: it may not end soon."""
AFTER_FAILURE: Final = 5.0

log = structlog.get_logger(__name__)


class Background:
    """Calls `step` until it has nothing left, again and again, and makes way for answers; `name`
    is what the log calls it, `queued` says how many messages wait for their turn, `answering` how
    many are being answered."""

    def __init__(
        self,
        step: Callable[[], Awaitable[int]],
        clock: Clock,
        name: str,
        queued: Callable[[], int] = lambda: 0,
        answering: Callable[[], int] = lambda: 0,
    ) -> None:
        self._step = step
        self._clock = clock
        self._name = name
        self._queued = queued
        self._answering = answering
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.create_task(self._run(), name=self._name)

    async def stop(self) -> None:
        """End; what is left stays for the next start. Safe to call twice."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self) -> None:
        pause, calm, calm_at = REST, CALM, self._clock.monotonic()
        while True:
            in_a_rush = await self._paused(pause) > LATE or self._queued() >= QUEUE
            now = self._clock.monotonic()
            calm = 0 if in_a_rush else min(CALM, calm + 1)
            if calm == CALM:
                calm_at = now
            elif now - calm_at < LATEST:
                pause = BREATH
                continue
            await self._gap()
            pause = await self._next()

    async def _paused(self, seconds: float) -> float:
        """How much longer than asked the pause was."""
        began = self._clock.monotonic()
        await self._clock.sleep(seconds)
        return self._clock.monotonic() - began - seconds

    async def _gap(self) -> None:
        """Return when nobody is being answered. Not much later, because somebody may always be:
        most of an answer's time goes into waiting for a model."""
        for _ in range(LOOKS):
            if not self._answering():
                return
            await self._clock.sleep(LOOK)

    async def _next(self) -> float:
        """One step; how long to pause after it."""
        try:
            return BREATH if await self._step() else REST
        except StoreUnavailable as error:
            log.warning("left_for_later", work=self._name, error=str(error))
        except Exception:
            log.exception("left_for_later", work=self._name)
        return AFTER_FAILURE
