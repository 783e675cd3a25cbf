"""Tries again while a store is away."""

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import structlog

from gateway.errors import StoreUnavailable
from gateway.ports import Clock

T = TypeVar("T")

PAUSES: Final = (0.5, 1.0, 2.0, 4.0, *[5.0] * 17_280)
"""Seconds between the tries, a day in all. What waits goes on within the longest of them when the
store is back."""

log = structlog.get_logger(__name__)


class Patience:
    """Shared by everything that waits for a store; ends with the program."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._over = False

    def end(self) -> None:
        """From now on a store that is away is waited for no longer."""
        self._over = True

    async def insist(self, work: Callable[[], Awaitable[T]]) -> T:
        """The result of `work`, which is begun anew whenever a store is away.

        Raises `StoreUnavailable` when that does not end within a day, or the program ends first.
        """
        for pause in PAUSES:
            try:
                return await work()
            except StoreUnavailable as error:
                if self._over:
                    raise
                log.warning("work_put_off", seconds=pause, error=str(error))
            await self._clock.sleep(pause)
        return await work()
