"""Measures every recall."""

import asyncio
from collections.abc import Callable

from gateway.observe.recall_metrics import RecallMeasurement
from gateway.ports import Clock
from memory.model.recollection import Recollection
from memory.model.scope import AccessScope
from memory.ports.recall import Query, Recall


class WatchedRecall:
    """Implements `memory.ports.recall.Recall` around another one, and passes a measurement of each
    call to `report`, which neither waits nor raises."""

    def __init__(
        self, recall: Recall, clock: Clock, report: Callable[[RecallMeasurement], None]
    ) -> None:
        self._recall = recall
        self._clock = clock
        self._report = report

    async def recall(self, access: AccessScope, query: Query) -> Recollection:
        """The result of the other recall. Raises `StoreUnavailable`."""
        began, ended, recollection = self._clock.monotonic(), "ok", Recollection()
        try:
            recollection = await self._recall.recall(access, query)
        except asyncio.CancelledError:
            ended = "stopped"
            raise
        except Exception as error:
            ended = type(error).__name__
            raise
        finally:
            self._report(measurement_of(recollection, ended, self._clock.monotonic() - began))
        return recollection


def measurement_of(recollection: Recollection, ended: str, seconds: float) -> RecallMeasurement:
    """The measurement of a recall, without content."""
    return RecallMeasurement(
        seconds,
        ended,
        steps=[(stage.name, stage.ms / 1000) for stage in recollection.stages],
        candidates=recollection.arms.items(),
        results=len(recollection.results),
        notes=recollection.notes,
    )
