"""Several models as one: when the first does not answer, the next is asked.

This is the only place that tries a model again; the libraries' own retries are off.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Final, Protocol, cast, runtime_checkable

from gateway.errors import ModelError, ModelRefused, ModelUnavailable
from gateway.ports import Clock, LLMProvider, ModelEvent, ModelFinished, ModelRequest, TextDelta

ATTEMPTS: Final = 2
"""Calls to one provider for one request."""

FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 5.0
"""Seconds between two attempts. A service that asks for more is left alone, and the next asked."""

COOL_DOWN: Final = 60.0
"""Seconds for which a provider that failed is asked last, unless it named a time itself."""

MAX_COOL_DOWN: Final = 600.0


@runtime_checkable
class CanWarm(Protocol):
    """A provider that takes a while before its first call, and can do that beforehand."""

    async def warm(self) -> None:
        """Get ready."""
        ...


class FailoverProvider:
    """Asks `providers` in order; those that failed a short while ago come last.

    Once a piece of text was handed out there is no other attempt, whatever happens: an answer is
    never begun twice. The error goes on, and the turn closes what stands there.

    A request's `model` is meant for the first provider; the others use their own default.
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
        self._rests_until = [float("-inf")] * len(self._providers)

    @property
    def name(self) -> str:
        """The first provider's name."""
        return self._providers[0].name

    async def warm(self) -> None:
        """Load the first provider's library, if it has one to load."""
        if isinstance(self._providers[0], CanWarm):
            await self._providers[0].warm()

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """One answer. Raises when none of the providers gives one: the error that passes first,
        or else the first of all."""
        failures: list[ModelError] = []
        for index in self._order():
            asked = request if index == 0 else replace(request, model="")
            for attempt in range(ATTEMPTS):
                released = False
                try:
                    async with aclosing(self._events(index, asked)) as events:
                        async for event in events:
                            released = released or isinstance(event, TextDelta)
                            yield _stood_in(event) if index else event
                except ModelUnavailable as error:
                    failures.append(error)
                    self._rest(index, error)
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
                    self._rests_until[index] = float("-inf")
                    return
        raise _error_of(failures)

    async def close(self) -> None:
        """Close all of them."""
        for provider in self._providers:
            await provider.close()

    def _events(self, index: int, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        return cast("AsyncGenerator[ModelEvent, None]", self._providers[index].stream(request))

    def _order(self) -> list[int]:
        now = self._clock.monotonic()
        return sorted(
            range(len(self._providers)), key=lambda index: max(0.0, self._rests_until[index] - now)
        )

    def _rest(self, index: int, error: ModelUnavailable) -> None:
        seconds = min(MAX_COOL_DOWN, max(self._cool_down, error.retry_after or 0.0))
        self._rests_until[index] = self._clock.monotonic() + seconds

    async def _pause(self, attempt: int, error: ModelUnavailable) -> bool:
        """Wait before the next attempt; False when there is none or it would be too long a wait."""
        seconds = FIRST_PAUSE * 2**attempt if error.retry_after is None else error.retry_after
        if attempt + 1 >= ATTEMPTS or seconds > LONGEST_PAUSE:
            return False
        await self._clock.sleep(seconds)
        return True


def _error_of(failures: Sequence[ModelError]) -> ModelError:
    """What the failures of all providers come to: one of them may answer before long."""
    passing = [f for f in failures if isinstance(f, ModelUnavailable) and f.passes]
    return min(passing, key=lambda error: error.retry_after or 0.0, default=failures[0])


def _stood_in(event: ModelEvent) -> ModelEvent:
    return replace(event, from_fallback=True) if isinstance(event, ModelFinished) else event
