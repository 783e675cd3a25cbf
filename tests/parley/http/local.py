"""A local listener for tests, and requests to it as bytes."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from gateway.errors import BadInput
from gateway.ports.http_routes import (
    EventStream,
    LocalHandler,
    LocalRequest,
    LocalRoute,
    ServerEvent,
    error_response,
)
from gateway.ports.http_routes import LocalResponse as Response
from gateway.ports.rights import LOCAL_PAGES
from parley.http.local_listener import LocalListener
from tests.support.patience import PATIENCE

HOST = b"Host: localhost\r\n"


class Handlers:
    """Routes that record the requests that reach them."""

    def __init__(self) -> None:
        self.reached: list[str] = []
        self.closed = self.cancelled = 0
        self.news = asyncio.Event()
        self.hanging = asyncio.Event()

    def routes(self) -> Iterable[LocalRoute]:
        served: tuple[tuple[str, LocalHandler], ...] = (
            ("/", self._hello),
            ("/echo", self._echo),
            ("/fails", self._fails),
            ("/hangs", self._hangs),
            ("/files/{name}", self._hello),
        )
        for path, handler in served:
            yield LocalRoute("GET", path, handler, LOCAL_PAGES)
            yield LocalRoute("POST", path, handler, LOCAL_PAGES)
        yield LocalRoute("GET", "/events", self._events, LOCAL_PAGES)
        yield LocalRoute("GET", "/flood", self._flood, LOCAL_PAGES)
        yield LocalRoute("GET", "/breaks", self._breaks, LOCAL_PAGES)

    async def _hello(self, request: LocalRequest) -> Response:
        self.reached.append(request.path)
        return Response(b"hello")

    async def _echo(self, request: LocalRequest) -> Response:
        self.reached.append(request.path)
        try:
            return Response(await request.read(100_000))
        except BadInput:
            return error_response(413, "too_large")

    async def _fails(self, request: LocalRequest) -> Response:
        raise ValueError("a secret detail")

    async def _hangs(self, request: LocalRequest) -> Response:
        self.reached.append(request.path)
        try:
            await self.hanging.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return Response(b"late")

    async def _events(self, request: LocalRequest) -> EventStream:
        return EventStream(self._until_news(), self._close)

    async def _flood(self, request: LocalRequest) -> EventStream:
        return EventStream(self._without_end(), self._close)

    async def _breaks(self, request: LocalRequest) -> EventStream:
        return EventStream(self._broken(), self._close)

    def _close(self) -> None:
        self.closed += 1

    async def _until_news(self) -> AsyncIterator[ServerEvent | None]:
        self.reached.append("/events")
        yield ServerEvent("first")
        await self.news.wait()
        yield ServerEvent("last")

    async def _without_end(self) -> AsyncIterator[ServerEvent | None]:
        while True:
            yield ServerEvent("x" * 60_000)

    async def _broken(self) -> AsyncIterator[ServerEvent | None]:
        yield ServerEvent("first")
        raise ValueError("a secret detail")


@asynccontextmanager
async def serving(handlers: Handlers, **more: object) -> AsyncIterator[LocalListener]:
    """A listener with the routes of `handlers`."""
    made = LocalListener(**more)  # type: ignore[arg-type] # tests name real parameters
    made.add_routes(handlers.routes())
    await made.start()
    try:
        yield made
    finally:
        await made.stop()


@asynccontextmanager
async def dialogue(
    listener: LocalListener, sent: bytes = b""
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection over which this was sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
    writer.write(sent)
    try:
        async with asyncio.timeout(PATIENCE):
            yield reader, writer
    finally:
        writer.close()


async def answers(listener: LocalListener, sent: bytes) -> list[tuple[int, dict[str, str], bytes]]:
    """The status, headers and body of every answer, until the connection is closed."""
    async with dialogue(listener, sent) as (reader, _):
        results = []
        while line := await reader.readline():
            headers = dict[str, str]()
            while (field := (await reader.readline()).decode().rstrip("\r\n")) != "":
                name, _, value = field.partition(": ")
                headers[name.lower()] = value
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            results.append((int(line.split()[1]), headers, body))
        return results


def get(path: str, *more: bytes, close: bool = True) -> bytes:
    """A request; the last one of its connection if `close`."""
    fields = b"".join((HOST, *more, b"Connection: close\r\n" * close))
    return f"GET {path} HTTP/1.1\r\n".encode() + fields + b"\r\n"


def error_of(body: bytes) -> str:
    """The code of a refusal."""
    return str(json.loads(body)["error"])
