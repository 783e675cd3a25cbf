"""The suite's observations beside messages: forbidden requests, and the work of the event loop."""

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Self

from aiohttp import web

TICK = 0.01


class CountingServer:
    """A server on loopback that nothing may call: it stands for the operator's own network."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.port = 0

    @classmethod
    @asynccontextmanager
    async def started(cls) -> AsyncIterator[Self]:
        """One that listens on a free port, IPv4 and (where there is one) IPv6."""
        made = cls()
        runner = web.ServerRunner(web.Server(made._answer), shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        made.port = site.port
        try:
            yield made
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        self.paths.append(request.path_qs)
        return web.Response(text="internal")


class EventLoopMonitor:
    """The longest piece of work that kept the loop from turning, in seconds of processor time.

    Processor time, because a busy machine makes every piece longer by the clock. It is divided by
    the slowness of the processor at that moment: two threads of a core share its speed.
    """

    _fastest = float("inf")

    def __init__(self) -> None:
        self.longest = 0.0
        for _ in range(3):
            self._slowness()

    async def _watch(self) -> None:
        while True:
            began, used = time.monotonic(), time.process_time()
            await asyncio.sleep(TICK)
            held = min(time.process_time() - used, time.monotonic() - began - TICK)
            if held > self.longest:
                self.longest = max(self.longest, held / self._slowness())

    @classmethod
    def _slowness(cls) -> float:
        """Return the time of a fixed piece of work, in its shortest time of this process."""
        began = time.thread_time()
        sum(range(100_000))
        taken = time.thread_time() - began
        cls._fastest = min(cls._fastest, taken)
        return taken / cls._fastest


@contextmanager
def watched_loop() -> Iterator[EventLoopMonitor]:
    """Measures while the block runs.

    A full collection would visit the objects of all earlier tests of this process, which takes
    seconds, so they are out of the collector's sight meanwhile.
    """
    watch = EventLoopMonitor()
    gc.freeze()
    task = asyncio.get_running_loop().create_task(watch._watch())
    try:
        yield watch
    finally:
        gc.unfreeze()
        task.cancel()
