"""Several models as one: if the first does not answer, the next is called.

Only this module retries a model.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Final, cast

from gateway.errors import (
    ContextTooLong,
    ModelError,
    ModelRefused,
    ModelUnavailable,
    NoFirstToken,
)
from gateway.immutable import replace
from gateway.llm.known_windows import KnownWindows
from gateway.llm.model_health import findings_of
from gateway.ports import (
    CanLoad,
    Clock,
    LLMProvider,
    ModelEvent,
    ModelFinding,
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
MAX_FINDINGS: Final = 20


class FailoverProvider:
    """Calls `providers` in order; those that failed recently come last.

    Once a piece of text was released there is no further attempt: an answer never starts twice. The
    error is raised, and the turn ends the answer.

    A model whose window is too small for a request is called last. A request that one model refuses
    as too long goes to the next one whose window is larger.

    A request's `model` is meant for the first provider; the others use their default.
    """

    def __init__(
        self,
        providers: Sequence[LLMProvider],
        clock: Clock,
        *,
        cool_down: float = COOL_DOWN,
        windows: KnownWindows | None = None,
    ) -> None:
        if not providers:
            raise ValueError("at least one provider is needed")
        self._providers = tuple(providers)
        self._clock = clock
        self._cool_down = cool_down
        self._windows = windows or KnownWindows()
        self._cools_until = [float("-inf")] * len(self._providers)

    @property
    def name(self) -> str:
        return self._providers[0].name

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield one answer. Raises if no provider answers: a temporary error first, otherwise the
        first error."""
        failures: list[ModelError] = []
        for index in self._order(request):
            if self._refuses_too(index, failures):
                continue
            adapted = request if index == 0 else replace(request, model="")
            for attempt in range(ATTEMPTS):
                released = False
                try:
                    stream = self._providers[index].stream(adapted)
                    async with aclosing(cast("AsyncGenerator[ModelEvent, None]", stream)) as events:
                        async for event in events:
                            released = released or isinstance(event, TextDelta)
                            yield self._heard(index, adapted, event)
                except ModelUnavailable as error:
                    failures.append(error)
                    self._cool_down_provider(index, error)
                    if released:
                        raise
                    if not await self._pause(attempt, error):
                        break
                except (ModelRefused, ContextTooLong) as error:
                    if isinstance(error, ContextTooLong):
                        self._windows.refused(index, adapted, error)
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

    def _heard(self, index: int, request: ModelRequest, event: ModelEvent) -> ModelEvent:
        """Note what an answer says about the model's window, and whether it is a fallback's."""
        if not isinstance(event, ModelFinished):
            return event
        self._windows.answered(index, request, event)
        return replace(event, from_fallback=True) if index else event

    def _refuses_too(self, index: int, failures: Sequence[ModelError]) -> bool:
        """Return True if another model refused the request as too long, and this one's window is
        no larger."""
        for failure in failures:
            if isinstance(failure, ContextTooLong):
                needed = failure.tokens or failure.limit or 0
                return 0 < self._windows.window(index) < needed
        return False

    def findings(self) -> tuple[ModelFinding, ...]:
        """Return what was found out about the servers and windows of all models."""
        found = [finding for each in self._providers for finding in findings_of(each)]
        return tuple([*found, *self._windows.findings()][:MAX_FINDINGS])

    def _order(self, request: ModelRequest) -> list[int]:
        now = self._clock.monotonic()
        return sorted(
            range(len(self._providers)),
            key=lambda index: (
                self._is_too_small(index, request),
                max(0.0, self._cools_until[index] - now),
            ),
        )

    def _is_too_small(self, index: int, request: ModelRequest) -> bool:
        window = self._windows.window(index, "" if index else request.model)
        return 0 < window < request.tokens

    def _cool_down_provider(self, index: int, error: ModelUnavailable) -> None:
        seconds = min(MAX_COOL_DOWN, max(self._cool_down, error.retry_after or 0.0))
        self._cools_until[index] = self._clock.monotonic() + seconds

    async def _pause(self, attempt: int, error: ModelUnavailable) -> bool:
        """Wait before the next attempt; False if there is none, or the wait would be too long. A
        model that was too slow for its first token would read the whole prompt again."""
        if isinstance(error, NoFirstToken):
            return False
        seconds = FIRST_PAUSE * 2**attempt if error.retry_after is None else error.retry_after
        if attempt + 1 >= ATTEMPTS or seconds > LONGEST_PAUSE:
            return False
        await self._clock.sleep(seconds)
        return True


def _error_of(failures: Sequence[ModelError]) -> ModelError:
    """Return the error of all providers together: that the request is too long, because the turn
    can shorten it, otherwise a temporary one if there is one."""
    for error in failures:
        if isinstance(error, ContextTooLong):
            return error
    passing = [f for f in failures if isinstance(f, ModelUnavailable) and f.passes]
    return min(passing, key=lambda error: error.retry_after or 0.0, default=failures[0])
