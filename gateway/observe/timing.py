"""Timing of stages and model calls."""

from asyncio import CancelledError
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing, contextmanager
from contextvars import ContextVar, Token
from typing import cast

from gateway.errors import ModelError
from gateway.policy.model_failures import described
from gateway.ports import (
    CanLoad,
    CanReportFindings,
    Clock,
    LLMProvider,
    ModelEvent,
    ModelFinding,
    ModelFinished,
    ModelRequest,
)
from gateway.ports.observer import Timing

MAX_TIMINGS = 100
"""Timings that are kept per turn."""
_timings: ContextVar[list[Timing] | None] = ContextVar("timings", default=None)


class collect_timings:  # noqa: N801 - used like a function: with collect_timings(timings)
    """A context in which the results of `timed` are added to `timings`."""

    __slots__ = ("_timings", "_token")

    def __init__(self, timings: list[Timing]) -> None:
        self._timings = timings

    def __enter__(self) -> None:
        self._token: Token[list[Timing] | None] = _timings.set(self._timings)

    def __exit__(self, *_: object) -> None:
        _timings.reset(self._token)


def note(timing: Timing) -> None:
    """Add a timing to the running turn, if there is one."""
    timings = _timings.get()
    if timings is not None and len(timings) < MAX_TIMINGS:
        timings.append(timing)


@contextmanager
def timed(kind: str, name: str, clock: Clock) -> Iterator[list[int]]:
    """Measure a block of code, also if it fails. The block may add figures to the list."""
    began, ended, failure = clock.monotonic(), "ok", ""
    figures: list[int] = []
    try:
        yield figures
    except (CancelledError, GeneratorExit):
        ended = "stopped"
        raise
    except Exception as error:
        ended = type(error).__name__
        failure = described(error) if isinstance(error, ModelError) else ""
        raise
    finally:
        seconds = clock.monotonic() - began
        note(Timing(kind, name, began, seconds, ended, tuple(figures), failure))


class TimedProvider:
    """Implements `LLMProvider` around another; the running turn records the duration of each
    call, from the request to the end of the answer, with its tokens and its `cost` in millionths of
    a dollar. `model` names a call that names no model itself."""

    def __init__(
        self,
        provider: LLMProvider,
        clock: Clock,
        cost: Callable[[ModelFinished], int] = lambda _: 0,
        model: str = "",
    ) -> None:
        self._provider = provider
        self._model = model or provider.name
        self._clock = clock
        self._cost = cost

    @property
    def name(self) -> str:
        return self._provider.name

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        stream = cast("AsyncGenerator[ModelEvent, None]", self._provider.stream(request))
        with timed("model", request.model or self._model, self._clock) as figures:
            async with aclosing(stream) as events:
                async for event in events:
                    if isinstance(event, ModelFinished):
                        used = event.usage
                        figures[:] = (
                            *(used.input_tokens, used.output_tokens),
                            *(used.cache_read_tokens, used.cache_write_tokens),
                            self._cost(event),
                        )
                    yield event

    def findings(self) -> tuple[ModelFinding, ...]:
        """Return what the provider found out about its server."""
        return self._provider.findings() if isinstance(self._provider, CanReportFindings) else ()

    async def load(self) -> None:
        """Implement `CanLoad` for a provider that does."""
        if isinstance(self._provider, CanLoad):
            await self._provider.load()

    async def close(self) -> None:
        await self._provider.close()
