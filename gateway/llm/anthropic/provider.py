"""Claude, by the Messages API and Anthropic's own library: addresses, authentication, headers,
versions, errors and the transport.

The library's import takes two seconds of processor time and 40 MB, so it runs on a thread
(docs/explanation/performance.md). Its answers stay bytes: its objects for each piece of an answer
are not used.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from gateway.errors import ModelError, ModelRefused, ModelUnavailable
from gateway.immutable import replace
from gateway.llm.anthropic.answer import AnthropicReader
from gateway.llm.anthropic.request import documents_of, maker_of, prefix_of, to_body
from gateway.llm.event_stream import AnswerBody, ServerSentEvent
from gateway.llm.overflow import context_too_long
from gateway.llm.plainer_call import PlainerCall, without_pdfs
from gateway.llm.streamed_call import (
    CONNECT_SECONDS,
    MAX_CONNECTIONS,
    MAX_ERROR,
    MAX_REASON,
    OpenResponse,
    ServiceError,
    StreamingProvider,
    cause_of,
    read_object,
    request_id_of,
    retry_after,
)
from gateway.ports import ModelEvent, ModelFinished, ModelMessage, ModelRequest

if TYPE_CHECKING:
    import httpx2
    from anthropic import AsyncAnthropic


PATH: Final = "/v1/messages"
_HEADERS: Final = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
_OF_THE_MACHINE: Final = tuple(
    f"X-Stainless-{name}" for name in ("OS", "Arch", "Runtime", "Runtime-Version")
)
"""Headers in which the library describes the operator's machine. They are not sent."""


@dataclass(frozen=True, slots=True)
class AnthropicAccess:
    """How the service is reached: `auth_token`, otherwise `api_key`, the address, and headers that
    are added to each request."""

    api_key: str = field(default="", repr=False)
    auth_token: str = field(default="", repr=False)
    base_url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


class Library:
    """The library's client, which is made when it is first needed. After `close` the next use makes
    another one."""

    def __init__(self, access: AnthropicAccess) -> None:
        self._access = access
        self._client: AsyncAnthropic | None = None
        self._loading = asyncio.Lock()

    async def load(self) -> "AsyncAnthropic":
        """Return the client; import the library outside the event loop if that was not done yet."""
        if self._client is not None:
            return self._client
        async with self._loading:
            if self._client is None:
                self._client = await asyncio.to_thread(_client, self._access)
            return self._client

    @asynccontextmanager
    async def open(self, content: bytes) -> AsyncIterator[OpenResponse]:
        """Send a request with this body. Raises `ServiceError` for a status that is no success, and
        the library's errors without a response."""
        client = await self.load()
        import anthropic  # noqa: PLC0415 - loaded by now
        import httpx2  # noqa: PLC0415 - loaded by now

        try:
            answer: object = await client.post(
                PATH,
                content=content,
                cast_to=httpx2.Response,
                options={"headers": _HEADERS | dict.fromkeys(_OF_THE_MACHINE, anthropic.omit)},
                stream=True,
                stream_cls=anthropic.AsyncStream[object],
            )
            response = cast("httpx2.Response", answer)  # what `cast_to` asks for
        except anthropic.APIStatusError as error:
            headers = error.response.headers
            request_id = request_id_of(headers)
            raise ServiceError(
                error.status_code, error.body, headers.get("retry-after"), request_id
            ) from error
        try:
            pieces = aiter(response.aiter_bytes())

            async def read() -> bytes:
                return await anext(pieces, b"")

            yield OpenResponse(read, response.headers)
        finally:
            await response.aclose()

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()


def _client(access: AnthropicAccess) -> "AsyncAnthropic":
    """Make a client that never repeats a request and follows no redirect; its transport is aiohttp,
    which takes half of the processor time of the library's other one."""
    import anthropic  # noqa: PLC0415 - slow: this function runs on a thread
    import httpx2  # noqa: PLC0415 - comes with it

    timeout = httpx2.Timeout(None, connect=CONNECT_SECONDS)  # `time_limits.py` has the others
    return anthropic.AsyncAnthropic(
        api_key=None if access.auth_token else access.api_key or None,
        auth_token=access.auth_token or None,
        base_url=access.base_url,
        default_headers=access.headers,
        max_retries=0,
        timeout=timeout,
        open_telemetry=False,  # Parley writes its own traces
        http_client=anthropic.DefaultAioHttpClient(
            timeout=timeout,
            follow_redirects=False,
            limits=httpx2.Limits(max_connections=MAX_CONNECTIONS),
            event_hooks={"response": [_bound_error]},
        ),
    )


async def _bound_error(response: "httpx2.Response") -> None:
    """Bound what the library reads of an error response."""
    if response.is_success:
        return
    import httpx2  # noqa: PLC0415 - loaded by now

    class Bounded(httpx2.AsyncByteStream):
        def __init__(self, stream: httpx2.AsyncByteStream) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = MAX_ERROR
            async for data in self._stream:
                yield data[:left]
                left -= len(data)
                if left <= 0:
                    return

        async def aclose(self) -> None:
            await self._stream.aclose()

    response.headers.pop("content-encoding", None)  # a short text can become a very long one
    assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101 - of an asynchronous client
    response.stream = Bounded(response.stream)


