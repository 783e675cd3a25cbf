"""Time as a dependency, so that tests need not wait."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """A clock."""

    def now(self) -> datetime:
        """Return the current time in UTC."""

    def monotonic(self) -> float:
        """Return the seconds of a monotonic clock."""

    async def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""


class AlarmClock(Clock, Protocol):
    """A clock with timers."""

    def after(self, seconds: float, call: Callable[[], None]) -> Callable[[], object]:
        """Call `call` after so many seconds; the returned function cancels that."""


class SystemClock:
    """Implements `AlarmClock`."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    monotonic = staticmethod(time.monotonic)  # itself, because every message asks forty times

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def after(self, seconds: float, call: Callable[[], None]) -> Callable[[], None]:
        return asyncio.get_running_loop().call_later(seconds, call).cancel
