"""Bounds the answers that a library reads with an httpx2 client. Imports httpx2."""

from collections.abc import AsyncIterator

import httpx2

from safety.http.bounded_body import unpacked
from safety.http.environment_proxy import proxy_of


class BoundedTransport(httpx2.AsyncBaseTransport):
    """Sends the requests of one server's client, over the proxy of the environment. Reading an
    answer raises the errors of `unpacked`, `BodyTooLarge` beyond `most` bytes.
    """

    def __init__(self, url: str, most: int) -> None:
        self._inner = httpx2.AsyncHTTPTransport(proxy=proxy_of(url))
        self._most = most

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Raises the errors of httpx2 for a failed connection."""
        request.headers["Accept-Encoding"] = "identity"
        response = await self._inner.handle_async_request(request)
        headers = response.headers.copy()
        for name in ("content-encoding", "content-length"):
            headers.pop(name, None)
        body = _Body(response, self._most)
        return httpx2.Response(response.status_code, headers=headers, stream=body)

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Body(httpx2.AsyncByteStream):
    def __init__(self, response: httpx2.Response, most: int) -> None:
        self._response = response
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        assert isinstance(self._response.stream, httpx2.AsyncByteStream)  # noqa: S101 - what a transport returns
        encoding = self._response.headers.get("content-encoding", "")
        async for piece in unpacked(self._response.stream, encoding, self._most):
            yield piece

    async def aclose(self) -> None:
        await self._response.aclose()
