"""Work that is not broken off in the middle, because half of it is worse than none."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def uninterrupted(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which goes on to its end although the caller is cancelled meanwhile.

    The cancellation is not lost: it reaches the caller where it next waits, so that what stands
    right behind this call, and does not wait, is done as well.
    """
    caller, task = asyncio.current_task(), asyncio.create_task(work)
    interrupted = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if caller is None or not caller.cancelling():  # the work was cancelled, not the caller
                break
            interrupted = True
            caller.uncancel()
        except Exception:  # noqa: BLE001 - raised again by `result`
            break
    if interrupted and caller is not None:
        caller.cancel()
    return task.result()
