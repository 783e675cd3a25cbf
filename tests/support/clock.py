"""A clock that tests move by hand; sleepers wake when their time has come."""

import asyncio
import heapq
import itertools
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from gateway.ports.clock import SystemClock

T = TypeVar("T")


class FakeClock:
    """Implements `gateway.ports.Clock`. Time stands still until `advance`, or with `instant` moves
    on by each sleep, which ends at once."""

    def __init__(
        self,
        start: datetime = datetime(2026, 11, 21, 9, 0, tzinfo=UTC),
        *,
        instant: bool = False,
    ) -> None:
        self._start = start
        self._instant = instant
        self._elapsed = 0.0
        self._numbers = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self.slept: list[float] = []

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if self._instant:
            self.skip(seconds)
        if self._instant or seconds <= 0:
            await asyncio.sleep(0)
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._elapsed + seconds, next(self._numbers), future))
        await future

    def after(self, seconds: float, call: Callable[[], None]) -> Callable[[], object]:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        future.add_done_callback(lambda ended: None if ended.cancelled() else call())
        heapq.heappush(self._sleepers, (self._elapsed + seconds, next(self._numbers), future))
        return future.cancel

    def skip(self, seconds: float) -> None:
        """Let time pass; nobody wakes before the next `advance`."""
        self._elapsed += seconds

    async def advance(self, seconds: float) -> None:
        """Let time pass; sleepers continue at the right moment."""
        until = self._elapsed + seconds
        await settle()
        while self._sleepers and self._sleepers[0][0] <= until:
            due, _, future = heapq.heappop(self._sleepers)
            self._elapsed = max(self._elapsed, due)
            if not future.done():
                future.set_result(None)
            await settle()
        self._elapsed = until
        await settle()


class HurriedClock(SystemClock):
    """The real time, with sleeps of a hundredth of their length."""

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / 100)


class InlineThreads(ThreadPoolExecutor):
    """Runs on the event loop what would run in a thread, so that it needs no time."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Run it now; the result, or what it raised."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - handed on, as a thread does
            future.set_exception(error)
        return future


async def settle(rounds: int = 25) -> None:
    """Let everything that can run without time passing do so."""
    for _ in range(rounds):
        await asyncio.sleep(0)
