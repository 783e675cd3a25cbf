"""Work that is not broken off in the middle, because half of it is worse than none."""

import asyncio
from collections.abc import Coroutine
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


async def uninterrupted(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which goes on to its end although the caller is cancelled meanwhile.

    The cancellation is not lost: it reaches the caller where it next waits, so that what stands
    right behind this call, and does not wait, is done as well.
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
