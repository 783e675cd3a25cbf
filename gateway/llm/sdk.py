"""A provider on top of a service's own library.

The libraries are slow to import (Anthropic's takes two seconds and 40 MB), so they are loaded on
first use, in a thread. Their retries are off: only `FailoverProvider` retries.
"""

import asyncio
import importlib
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from operator import attrgetter
from typing import Any, ClassVar, Final

from gateway.errors import ModelError
from gateway.ports import ModelEvent, ModelRequest, TextDelta

CONNECT_SECONDS: Final = 5.0
MAX_REASON: Final = 300
"""Characters of a service's error text that are kept."""


class SdkProvider(ABC):
    """Implements `LLMProvider`. `model` is used if a request names none. After `close` the next use
    creates a new client."""

    name: ClassVar[str]
    """The provider's name, which is also that of its library."""
    client: ClassVar[str]
    """The library's class of clients."""
    endpoint: "ClassVar[attrgetter[Any]]"
    """Returns the resource of a client whose `create` starts a streamed call."""
    reader: ClassVar[type[Any]]
    """Assembles an answer: `feed` returns the text of an event, `finish` the `ModelFinished`, or
    raises `ModelUnavailable` if the stream ended early."""

    def __init__(
        self,
        api_key: str,
        model: str,
        base_url: str,
        silence_seconds: float,
        body: Callable[[ModelRequest, str], dict[str, Any]],
    ) -> None:
        self._body = body
        self._api_key = api_key
        self._model = model
        self._base_url = base_url
        self._silence = silence_seconds
        self._loading: asyncio.Task[tuple[Any, Any]] | None = None

    async def warm(self) -> None:
        """Load the library now, so that the first question does not wait for it."""
        await self._loaded()

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """One call. Raises `ModelUnavailable`, `ModelRefused` or `ContextTooLong`."""
        sdk, client = await self._loaded()
        model = request.model or self._model
        reader = type(self).reader(model)
        try:
            endpoint = type(self).endpoint(client)
            events: Any = await endpoint.create(**self._body(request, model), stream=True)
            async with events:
                async for event in events:
                    text = reader.feed(event.model_dump())
                    if text:
                        yield TextDelta(text)
        except Exception as error:
            if isinstance(error, ModelError):
                raise
            raise self.translate(error, sdk) from error
        yield reader.finish()

    async def close(self) -> None:
        loading, self._loading = self._loading, None
        if loading is not None:
            _, client = await loading
            await client.close()

    @abstractmethod
    def translate(self, error: Exception, sdk: Any) -> ModelError:
        """Translate an exception of the library."""

    async def _loaded(self) -> tuple[Any, Any]:
        """Return library and client; a cancelled caller does not affect others that wait."""
        if self._loading is None:
            self._loading = asyncio.create_task(asyncio.to_thread(self._load))
        return await asyncio.shield(self._loading)

    def _load(self) -> tuple[Any, Any]:
        sdk = importlib.import_module(self.name)
        return sdk, getattr(sdk, self.client)(
            api_key=self._api_key,
            base_url=self._base_url,
            max_retries=0,
            timeout=sdk.Timeout(self._silence, connect=CONNECT_SECONDS),
        )


def retry_after(header: str | None) -> float | None:
    """Return the seconds of a `retry-after`, at least 0; None if it is missing or a date."""
    with suppress(ValueError):
        return max(0.0, float(header)) if header else None
    return None
