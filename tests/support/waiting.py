"""Waiting for conditions."""

import asyncio
from collections.abc import Awaitable, Callable

from tests.support.patience import PATIENCE


async def eventually(
    condition: Callable[[], object | Awaitable[object]], timeout: float = PATIENCE
) -> None:
    """Return once the condition holds. Raises `TimeoutError` after `timeout` seconds."""
    async with asyncio.timeout(timeout):
        while True:
            holds = condition()
            if isinstance(holds, Awaitable):
                holds = await holds
            if holds:
                return
            await asyncio.sleep(0.005)
