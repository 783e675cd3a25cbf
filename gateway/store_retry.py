"""Retries work while a store is unavailable, and protects work from cancellation."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, Final, ParamSpec, TypeVar

import structlog

from db.errors import StoreUnavailable
from gateway.ports import Clock

P = ParamSpec("P")
T = TypeVar("T")

PAUSES: Final = (0.5, 1.0, 2.0, 4.0, *[5.0] * 17_280)
"""Seconds between attempts, a day in total. Waiting work continues within the longest pause after
the store is back."""

log = structlog.get_logger(__name__)


class StoreRetry:
    """Retries for all work that waits for a store; ends with the program."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._over = False

    def end(self) -> None:
        """Stop waiting for unavailable stores."""
        self._over = True

    async def retry_while_unavailable(
        self, work: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Return the result of `work`, which is repeated while a store is unavailable.

        Raises `StoreUnavailable` if that lasts a day, or the program ends.
        """
        for pause in PAUSES:
            try:
                return await work(*args, **kwargs)
            except StoreUnavailable as error:
                if self._over:
                    raise
                log.warning("work_postponed", seconds=pause, error=str(error))
            await self._clock.sleep(pause)
        return await work(*args, **kwargs)


async def uninterrupted(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`, which runs to its end even if the caller is cancelled.

    The cancellation reaches the caller at its next wait, so steps right after this call that do not
    wait are done as well.
    """
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)
    interrupted: asyncio.Task[Any] | None = None
    while not task.done():
        over = loop.create_future()  # lighter than a shield around the task
        task.add_done_callback(partial(_tell, over))
        try:
            await over
        except asyncio.CancelledError:
            interrupted = asyncio.current_task()
            if interrupted is not None:
                interrupted.uncancel()
    if interrupted is not None:
        interrupted.cancel()
    return task.result()


def _tell(over: "asyncio.Future[None]", _task: "asyncio.Task[Any]") -> None:
    if not over.done():
        over.set_result(None)
