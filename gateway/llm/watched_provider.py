"""One model under watch: its calls have time limits, and its failures are noted."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import cast

from msgspec import Struct

from gateway.errors import ModelError, ModelUnavailable
from gateway.llm.model_health import ModelHealth
from gateway.llm.time_limits import TimeLimits, within
from gateway.ports import (
    CanReportFindings,
    Clock,
    LLMProvider,
    ModelEvent,
    ModelFinding,
    ModelFinished,
    ModelRequest,
)


class WatchedModel(Struct, frozen=True):
    """What is known of a model: its name, its address as people may see it, the time limits of a
    call, and the secrets of its configuration, which no message may show."""

    name: str
    server: str
    limits: TimeLimits
    secrets: Sequence[str] = ()


class WatchedProvider:
    """Implements `LLMProvider` around another one. An exception that is no `ModelError` becomes
    one."""

    def __init__(
        self, provider: LLMProvider, model: WatchedModel, health: ModelHealth, clock: Clock
    ) -> None:
        self._provider = provider
        self._model = model
        self._health = health
        self._clock = clock

    @property
    def name(self) -> str:
        return self._provider.name

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        began, model = self._clock.monotonic(), request.model or self._model.name
        stream = cast("AsyncGenerator[ModelEvent, None]", self._provider.stream(request))
        try:
            async with aclosing(within(self._model.limits, stream)) as events:
                async for event in events:
                    if isinstance(event, ModelFinished):
                        self._health.call_answered(model, self._model.server)
                    yield event
        except ModelError as error:
            self._failed(model, error, began)
            raise
        except Exception as error:
            reason = f"the provider failed: {type(error).__name__}"
            failed = ModelUnavailable(reason, passes=False)
            failed.__cause__ = error
            self._failed(model, failed, began)
            raise failed from error

    def findings(self) -> tuple[ModelFinding, ...]:
        """Return what the provider found out about its server."""
        return findings_of(self._provider)

    async def close(self) -> None:
        await self._provider.close()

    def _failed(self, model: str, error: ModelError, began: float) -> None:
        seconds = self._clock.monotonic() - began
        self._health.call_failed(model, self._model.server, error, seconds, self._model.secrets)


def findings_of(provider: LLMProvider) -> tuple[ModelFinding, ...]:
    """Return the findings of a provider; none if it finds nothing out."""
    return provider.findings() if isinstance(provider, CanReportFindings) else ()
