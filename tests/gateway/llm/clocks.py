"""Time for the tests of the model and the turn."""

import asyncio
import time
from datetime import UTC, datetime, timedelta


class RealClock:
    """The machine's own time."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class QuickClock:
    """Sleeping takes no time; what was slept is remembered and moves the clock on."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.elapsed = 0.0

    def now(self) -> datetime:
        return datetime(2026, 11, 21, tzinfo=UTC) + timedelta(seconds=self.elapsed)

    def monotonic(self) -> float:
        return self.elapsed

    def advance(self, seconds: float) -> None:
        self.elapsed += seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.elapsed += seconds
        await asyncio.sleep(0)
