"""The real clock."""

import asyncio
import time
from datetime import UTC, datetime


class SystemClock:
    """Implements `gateway.ports.Clock`."""

    def now(self) -> datetime:
        """The current time in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds since some moment."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""
        await asyncio.sleep(seconds)