DEFAULT_MODEL: Final = "claude-sonnet-5-5"
DEFAULT_BASE_URL: Final = "https://api.anthropic.com"
MAX_PAUSES: Final = 3
"""Continuations of one answer."""
_PASSING: Final = frozenset({"overloaded_error", "api_error", "rate_limit_error", "timeout_error"})


class AnthropicProvider(StreamingProvider):
    """The Messages API, called by Anthropic's own library. Implements `LLMProvider` and `CanLoad`.

    `auth_token`, otherwise `api_key`, authenticates; `headers` are added to those of each request.
    With `web` the service searches and fetches for requests that want it.
    """

    name = "anthropic"
    path = PATH

    def __init__(
        self,
        api_key: str = "",
        model: str = DEFAULT_MODEL,
        base_url: str = DEFAULT_BASE_URL,
        *,
        auth_token: str = "",
        headers: Mapping[str, str] | None = None,
        web: bool = False,
        pdf: bool = True,
    ) -> None:
        model, base_url = model or DEFAULT_MODEL, base_url or DEFAULT_BASE_URL
        super().__init__({}, model, base_url, to_body)
        self._address = base_url
        self._web = web
        self._pdf = pdf
        self._library = Library(AnthropicAccess(api_key, auth_token, base_url, headers or {}))

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """One answer; one that the service interrupts for its own tools is continued."""
        request = request if self._pdf else without_pdfs(request)
        return self._whole(request) if self._web else super().stream(request)

    async def _whole(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        begun: ModelFinished | None = None
        for _ in range(MAX_PAUSES + 1):
            asked = request if begun is None else _continued(request, begun)
            events = cast("AsyncGenerator[ModelEvent, None]", super().stream(asked))
            async with aclosing(events):
                async for event in events:
                    if isinstance(event, ModelFinished):
                        begun = event if begun is None else _joined(begun, event)
                    else:
                        yield event
            if begun is None or begun.stop != "paused":
                break
        if begun is not None:
            yield begun

    async def load(self) -> None:
        """Import the library outside the event loop."""
        await self._library.load()

    async def close(self) -> None:
        await self._library.close()

    def open(self, content: bytes) -> AbstractAsyncContextManager[OpenResponse]:
        return self._library.open(content)

    def call(self, request: ModelRequest, model: str) -> PlainerCall:
        return PlainerCall(self, request, model)

    def decoder(self) -> AnswerBody:
        return AnswerBody()

    def body(self, request: ModelRequest, model: str) -> dict[str, Any]:
        return to_body(request, model, self._address, web=self._web)

    def reader(self, request: ModelRequest, model: str) -> AnthropicReader:
        maker = maker_of(self._address, model)
        pages = documents_of(request, maker) if self._web else ()
        return AnthropicReader(model, maker, lambda: prefix_of(request), pages)

    def event_of(self, event: ServerSentEvent) -> Mapping[str, Any] | None:
        if event.name == b"ping" or not event.data.lstrip().startswith(b"{"):
            return None
        content = read_object(event.data)
        if event.name == b"error" or content.get("type") == "error" or "error" in content:
            raise ServiceError(200, content)
        return content

    def translate(self, error: Exception) -> ModelError:
        if not isinstance(error, ServiceError):
            if isinstance(error, LookupError | TypeError):
                return ModelUnavailable("the response is no answer of the Messages API")
            # No connection, a time-out, or an answer that breaks off or cannot be read.
            return ModelUnavailable(f"no answer from the model's server: {cause_of(error)}")
        status, request_id = error.status, error.request_id
        kind, message = _error_parts(error.body, str(error))
        said = f"{status} {kind}".rstrip()
        reason = f"the model's server says {said}: {message}"[:MAX_REASON]
        within = None if status == 200 else status
        too_long = context_too_long(reason, within, error.body, message, request_id)
        if too_long is not None:
            return too_long
        if status in (408, 409, 429) or status >= 500 or kind in _PASSING:
            after = retry_after(error.retry_after)
            return ModelUnavailable(reason, after, status=status, request_id=request_id)
        return ModelRefused(reason, status=status, request_id=request_id)


def _continued(request: ModelRequest, begun: ModelFinished) -> ModelRequest:
    return replace(request, messages=(*request.messages, begun.message))


def _joined(begun: ModelFinished, rest: ModelFinished) -> ModelFinished:
    """Return both parts of an answer as one."""
    content = (*begun.message.content, *rest.message.content)
    return replace(
        rest,
        message=ModelMessage("assistant", content),
        usage=begun.usage + rest.usage,
        reasoned=begun.reasoned or rest.reasoned,
        web=(*begun.web, *rest.web),
    )


def _error_parts(body: object, otherwise: str) -> tuple[str, str]:
    """Return type and message of the error in a response body."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return "", body if isinstance(body, str) and body else otherwise
    return str(error.get("type") or ""), str(error.get("message") or otherwise)
