"""Attempts of background work to use a model: its loading, and the rest after a failure."""

from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from gateway.errors import ModelError, ModelUnavailable
from gateway.ports import Clock
from gateway.ports.work_guard import UNGUARDED, WorkGuard, WorkItem

AFTER_FAILURE: Final = 30.0
AFTER_REFUSAL: Final = 300.0
"""Seconds until another attempt; a wrong key or a missing file is not repaired sooner."""
MODEL: Final = "model"
"""The work item for loading the model."""

log = structlog.get_logger(__name__)


async def nothing_to_warm() -> None:
    """Do nothing: the model needs no loading."""


class Attempts:
    """Says when work may use a model. `warm` loads it before the first text, so that no question
    has to wait for it; `hint` says what is done without vectors."""

    def __init__(
        self,
        clock: Clock,
        hint: str,
        warm: Callable[[], Awaitable[None]] = nothing_to_warm,
        guard: WorkGuard = UNGUARDED,
    ) -> None:
        self._clock = clock
        self._hint = hint
        self._warm = warm
        self._guard = guard
        self._is_warm = False
        self._not_before = 0.0
        self.problem = ""
        """The reason of the last failure, empty after a success."""

    @property
    def resting(self) -> bool:
        """True for a while after a failure."""
        return self._clock.monotonic() < self._not_before

    async def loaded(self) -> bool:
        """Load the model once; False if processes crashed during that, as without enough memory.
        Raises `ModelError`."""
        if self._is_warm:
            return True
        model = WorkItem("embedding", MODEL)
        if self._guard.exhausted(model):
            return False
        with self._guard.working(model):
            await self._warm()
        self._is_warm = True
        return True

    def failed(self, error: Exception) -> None:
        """Rest; a new problem is logged."""
        refused = isinstance(error, ModelError) and not isinstance(error, ModelUnavailable)
        self._not_before = self._clock.monotonic() + (AFTER_REFUSAL if refused else AFTER_FAILURE)
        if str(error) != self.problem:
            self.problem = str(error)
            log.warning("vectors_not_computed", problem=self.problem, hint=self._hint)

    def succeeded(self) -> None:
        """Forget the last problem."""
        self.problem = ""
