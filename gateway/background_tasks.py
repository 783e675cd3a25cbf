"""Background tasks with an owner: they are not garbage-collected, and their errors are logged."""

import asyncio
from collections.abc import Callable, Coroutine

import structlog

log = structlog.get_logger(__name__)


class BackgroundTasks:
    """The running tasks of one owner; `failed` is the log event for their errors."""

    def __init__(self, failed: str) -> None:
        self._failed = failed
        self._running: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._running)

    def spawn(self, work: Coroutine[None, None, None]) -> "asyncio.Task[None]":
        """Run `work` concurrently."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    def begin(self, work: Callable[[], Coroutine[None, None, None]]) -> None:
        """Run the coroutine that `work` returns, as a timer callback."""
        self.spawn(work())

    async def drain(self, timeout: float) -> bool:
        """Wait until no task runs; False after `timeout` seconds."""
        try:
            async with asyncio.timeout(timeout):
                while self._running:
                    await asyncio.wait(self._running)
        except TimeoutError:
            return False
        return True

    async def stop(self) -> None:
        """Cancel all tasks and wait for them."""
        for task in list(self._running):
            task.cancel()
        while self._running:
            await asyncio.wait(self._running)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._running.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            log.error(self._failed, exc_info=error)


async def stop_task(task: "asyncio.Task[object] | None") -> None:
    """Cancel a task, if there is one, and wait for its end; its error is not raised."""
    if task is not None:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
