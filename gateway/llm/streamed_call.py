"""A provider that calls a service over HTTP and reads its answer as server-sent events.

The objects that the services' own libraries make for each piece of an answer are not used
(docs/explanation/performance.md). Nothing is repeated here: only `FailoverProvider` retries.
"""

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    aclosing,
    asynccontextmanager,
    suppress,
)
from typing import Any, ClassVar, Final, NamedTuple, Protocol

import aiohttp
from multidict import CIMultiDict
from pydantic_core import from_json, to_json

from gateway.errors import ModelError, ModelUnavailable
from gateway.llm.event_stream import EventDecoder, ServerSentEvent
from gateway.llm.json_text import parse_loosely, sendable
from gateway.ports import ModelEvent, ModelFinished, ModelRequest, TextDelta, Working
from safety.http.environment_proxy import proxy_of

CONNECT_SECONDS: Final = 5.0
MAX_CONNECTIONS: Final = 1_000
MAX_REASON: Final = 300
"""Characters of a service's error text that are kept."""
MAX_ERROR: Final = 65_536
"""Bytes of an error response that are read."""
MAX_ADAPTATIONS: Final = 6
"""Further requests of one call, each without a part that the service refused."""
MAX_CAUSES: Final = 8
MAX_REQUEST_ID: Final = 100
PAGE: Final = "the response is a page of HTML, not an answer of a model"
MAX_MODEL: Final = 200
"""Characters of a model's name."""
MAX_FIGURE: Final = 100_000_000
"""Tokens; a larger count of a service is not believed."""
TEXT_OF_TOKEN: Final = 32
SHORT_TEXT: Final = 10_000
"""An answer has at most so many characters for each token of its limit, and so many more."""
BYTES_OF_TOKEN: Final = 2_000
SHORT_BODY: Final = 8 * 1024 * 1024
MAX_BODY: Final = 64 * 1024 * 1024
"""The same for the bytes of its response, reasoning and frames included; never more than the last
one."""
MAX_CLOSED: Final = 2
"""Closed connections that one request can meet before it counts as failed."""
CLOSED_SECONDS: Final = 5.0
"""Seconds within which a request meets a connection that its server closed; a request that is lost
later was in work."""
_HEADERS: Final = {
    "Accept": "text/event-stream",
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
    "User-Agent": "Parley",
}


class ServiceError(Exception):
    """A service refused a request, or ended an answer with an error: the status, the parsed body
    (the text if it is no JSON, None if it is empty), the header `retry-after`, and the service's
    name for the request."""

    def __init__(
        self, status: int, body: object, retry_after: str | None = None, request_id: str = ""
    ) -> None:
        super().__init__(f"status {status}")
        self.status = status
        self.body = body
        self.retry_after = retry_after
        self.request_id = request_id


class OpenResponse(NamedTuple):
    """A response whose body is read: `read` returns the next bytes, empty at its end."""

    read: Callable[[], Awaitable[bytes]]
    headers: Mapping[str, str]


class AnswerTooLong(Exception):
    """A service sends far more than it was asked for."""


class AnswerReader(Protocol):
    """Assembles one answer.

    `rest_seconds` is None until the answer is complete, then the seconds to wait for the rest of
    the stream. `working` is set by an event that has no text for people, but a part of the answer;
    the caller resets it.
    """

    rest_seconds: float | None
    working: bool

    def feed(self, event: Mapping[str, Any]) -> str:
        """Add an event; return its text. Raises `LookupError` or `TypeError` for an event that
        cannot be read."""

    def finish(self) -> ModelFinished:
        """Return the complete answer. Raises `ModelUnavailable` if the stream ended early."""


