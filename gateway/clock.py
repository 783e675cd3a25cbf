"""The real clock."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime


class SystemClock:
    """Implements `gateway.ports.Clock`."""

    def now(self) -> datetime:
        """The current time in UTC."""
        return datetime.now(UTC)

    monotonic = staticmethod(time.monotonic)  # itself, because every message asks forty times

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""
        await asyncio.sleep(seconds)

    def after(self, seconds: float, call: Callable[[], None]) -> Callable[[], None]:
        """Call something after so many seconds, unless what this returns is called before."""
        return asyncio.get_running_loop().call_later(seconds, call).cancel
