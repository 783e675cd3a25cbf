"""The system clock."""

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime


class SystemClock:
    """Implements `AlarmClock`."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    monotonic = staticmethod(time.monotonic)  # itself, because every message asks forty times

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def after(self, seconds: float, call: Callable[[], None]) -> Callable[[], None]:
        return asyncio.get_running_loop().call_later(seconds, call).cancel
