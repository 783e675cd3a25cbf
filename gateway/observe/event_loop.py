"""How late the event loop is: whatever holds it up holds everybody up."""

import asyncio
from collections import deque
from typing import Final

EVERY: Final = 0.25
"""Seconds between two looks."""
WINDOW: Final = 10.0
"""Seconds of which the worst lag is told."""
STALLED: Final = 5.0
"""Seconds of lag from which on the program counts as stalled."""


class EventLoopMonitor:
    """Measures by how much the loop wakes it too late."""

    def __init__(self) -> None:
        self._lags: deque[float] = deque(maxlen=round(WINDOW / EVERY))
        self._task: asyncio.Task[None] | None = None

    @property
    def lag(self) -> float:
        """The worst of the last `WINDOW` seconds, in seconds."""
        return max(self._lags, default=0.0)

    @property
    def stalled(self) -> bool:
        """True when it was `STALLED` or more."""
        return self.lag >= STALLED

    def start(self) -> None:
        """Begin."""
        self._task = asyncio.create_task(self._run(), name="loop-watch")

    async def stop(self) -> None:
        """End. Safe to call twice, and before `start`."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self) -> None:
        # The loop's own time, not an injected clock's: this is about the real one.
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + EVERY
            await asyncio.sleep(EVERY)
            self._lags.append(max(0.0, loop.time() - due))
