"""Anthropic's own library: addresses, authentication, headers, versions, errors and the transport.

Its import takes two seconds of processor time and 40 MB, so it runs on a thread
(docs/performance.md). Its answers stay bytes: its objects for each piece of an answer are not used.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from gateway.llm.streamed_call import (
    CONNECT_SECONDS,
    MAX_CONNECTIONS,
    MAX_ERROR,
    OpenResponse,
    ServiceError,
    request_id_of,
)

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
