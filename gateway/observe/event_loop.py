"""The lag of the event loop, which delays everything."""

import asyncio
from collections import deque
from typing import Final

EVERY: Final = 0.25
"""Seconds between two measurements."""
WINDOW: Final = 10.0
"""Seconds over which the worst lag is reported."""
STALLED: Final = 5.0
"""Seconds of lag from which the program counts as stalled."""


class EventLoopMonitor:
    """Measures how late the loop resumes a sleep."""

    def __init__(self) -> None:
        self._lags: deque[float] = deque(maxlen=round(WINDOW / EVERY))
        self._task: asyncio.Task[None] | None = None

    @property
    def lag(self) -> float:
        """The worst lag of the last `WINDOW` seconds, in seconds."""
        return max(self._lags, default=0.0)

    @property
    def stalled(self) -> bool:
        """True if the lag was `STALLED` or more."""
        return self.lag >= STALLED

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="loop-watch")

    async def stop(self) -> None:
        """Safe to call twice, and before `start`."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(self) -> None:
        # The loop's own time, not an injected clock's: this measures the real loop.
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + EVERY
            await asyncio.sleep(EVERY)
            self._lags.append(max(0.0, loop.time() - due))
