"""A provider that calls a service over HTTP and reads its answer as server-sent events.

The services' own libraries are not used: their import takes up to two seconds and 40 MB, and they
make several objects for each piece of an answer (docs/performance.md). Tests compare the requests
with those of the libraries. Nothing is repeated here: only `FailoverProvider` retries.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, ClassVar, Final, Protocol

import aiohttp
from multidict import CIMultiDict
from pydantic_core import from_json, to_json

from gateway.errors import ModelError, ModelUnavailable
from gateway.llm.event_stream import EventStream, ServerSentEvent
from gateway.llm.json_text import sendable
from gateway.ports import ModelEvent, ModelFinished, ModelRequest, TextDelta
from safety.http.environment_proxy import proxy_of

CONNECT_SECONDS: Final = 5.0
MAX_CONNECTIONS: Final = 1_000
MAX_REASON: Final = 300
"""Characters of a service's error text that are kept."""
MAX_ERROR: Final = 65_536
"""Bytes of an error response that are read."""
_HEADERS: Final = {
    "Accept": "text/event-stream",
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
    "User-Agent": "Parley",
}


class ServiceError(Exception):
    """A service refused a request, or ended an answer with an error: the status, the parsed body
    (None if it is no JSON), the header `retry-after`, and the service's name for the request."""

    def __init__(
        self, status: int, body: object, retry_after: str | None = None, request_id: str = ""
    ) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.body = body
        self.retry_after = retry_after
        self.request_id = request_id


class AnswerReader(Protocol):
    """Assembles one answer."""

    def feed(self, event: Mapping[str, Any]) -> str:
        """Add an event; return its text. Raises `LookupError` or `TypeError` for an event that
        cannot be read."""

    def finish(self) -> ModelFinished:
        """Return the complete answer. Raises `ModelUnavailable` if the stream ended early."""


class StreamingProvider(ABC):
    """Implements `LLMProvider`. `model` is used if a request names none, `headers` are added to
    those of each request. After `close` the next use opens new connections. The time limits of
    an answer are in `time_limits.py`."""

    name: ClassVar[str]
    path: ClassVar[str]
    """The path of a streamed call below the address."""

    def __init__(
        self,
        headers: Mapping[str, str],
        model: str,
        base_url: str,
        body: Callable[[ModelRequest, str], dict[str, Any]],
    ) -> None:
        self._body = body
        self._headers = CIMultiDict(_HEADERS)
        self._headers.update(headers)
        self._model = model
        self._url = f"{base_url.rstrip('/')}/{self.path}"
        self._session: aiohttp.ClientSession | None = None

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """One call; text that arrived together is one event. Raises `ModelUnavailable`,
        `ModelRefused` or `ContextTooLong`."""
        session = self._session = self._session or self._connect()
        model = request.model or self._model
        reader = self.reader(model)
        content = body_json({**self._body(request, model), "stream": True})
        try:
            async with session.post(
                self._url, data=content, headers=self._headers, allow_redirects=False
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
        session, self._session = self._session, None
        if session is not None:
            await session.close()

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

    def _connect(self) -> aiohttp.ClientSession:
        timeout = aiohttp.ClientTimeout(None, sock_connect=CONNECT_SECONDS)
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=MAX_CONNECTIONS),
            timeout=timeout,
            proxy=proxy_of(self._url),
            cookie_jar=aiohttp.DummyCookieJar(),
        )


def with_headers_of(variable: str, headers: Mapping[str, str]) -> CIMultiDict[str]:
    """Return these headers with those of an environment variable, one `name: value` a line, as the
    services' libraries read `ANTHROPIC_CUSTOM_HEADERS` and `OPENAI_CUSTOM_HEADERS`."""
    result = CIMultiDict(headers)
    for line in os.environ.get(variable, "").split("\n"):
        name, colon, value = line.partition(":")
        if colon:
            result[name.strip()] = value.strip()
    return result


def body_json(body: Mapping[str, Any]) -> bytes:
    """Encode a request. Unpaired surrogates, which no JSON can carry, become question marks."""
    try:
        return to_json(body)
    except ValueError:
        return to_json(sendable(body))


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
    headers = response.headers
    request_id = headers.get("x-request-id") or headers.get("request-id") or ""
    return ServiceError(response.status, body, headers.get("retry-after"), request_id)
