"""HTTP connections to MCP servers, with bounds for what a server sends. Imports httpx2."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Final

import httpx2
from pydantic_core import from_json, to_json

from gateway.llm.event_stream import EventDecoder, EventTooLong
from gateway.turn.mcp_bounds import (
    CLOSED_CODE,
    MAX_MESSAGE,
    OTHER_ERROR,
    TOO_LARGE,
    Rate,
    Refusals,
    UnusableAnswer,
    read_message,
    refusal,
)
from safety.http.bounded_body import ResponseTooLarge, TooManyPieces, Undecodable, unpacked
from safety.http.environment_proxy import proxy_of

ANSWER_SECONDS: Final = 65.0
"""For one answer with all its parts; a call ends before (`CALL_SECONDS`)."""
CONNECT_SECONDS: Final = 30.0
MAX_CONNECTIONS: Final = 32
MAX_STREAM: Final = 16 * 1024 * 1024
"""Bytes of one stream of events, and of all answers of a server that are being read."""
MAX_LINES: Final = 10_000
"""Lines of one stream of events: about 3,000 messages."""
MAX_RESUMED: Final = 20
"""Requests in a minute that continue a stream which the server ended early."""
MAX_REPLIES: Final = 60
"""Replies in a minute to requests of a server, such as pings."""
MAX_HEADER: Final = 4_096
"""Characters of a header that is read; longer ones are left out."""
MAX_COOKIES: Final = 20
MAX_RETRY_MS: Final = 10_000
_JSON: Final = {"content-type": "application/json"}
_USED: Final = frozenset({"content-type", "location", "mcp-session-id", "set-cookie"})
_LAST_EVENT: Final = "last-event-id"
_SESSION: Final = "mcp-session-id"
_REFUSES: Final = 400
_NOT_FOUND: Final = 404
_GONE: Final = (_NOT_FOUND, 410)
"""The statuses of a request with a session that the server does not know, such as after a restart.
Without a session 404 is the answer to an unknown method, which the library reads."""


def bounded_client(
    url: str, headers: Mapping[str, str], refusals: Refusals
) -> tuple[httpx2.AsyncClient, "BoundedMcpTransport"]:
    """Return the client of one server, and its transport. The proxy of the environment is used."""
    limits = httpx2.Limits(max_connections=MAX_CONNECTIONS)
    inner = httpx2.AsyncHTTPTransport(limits=limits, proxy=proxy_of(url))
    transport = BoundedMcpTransport(inner, refusals)
    timeout = httpx2.Timeout(CONNECT_SECONDS, read=ANSWER_SECONDS)
    return httpx2.AsyncClient(headers=headers, timeout=timeout, transport=transport), transport


class BoundedMcpTransport(httpx2.AsyncBaseTransport):
    """Sends the requests of one server's client.

    An answer outside of the bounds becomes an error answer to its request, so that only this
    request fails. Streams that a server opens for messages of its own are not requested.
    """

    def __init__(self, inner: httpx2.AsyncBaseTransport, refusals: Refusals) -> None:
        self._inner = inner
        self._refusals = refusals
        self._resumed = Rate(MAX_RESUMED)
        self._replies = Rate(MAX_REPLIES)
        self._held = 0
        """Bytes of the answers that are being read."""
        self.status = 0
        """The latest status that refused a request, 0 for none."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Raises the errors of httpx2 for a failed connection."""
        number, reply = _asked(request)
        if request.method == "GET":
            if _LAST_EVENT not in request.headers or not self._resumed.take():
                return httpx2.Response(405, request=request)
        elif reply and not self._replies.take():
            return httpx2.Response(202, request=request)
        request.headers["Accept-Encoding"] = "identity"
        until = asyncio.get_running_loop().time() + ANSWER_SECONDS
        try:
            async with asyncio.timeout_at(until):
                response = await self._inner.handle_async_request(request)
        except TimeoutError:
            return self._refused(number, _too_slow())
        except httpx2.PoolTimeout:
            return self._refused(number, "too many calls of this server run at once")
        if response.status_code >= _REFUSES:
            self.status = response.status_code
            if number is not None:
                return await self._failed(
                    response, number, until, session=_SESSION in request.headers
                )
        return await self._bounded(response, number, until)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def _bounded(
        self, response: httpx2.Response, number: object, until: float
    ) -> httpx2.Response:
        kind = response.headers.get("content-type", "").lower()
        headers = _headers(response)
        if kind.startswith("text/event-stream") and response.status_code < _REFUSES:
            events = _BoundedEvents(self, response, number, until)
            return httpx2.Response(response.status_code, headers=headers, stream=events)
        body = b""
        try:
            if kind.startswith("application/json") and number is not None:
                body = await self._message(response, until)
        except UnusableAnswer as refused:
            return self._refused(number, str(refused))
        finally:
            await response.aclose()
        return httpx2.Response(response.status_code, headers=headers, content=body)

    async def _failed(
        self, response: httpx2.Response, number: object, until: float, *, session: bool
    ) -> httpx2.Response:
        """Return the server's own error, or one that names the status."""
        status, body = response.status_code, b""
        try:
            if response.headers.get("content-type", "").lower().startswith("application/json"):
                body = await self._body(response, until)
        except UnusableAnswer as refused:
            return self._refused(number, str(refused))
        finally:
            await response.aclose()
        if session and status in _GONE:
            return _error_answer(refusal(number, "the session has ended", CLOSED_CODE))
        with suppress(UnusableAnswer):  # an error of something in between, such as a proxy
            if (message := read_message(body)) is not None:
                return httpx2.Response(status, headers=_JSON, content=to_json(message.value))
        if status == _NOT_FOUND:
            return httpx2.Response(status)
        return _error_answer(refusal(number, f"HTTP {status}", OTHER_ERROR))

    async def _message(self, response: httpx2.Response, until: float) -> bytes:
        message = read_message(await self._body(response, until))
        if message is None:
            raise UnusableAnswer("it has no answer")
        return to_json(message.value)

    async def _body(self, response: httpx2.Response, until: float) -> bytes:
        """Return the body of a message. Raises `UnusableAnswer`."""
        body = bytearray()
        try:
            async for piece in self.pieces(response, MAX_MESSAGE, until):
                self.hold(len(piece))
                body += piece
            return bytes(body)
        finally:
            self.hold(-len(body))

    def hold(self, size: int) -> None:
        """Count bytes that are kept until their message is complete. Raises `UnusableAnswer`."""
        if size > 0 and self._held + size > MAX_STREAM:
            raise UnusableAnswer("the answers of this server are too large together")
        self._held += size

    async def pieces(
        self, response: httpx2.Response, most: int, until: float
    ) -> AsyncIterator[bytes]:
        """Yield the body unpacked, at most `most` bytes before and after, and at most `MAX_PIECES`
        pieces. Raises `UnusableAnswer`."""
        encoding = response.headers.get("content-encoding", "")
        source = aiter(unpacked(_stream_of(response), encoding, most))
        try:
            while True:
                async with asyncio.timeout_at(until):
                    piece = await anext(source, None)
                if piece is None:
                    return
                yield piece
        except ResponseTooLarge:
            raise UnusableAnswer(TOO_LARGE if most == MAX_MESSAGE else _long_stream()) from None
        except (TooManyPieces, Undecodable) as error:
            raise UnusableAnswer(str(error)) from None
        except TimeoutError:
            raise UnusableAnswer(_too_slow()) from None

    def note(self, reason: str) -> None:
        self._refusals.note(reason)

    def _refused(self, number: object, reason: str) -> httpx2.Response:
        self.note(reason)
        return _error_answer(refusal(number, reason))


