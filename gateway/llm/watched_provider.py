"""One model under watch: its calls have time limits and are timed, and its failures are noted."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from datetime import datetime, timedelta
from typing import Final, cast

import structlog
from msgspec import Struct

from gateway.errors import AnswerStalled, ModelError, ModelUnavailable, NoFirstToken
from gateway.immutable import replace
from gateway.llm.model_health import ModelHealth
from gateway.observe.timing import timed
from gateway.policy.time_limits import TimeLimits
from gateway.ports import (
    CanLoad,
    CanReportFindings,
    Clock,
    LLMProvider,
    ModelEvent,
    ModelFinding,
    ModelFinished,
    ModelRequest,
    TextBlock,
    ToolCall,
)

KEPT: Final = timedelta(days=1)
"""For how long a finding is shown after it was made for the last time."""
USED_UP: Final = "Reasoning used up the length limit of an answer before its first word"
LONGER: Final = "model.max_tokens: a larger number"

log = structlog.get_logger(__name__)


class WatchedModel(Struct, frozen=True):
    """A model as the watch sees it: its name, its address as people may see it, the time limits of
    a call, the secrets of its configuration, which no message may show, and its section."""

    name: str
    server: str
    limits: TimeLimits
    secrets: Sequence[str] = ()
    section: str = "model"


class WatchedProvider:
    """Implements `LLMProvider` around another one. An exception that is no `ModelError` becomes
    one.

    The running turn records the duration of each call, from the request to the end of the answer,
    with its tokens and its `cost` in millionths of a dollar."""

    def __init__(
        self,
        provider: LLMProvider,
        model: WatchedModel,
        health: ModelHealth,
        clock: Clock,
        cost: Callable[[ModelFinished], int] = lambda _: 0,
    ) -> None:
        self._provider = provider
        self._model = model
        self._health = health
        self._clock = clock
        self._cost = cost
        self._used_up: datetime | None = None

    @property
    def name(self) -> str:
        return self._provider.name

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        began, model = self._clock.monotonic(), request.model or self._model.name
        stream = cast("AsyncGenerator[ModelEvent, None]", self._provider.stream(request))
        with timed("model", model, self._clock) as figures:
            try:
                async with aclosing(within(self._model.limits, stream)) as events:
                    async for event in events:
                        if isinstance(event, ModelFinished):
                            self._finished(model, event)
                            figures[:] = self._figures(event)
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
        """Return what the provider found out about its server, and what its answers show."""
        found = findings_of(self._provider)
        if self._used_up is not None and self._clock.now() - self._used_up <= KEPT:
            own = ModelFinding(self._model.name, self._model.server, USED_UP, LONGER)
            found = (*found, own)
        return tuple(replace(one, setting=self._of_section(one.setting)) for one in found)

    async def load(self) -> None:
        """Implement `CanLoad` for a provider that does."""
        if isinstance(self._provider, CanLoad):
            await self._provider.load()

    async def close(self) -> None:
        await self._provider.close()

    def _of_section(self, setting: str) -> str:
        """Return a setting of the section `model` as one of this model."""
        key = setting.removeprefix("model.")
        return setting if key == setting else f"{self._model.section}.{key}"

    def _finished(self, model: str, finished: ModelFinished) -> None:
        self._health.call_answered(model, self._model.server)
        said = any(
            isinstance(block, ToolCall) or (isinstance(block, TextBlock) and block.text.strip())
            for block in finished.message.content
        )
        if finished.stop == "max_tokens" and not said:
            self._used_up = self._clock.now()
            log.warning("model_reasoned_too_long", model=model, hint="raise model.max_tokens")

    def _figures(self, finished: ModelFinished) -> tuple[int, ...]:
        used = finished.usage
        return (
            *(used.input_tokens, used.output_tokens),
            *(used.cache_read_tokens, used.cache_write_tokens),
            self._cost(finished),
        )

    def _failed(self, model: str, error: ModelError, began: float) -> None:
        seconds = self._clock.monotonic() - began
        self._health.call_failed(model, self._model.server, error, seconds, self._model.secrets)


def findings_of(provider: LLMProvider) -> tuple[ModelFinding, ...]:
    """Return the findings of a provider; none if it finds nothing out."""
    return provider.findings() if isinstance(provider, CanReportFindings) else ()


async def within(
    limits: TimeLimits, stream: AsyncGenerator[ModelEvent, None]
) -> AsyncGenerator[ModelEvent, None]:
    """Yield the events of a call. Any event counts as a sign of work; the time that the reader
    spends on one does not. Raises `NoFirstToken` and `AnswerStalled`."""
    seconds, began = limits.first_token, False
    async with aclosing(stream) as events:
        while True:
            try:
                async with asyncio.timeout(seconds) as bound:
                    event = await anext(events, None)
            except TimeoutError as error:
                if not bound.expired():
                    raise
                if began:
                    raise AnswerStalled(f"no further token within {seconds:g} s") from error
                raise NoFirstToken(f"no first token within {seconds:g} s") from error
            if event is None:
                return
            seconds, began = limits.between_tokens, True
            yield event
