"""Several models as one: if the first does not answer, the next is called.

Only this module retries a model.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Final, cast

from gateway.errors import ModelError, ModelRefused, ModelUnavailable
from gateway.immutable import replace
from gateway.ports import (
    CanLoad,
    Clock,
    LLMProvider,
    ModelEvent,
    ModelFinished,
    ModelRequest,
    TextDelta,
)

ATTEMPTS: Final = 2
"""Calls to one provider for one request."""
FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 5.0
"""Seconds between two attempts. If a service asks for more, the next one is called."""
COOL_DOWN: Final = 60.0
"""Seconds for which a failed provider is tried last, unless it named a time itself."""
MAX_COOL_DOWN: Final = 600.0


class FailoverProvider:
    """Calls `providers` in order; those that failed recently come last.

    Once a piece of text was released there is no further attempt: an answer never starts twice. The
    error is raised, and the turn ends the answer.

    A request's `model` is meant for the first provider; the others use their default.
    """

    def __init__(
        self,
        providers: Sequence[LLMProvider],
        clock: Clock,
        *,
        cool_down: float = COOL_DOWN,
    ) -> None:
        if not providers:
            raise ValueError("at least one provider is needed")
        self._providers = tuple(providers)
        self._clock = clock
        self._cool_down = cool_down
        self._cools_until = [float("-inf")] * len(self._providers)

    @property
    def name(self) -> str:
        return self._providers[0].name

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield one answer. Raises if no provider answers: a temporary error first, otherwise the
        first error."""
        failures: list[ModelError] = []
        for index in self._order():
            adapted = request if index == 0 else replace(request, model="")
            for attempt in range(ATTEMPTS):
                released = False
                try:
                    async with aclosing(self._events(index, adapted)) as events:
                        async for event in events:
                            released = released or isinstance(event, TextDelta)
                            yield _mark_fallback(event) if index else event
                except ModelUnavailable as error:
                    failures.append(error)
                    self._cool_down_provider(index, error)
                    if released:
                        raise
                    if not await self._pause(attempt, error):
                        break
                except ModelRefused as error:
                    failures.append(error)
                    if released:
                        raise
                    break
                else:
                    self._cools_until[index] = float("-inf")
                    return
        raise _error_of(failures)

    async def load(self) -> None:
        """Implement `CanLoad` for each provider that does."""
        for provider in self._providers:
            if isinstance(provider, CanLoad):
                await provider.load()

    async def close(self) -> None:
        for provider in self._providers:
            await provider.close()

    def _events(self, index: int, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        return cast("AsyncGenerator[ModelEvent, None]", self._providers[index].stream(request))

    def _order(self) -> list[int]:
        now = self._clock.monotonic()
        return sorted(
            range(len(self._providers)), key=lambda index: max(0.0, self._cools_until[index] - now)
        )

    def _cool_down_provider(self, index: int, error: ModelUnavailable) -> None:
        seconds = min(MAX_COOL_DOWN, max(self._cool_down, error.retry_after or 0.0))
        self._cools_until[index] = self._clock.monotonic() + seconds

    async def _pause(self, attempt: int, error: ModelUnavailable) -> bool:
        """Wait before the next attempt; False if there is none, or the wait would be too long."""
        seconds = FIRST_PAUSE * 2**attempt if error.retry_after is None else error.retry_after
        if attempt + 1 >= ATTEMPTS or seconds > LONGEST_PAUSE:
            return False
        await self._clock.sleep(seconds)
        return True


def _error_of(failures: Sequence[ModelError]) -> ModelError:
    """Return the error of all providers together: a temporary one if there is one."""
    passing = [f for f in failures if isinstance(f, ModelUnavailable) and f.passes]
    return min(passing, key=lambda error: error.retry_after or 0.0, default=failures[0])


def _mark_fallback(event: ModelEvent) -> ModelEvent:
    return replace(event, from_fallback=True) if isinstance(event, ModelFinished) else event
