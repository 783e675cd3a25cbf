"""A signal within one process: events were added."""

import asyncio
from collections.abc import Awaitable


class EventSignal:
    """Wakes those who wait for events, without the events. Processes do not hear each other."""

    def __init__(self) -> None:
        self.added = 0
        """The number of calls of `notify`."""
        self._changed = asyncio.Event()

    def notify(self) -> None:
        """Wake all who wait."""
        self.added += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait(self, since: int, timer: Awaitable[None]) -> None:
        """Return when there was a call of `notify` after `added` had the value `since`, or when the
        timer ends, which is cancelled otherwise."""
        timing = asyncio.ensure_future(timer)
        changed = asyncio.ensure_future(self._changed.wait())
        try:
            if self.added == since:
                await asyncio.wait((timing, changed), return_when=asyncio.FIRST_COMPLETED)
        finally:
            timing.cancel()
            changed.cancel()