class StreamedCall:
    """One call of a provider, with the requests that it takes."""

    def __init__(self, provider: "StreamingProvider", request: ModelRequest, model: str) -> None:
        self.provider = provider
        self.request = request
        self.model = model

    def body(self) -> dict[str, Any]:
        """Return the body of the next request, with `stream` if it is not to be true."""
        return self.provider.body(self.request, self.model)

    def reader(self) -> AnswerReader:
        """Return the reader of the next answer."""
        return self.provider.reader(self.request, self.model)

    def adapts(self, error: Exception) -> bool:
        """Return True if the next body avoids the reason of the error; it is then sent."""
        return False

    def ends(self, error: Exception) -> ModelFinished | None:
        """Return the answer that an error stands for; None for a failure."""
        return None

    def answered(self, reader: AnswerReader) -> None:
        """Learn from a complete answer."""


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
        self._answered_before = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """One call; text that arrived together is one event. Raises `ModelUnavailable`,
        `ModelRefused` or `ContextTooLong`."""
        call = self.call(request, request.model or self._model)
        for further in range(MAX_ADAPTATIONS, -1, -1):
            reader, shown = call.reader(), False
            content = body_json({"stream": True, **call.body()})
            try:
                async with aclosing(self._answer(content, reader, request.max_tokens)) as events:
                    async for event in events:
                        shown = shown or isinstance(event, TextDelta)
                        yield event
            except Exception as error:
                if further and not shown and call.adapts(error):
                    continue
                if (ended := call.ends(error)) is not None:
                    yield ended
                    return
                if isinstance(error, ModelError):
                    raise
                if isinstance(error, aiohttp.ClientPayloadError):
                    raise ModelUnavailable("the answer was interrupted") from error
                if isinstance(error, AnswerTooLong):
                    told = "the answer is far longer than model.max_tokens"
                    raise ModelUnavailable(told, passes=False) from error
                raise self.translate(error) from error
            finished = reader.finish()
            call.answered(reader)
            yield finished
            return

    async def _answer(
        self, content: bytes, reader: AnswerReader, tokens: int
    ) -> AsyncGenerator[ModelEvent, None]:
        """Send a request, and yield what arrives until the answer of so many tokens ends. Raises
        any error."""
        body_left = min(MAX_BODY, SHORT_BODY + BYTES_OF_TOKEN * tokens)
        text_left = SHORT_TEXT + TEXT_OF_TOKEN * tokens
        async with self._opened(content) as response:
            decoder = self.decoder()
            more, at_start, until = True, True, float("inf")
            while more:
                if reader.rest_seconds is not None:
                    until = min(until, asyncio.get_running_loop().time() + reader.rest_seconds)
                data = await _next(response, reader, until)
                more = bool(data)
                if at_start and _is_page(data, response.headers):
                    raise ModelUnavailable(PAGE, passes=False)
                at_start = False
                body_left -= len(data)
                text, problem = self._read(reader, decoder.feed(data) if more else decoder.end())
                if kept := text[: max(0, text_left)]:
                    yield TextDelta(kept)
                elif reader.working:
                    yield Working()
                reader.working = False
                text_left -= len(text)
                if body_left < 0 or text_left < 0:
                    raise AnswerTooLong
                if isinstance(problem, ServiceError):
                    problem.request_id = problem.request_id or request_id_of(response.headers)
                if problem is not None and reader.rest_seconds is None:
                    raise problem

    @asynccontextmanager
    async def _opened(self, content: bytes) -> AsyncIterator[OpenResponse]:
        """Send a request, and again if its connection is an older one that the server closed
        meanwhile: the server has not seen the request. The next one can be of that kind too."""
        async with AsyncExitStack() as stack:
            for further in range(MAX_CLOSED, -1, -1):
                began = asyncio.get_running_loop().time()
                try:
                    response = await stack.enter_async_context(self.open(content))
                    break
                except Exception as error:
                    quick = asyncio.get_running_loop().time() - began <= CLOSED_SECONDS
                    if not (further and self._answered_before and quick and _is_closed(error)):
                        raise
            self._answered_before = True
            yield response

    def open(self, content: bytes) -> AbstractAsyncContextManager[OpenResponse]:
        """Send a request with this body. Raises `ServiceError` for a status other than 200."""
        return self._posted(content)

    @asynccontextmanager
    async def _posted(self, content: bytes) -> AsyncIterator[OpenResponse]:
        session = self._session = self._session or self._connect()
        async with session.post(
            self._url, data=content, headers=self._headers, allow_redirects=False
        ) as response:
            if response.status != 200:
                raise await _refusal(response)
            yield OpenResponse(response.content.readany, response.headers)

    async def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def call(self, request: ModelRequest, model: str) -> StreamedCall:
        """Begin a call."""
        return StreamedCall(self, request, model)

    def body(self, request: ModelRequest, model: str) -> dict[str, Any]:
        """Return the body of a request for this model."""
        return self._body(request, model)

    def decoder(self) -> EventDecoder:
        """Return the decoder of one response body."""
        return EventDecoder()

    @abstractmethod
    def reader(self, request: ModelRequest, model: str) -> AnswerReader:
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
        value = parse_loosely(data)
    value = value[0] if isinstance(value, list) and value else value
    if not isinstance(value, dict):
        raise ModelUnavailable("the answer cannot be read")
    return value


