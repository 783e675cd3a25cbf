"""Recall that is watched: what it took and found becomes figures, whoever asked."""

import asyncio
from collections.abc import Callable

from gateway.observe.recall_metrics import RecallMeasurement
from gateway.ports import Clock
from memory.model.recollection import Recollection
from memory.model.scope import AccessScope
from memory.ports.recall import Query, Recall


class WatchedRecall:
    """Implements `memory.ports.recall.Recall` around another; `tell` neither waits nor raises."""

    def __init__(
        self, recall: Recall, clock: Clock, tell: Callable[[RecallMeasurement], None]
    ) -> None:
        self._recall = recall
        self._clock = clock
        self._tell = tell

    async def recall(self, access: AccessScope, query: Query) -> Recollection:
        """What the other finds. Raises `StoreUnavailable`."""
        began, ended, found = self._clock.monotonic(), "ok", Recollection()
        try:
            found = await self._recall.recall(access, query)
        except asyncio.CancelledError:
            ended = "stopped"
            raise
        except Exception as error:
            ended = type(error).__name__
            raise
        finally:
            self._tell(told(found, ended, self._clock.monotonic() - began))
        return found


def told(found: Recollection, ended: str, seconds: float) -> RecallMeasurement:
    """Figures of what was found; nothing of its content."""
    return RecallMeasurement(
        seconds,
        ended,
        steps=[(stage.name, stage.ms / 1000) for stage in found.stages],
        candidates=found.arms.items(),
        results=len(found.results),
        notes=found.notes,
    )
