"""The time for which one step holds the event loop, whatever the load of the machine."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def held_at_most(seconds: float) -> AsyncIterator[None]:
    """Fail if the work inside holds the loop longer at once, in processor time of this thread."""
    longest = 0.0

    async def look() -> None:
        nonlocal longest
        while True:
            before = time.thread_time()
            await asyncio.sleep(0)
            longest = max(longest, time.thread_time() - before)

    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
    assert longest < seconds, f"{longest:.3f} s"