def model_name(value: object, otherwise: str) -> str:
    """Return the name by which a service calls its model; `otherwise` without a usable one."""
    usable = isinstance(value, str) and 0 < len(value) <= MAX_MODEL and value.isprintable()
    return str(value) if usable else otherwise


def figure(value: object) -> int:
    """Return a count of tokens; 0 for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value <= MAX_FIGURE else 0


def retry_after(header: str | None) -> float | None:
    """Return the seconds of a `retry-after`, at least 0; None if it is missing or a date."""
    with suppress(ValueError):
        return max(0.0, float(header)) if header else None
    return None


def _is_closed(error: BaseException | None) -> bool:
    """Return True if a connection was closed before a response began. The error of aiohttp may be
    the cause of another library's error."""
    while error is not None:
        if isinstance(error, aiohttp.ClientConnectorError):
            return False
        if isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientOSError):
            return True
        if isinstance(error, aiohttp.ClientConnectionResetError):
            return True
        error = error.__cause__
    return False


async def _next(response: OpenResponse, reader: AnswerReader, until: float) -> bytes:
    """Return the next bytes of a response; empty at its end. Behind a complete answer, an error is
    the end, and a point in time of the loop: some servers keep the connection busy."""
    if reader.rest_seconds is None:
        return await response.read()
    with suppress(Exception):
        async with asyncio.timeout_at(until):
            return await response.read()
    return b""


def cause_of(error: BaseException) -> str:
    """Return why there is no response: the words of the system if it has some, otherwise the name
    of the innermost error."""
    name = type(error).__name__
    for _ in range(MAX_CAUSES):
        if words := getattr(error, "strerror", None):
            return str(words)
        name = type(error).__name__
        if error.__cause__ is None:
            break
        error = error.__cause__
    return name


def _is_page(first: bytes, headers: Mapping[str, str]) -> bool:
    """Return True for a page, such as the sign-in of a proxy; some servers name an answer HTML."""
    return first.lstrip()[:1] == b"<" and "html" in headers.get("content-type", "").lower()


async def _refusal(response: aiohttp.ClientResponse) -> ServiceError:
    read = bytearray()
    while len(read) < MAX_ERROR and (data := await response.content.readany()):
        read += data
    body: object
    try:
        body = from_json(bytes(read))
    except ValueError:
        body = bytes(read).decode("utf-8", "replace").strip() or None
    after = response.headers.get("retry-after")
    return ServiceError(response.status, body, after, request_id_of(response.headers))


def request_id_of(headers: Mapping[str, str]) -> str:
    """Return the service's name for a request; "" without a usable one."""
    name = headers.get("x-request-id") or headers.get("request-id") or ""
    return name[:MAX_REQUEST_ID] if name.isprintable() else ""
