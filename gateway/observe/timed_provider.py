"""A language model whose calls are timed."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import cast

from gateway.observe.observer import timed
from gateway.ports import Clock, LLMProvider, ModelEvent, ModelRequest


class TimedProvider:
    """Implements `gateway.ports.LLMProvider` around another; the exchange that runs keeps how long
    each call took, from asking to the end of the answer."""

    def __init__(self, provider: LLMProvider, clock: Clock) -> None:
        self._provider = provider
        self._clock = clock

    @property
    def name(self) -> str:
        """The provider's."""
        return self._provider.name

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """The provider's events. Raises a `ModelError`."""
        stream = cast("AsyncGenerator[ModelEvent, None]", self._provider.stream(request))
        with timed("model", request.model or self._provider.name, self._clock):
            async with aclosing(stream) as events:
                async for event in events:
                    yield event

    async def close(self) -> None:
        """Close the provider."""
        await self._provider.close()
