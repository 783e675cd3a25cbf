"""A provider that calls a service over HTTP and reads its answer as server-sent events.

The service's own library knows its address, its headers and its credentials. Requests do not go
through it: it makes several objects for each piece of an answer, which took most of the processor
time of a message (docs/performance.md).

The libraries are slow to import (Anthropic's takes two seconds and 40 MB), so they are loaded on
first use, in a thread. Nothing is repeated here: only `FailoverProvider` retries.
"""

import asyncio
import importlib
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from pydantic_core import from_json, to_json

from gateway.errors import ModelError, ModelUnavailable
from gateway.llm.event_stream import EventStream, ServerSentEvent
from gateway.llm.json_text import sendable
from gateway.ports import ModelEvent, ModelFinished, ModelRequest, TextDelta

CONNECT_SECONDS: Final = 5.0
MAX_CONNECTIONS: Final = 1_000
MAX_REASON: Final = 300
"""Characters of a service's error text that are kept."""
MAX_ERROR: Final = 65_536
"""Bytes of an error response that are read."""
_STREAM: Final = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}


class ServiceError(Exception):
    """A service refused a request, or ended an answer with an error: the status, the parsed body
    (None if it is no JSON), and the header `retry-after`."""

    def __init__(self, status: int, body: object, retry_after: str | None = None) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.body = body
        self.retry_after = retry_after


class AnswerReader(Protocol):
    """Assembles one answer."""

    def feed(self, event: Mapping[str, Any]) -> str:
        """Add an event; return its text. Raises `LookupError` or `TypeError` for an event that
        cannot be read."""

    def finish(self) -> ModelFinished:
        """Return the complete answer. Raises `ModelUnavailable` if the stream ended early."""


@dataclass(frozen=True, slots=True)
class _Service:
    """The open connections to a service, the address of its calls, and the headers of each."""

    session: aiohttp.ClientSession
    url: str
    headers: Mapping[str, str]


class StreamingProvider(ABC):
    """Implements `LLMProvider`. `model` is used if a request names none. After `close` the next use
    loads the library again and opens new connections."""

    name: ClassVar[str]
    """The provider's name, which is also that of its library."""
    client: ClassVar[str]
    """The library's class of clients."""
    path: ClassVar[str]
    """The path of a streamed call below the address."""

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
        self._loading: asyncio.Task[_Service] | None = None

    async def warm(self) -> None:
        """Load the library now, so that the first question does not wait for it."""
        await self._loaded()

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """One call; text that arrived together is one event. Raises `ModelUnavailable`,
        `ModelRefused` or `ContextTooLong`."""
        service = await self._loaded()
        model = request.model or self._model
        reader = self.reader(model)
        content = body_json({**self._body(request, model), "stream": True})
        try:
            async with service.session.post(
                service.url, data=content, headers=service.headers, allow_redirects=False
            ) as response:
                if response.status != 200:
                    raise await _refusal(response)
                events = EventStream()
                async for data in response.content.iter_any():
                    text, problem = self._read(reader, events.feed(data))
                    if text:
                        yield TextDelta(text)
                    if problem is not None:
                        raise problem
        except ModelError:
            raise
        except Exception as error:
            raise self.translate(error) from error
        yield reader.finish()

    async def close(self) -> None:
        loading, self._loading = self._loading, None
        if loading is not None:
            await (await loading).session.close()

    @abstractmethod
    def reader(self, model: str) -> AnswerReader:
        """Return the reader of one answer of this model."""

    @abstractmethod
    def translate(self, error: Exception) -> ModelError:
        """Translate a `ServiceError`, or any other exception of a call."""

    @abstractmethod
    def event_of(self, event: ServerSentEvent) -> Mapping[str, Any] | None:
        """Return the content of an event; None for one that carries nothing. Raises
        `ServiceError` for an error that the service reports within an answer."""

    def _read(
        self, reader: AnswerReader, events: Iterator[ServerSentEvent]
    ) -> tuple[str, Exception | None]:
        """Return the text of the events up to one that cannot be read, and its error."""
        texts = []
        try:
            for event in events:
                content = self.event_of(event)
                if content is not None:
                    texts.append(reader.feed(content))
        except Exception as error:  # noqa: BLE001 - returned; the caller yields the text, then raises it
            return "".join(texts), error
        return "".join(texts), None

    async def _loaded(self) -> _Service:
        """Return the service; a cancelled caller does not affect others that wait."""
        if self._loading is None:
            self._loading = asyncio.create_task(self._load())
        return await asyncio.shield(self._loading)

    async def _load(self) -> _Service:
        url, headers = await asyncio.to_thread(self._of_library)
        timeout = aiohttp.ClientTimeout(None, sock_connect=CONNECT_SECONDS, sock_read=self._silence)
        connector = aiohttp.TCPConnector(limit=MAX_CONNECTIONS)
        session = aiohttp.ClientSession(
            connector=connector,
            timeout=timeout,
            proxy=proxy_of(url),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return _Service(session, url, headers)

    def _of_library(self) -> tuple[str, dict[str, str]]:
        """Return the address of calls and the headers that the library would send."""
        library = importlib.import_module(self.name)
        made = getattr(library, self.client)(api_key=self._api_key, base_url=self._base_url)
        given: Mapping[str, object] = {**made.default_headers, **made.auth_headers}
        headers = {name: value for name, value in given.items() if isinstance(value, str)}
        return f"{str(made.base_url).rstrip('/')}/{self.path}", {**headers, **_STREAM}


def body_json(body: Mapping[str, Any]) -> bytes:
    """Encode a request. Unpaired surrogates, which no JSON can carry, become question marks."""
    try:
        return to_json(body)
    except ValueError:
        return to_json(sendable(body))


def proxy_of(url: str) -> str | None:
    """Return the proxy that the environment sets for an address (`HTTPS_PROXY`, `NO_PROXY`), read
    once: aiohttp's `trust_env` starts two threads for each request."""
    parts = urlsplit(url)
    if proxy_bypass(parts.hostname or ""):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


def read_object(data: bytes) -> Mapping[str, Any]:
    """Parse the JSON object of an event. Raises `ModelUnavailable`."""
    try:
        value = from_json(data)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ModelUnavailable("the answer cannot be read")
    return value


def retry_after(header: str | None) -> float | None:
    """Return the seconds of a `retry-after`, at least 0; None if it is missing or a date."""
    with suppress(ValueError):
        return max(0.0, float(header)) if header else None
    return None


async def _refusal(response: aiohttp.ClientResponse) -> ServiceError:
    read = bytearray()
    while len(read) < MAX_ERROR and (data := await response.content.readany()):
        read += data
    try:
        body = from_json(bytes(read))
    except ValueError:
        body = None
    return ServiceError(response.status, body, response.headers.get("retry-after"))
