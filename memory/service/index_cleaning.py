"""Takes the words of deleted texts out of the pages of SQLite's full-text indexes, right after the
deletion. What is left, in a large index, is done by the housekeeping."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import structlog

from db.errors import StoreUnavailable
from gateway.ports import Clock

MAX_STEPS: Final = 20
"""Steps of one index after a deletion, some milliseconds each: an index of 8 MB."""
REST: Final = 5.0
"""Seconds without another cleaning, so that many deletions do not each merge the index."""

log = structlog.get_logger(__name__)

CleaningStep = Callable[[], Awaitable[int]]
"""Does one step for an index; returns 0 when nothing is left to do."""


class IndexCleaning:
    """Cleans the indexes of a database."""

    def __init__(self, indexes: Sequence[CleaningStep], clock: Clock) -> None:
        self._indexes = indexes
        self._clock = clock
        self._not_before = 0.0

    async def run(self) -> None:
        """Clean the indexes, unless that ended moments ago. Never fails: the texts are deleted."""
        if self._clock.monotonic() < self._not_before:
            return
        try:
            for step in self._indexes:
                for _ in range(MAX_STEPS):
                    if not await step():
                        break
        except StoreUnavailable as error:
            log.warning("index_not_cleaned", error=str(error))
        self._not_before = self._clock.monotonic() + REST