class _BoundedEvents(httpx2.AsyncByteStream):
    """A stream of events within the bounds. One that leaves them ends with an error answer."""

    def __init__(
        self,
        transport: BoundedMcpTransport,
        response: httpx2.Response,
        number: object,
        until: float,
    ) -> None:
        self._transport = transport
        self._response = response
        self._number = number
        self._until = until

    async def __aiter__(self) -> AsyncIterator[bytes]:
        stream, lines, held = EventDecoder(), 0, 0
        try:
            async for piece in self._transport.pieces(self._response, MAX_STREAM, self._until):
                lines += piece.count(b"\n") + piece.count(b"\r")
                if lines > MAX_LINES:
                    raise UnusableAnswer(f"its stream has more than {MAX_LINES:,} lines")
                for block in stream.blocks(piece):
                    if event := _event(block):
                        yield event
                self._transport.hold(stream.waiting - held)
                held = stream.waiting
        except (UnusableAnswer, EventTooLong) as error:
            reason = TOO_LARGE if isinstance(error, EventTooLong) else str(error)
            self._transport.note(reason)
            yield b"data: " + to_json(refusal(self._number, reason)) + b"\n\n"
        finally:
            self._transport.hold(-held)

    async def aclose(self) -> None:
        await self._response.aclose()


def _event(block: bytes) -> bytes:
    """Return an event with its id, its pause and its message; b"" without any. Raises
    `UnusableAnswer`."""
    kept, data = [], []
    for line in block.split(b"\n"):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event" and value not in (b"", b"message"):
            return b""
        elif field == b"id" and len(value) <= MAX_HEADER:
            kept.append(b"id: " + value)
        elif field == b"retry" and value.isdigit():
            kept.append(b"retry: %d" % min(int(value[:9]), MAX_RETRY_MS))
    text = b"\n".join(data)
    message = read_message(text) if text else None
    if message is not None:
        kept.append(b"data: " + to_json(message.value))
    elif kept:
        kept.append(b"data:")
    return b"\n".join((*kept, b"", b"")) if kept else b""


def _error_answer(error: Mapping[str, object]) -> httpx2.Response:
    return httpx2.Response(200, headers=_JSON, content=to_json(error))


def _asked(request: httpx2.Request) -> tuple[object, bool]:
    """Return the id of the request that a POST carries, None for another message; and True for a
    reply to the server."""
    if request.method != "POST":
        return None, False
    message = from_json(request.content)
    reply = "method" not in message
    return (None if reply else message.get("id")), reply


def _headers(response: httpx2.Response) -> list[tuple[str, str]]:
    """Return the used headers, each of a bounded length."""
    used = [
        (name, value)
        for name, value in response.headers.multi_items()
        if name in _USED and len(value) <= MAX_HEADER
    ]
    cookies = [pair for pair in used if pair[0] == "set-cookie"]
    return [pair for pair in used if pair[0] != "set-cookie"] + cookies[:MAX_COOKIES]


def _stream_of(response: httpx2.Response) -> httpx2.AsyncByteStream:
    assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101 - what a transport returns
    return response.stream


def _too_slow() -> str:
    return f"it was not complete after {ANSWER_SECONDS:g} seconds"


def _long_stream() -> str:
    return f"its stream is larger than {MAX_STREAM // 1024 // 1024} MB"
