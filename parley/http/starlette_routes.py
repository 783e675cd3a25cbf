"""Routes of the local listener's port, served by Starlette."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from typing import Final, TypeAlias
from urllib.parse import unquote

from msgspec import Struct
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.errors import BadInput
from gateway.ports.http_routes import (
    EventStream,
    LocalHandler,
    LocalRequest,
    LocalResponse,
    LocalRoute,
    ServerEvent,
)
from gateway.ports.rights import Allowed, check
from gateway.text import text
from parley.http.asgi import (
    RequestTooLarge,
    cookies_of,
    exchange_of,
    headers_of,
    is_encrypted,
    read_body,
)

PING_SECONDS: Final = 15.0
"""Seconds without an event after which a comment keeps the connection of a stream open."""
TOO_LARGE: Final = text("too large: at most {count} bytes")
PING: Final = b": still here\n\n"
STREAM_HEADERS: Final = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
}


Gate: TypeAlias = Callable[[Scope, Allowed], Awaitable[None]]
"""Lets a request in, or raises what its face answers as a refusal."""


async def proven(scope: Scope, allowed: Allowed) -> None:
    """The gate of a face whose outer layer authenticates every request. Raises `Denied`."""
    check(allowed, exchange_of(scope).proof)


class Served(Struct, frozen=True):
    """An application for one path and method, and who may call it."""

    method: str
    path: str
    app: ASGIApp
    allowed: Allowed

    def __post_init__(self) -> None:
        if not isinstance(self.allowed, Allowed):
            raise TypeError(f"{self.method} {self.path}: a route declares who may use it")


def routes_of(served: Iterable[Served], gate: Gate) -> list[Route]:
    """Return Starlette's routes, one for each path. `gate` sees every request before they do."""
    paths: dict[str, dict[str, Served]] = {}
    for one in served:
        paths.setdefault(one.path, {})[one.method] = one
    return [Route(path, Methods(methods, gate)) for path, methods in paths.items()]


def pages_of(routes: Iterable[LocalRoute]) -> list[Served]:
    """Return what serves routes of the port."""
    served = []
    for route in routes:
        handler = _Handler(route.handler)
        served.append(Served(route.method, route.path, handler, route.allowed))
        if route.method == "GET":
            served.append(Served("HEAD", route.path, handler, route.allowed))
    return served


class Methods(Struct, frozen=True):
    """The applications of one path by their methods. Each is called after the gate alone."""

    served: Mapping[str, Served]
    gate: Gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        one = self.served.get(scope["method"])
        if one is None:
            raise HTTPException(405, headers={"Allow": ", ".join(sorted(self.served))})
        await self.gate(scope, one.allowed)
        await one.app(scope, receive, send)


def params_of(scope: Scope) -> dict[str, str]:
    """Return the values of a path's placeholders."""
    return {name: unquote(value) for name, value in scope["path_params"].items()}


class _Handler(Struct, frozen=True):
    handler: LocalHandler

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = await self.handler(as_port_request(scope, receive))
        response = as_stream(answer) if isinstance(answer, EventStream) else as_http(answer)
        await response(scope, receive, send)


def as_port_request(scope: Scope, receive: Receive) -> LocalRequest:
    """Return a request as the handlers of the port take it."""

    async def read(limit: int) -> bytes:
        try:
            return await read_body(scope, receive, limit)
        except RequestTooLarge:
            raise BadInput(TOO_LARGE.of(count=limit)) from None

    query = QueryParams(scope["query_string"])
    return LocalRequest(
        method=scope["method"],
        path=unquote(scope["path"]),
        read=read,
        query={name: query.getlist(name)[0] for name in query},
        headers=headers_of(scope),
        cookies=cookies_of(scope),
        params=params_of(scope),
        encrypted=is_encrypted(scope),
        trusted=exchange_of(scope).page_access.allowed,
    )


def as_http(answer: LocalResponse) -> Response:
    """Return an answer of the port as Starlette's."""
    headers = {"Content-Type": answer.content_type, **answer.headers}
    return Response(answer.body, answer.status, headers)


def as_stream(stream: EventStream) -> Response:
    """Return a stream of the port as Starlette's."""
    return _EventResponse(stream)


class _EventResponse(StreamingResponse):
    """Sends the events of a stream until they end or the client disconnects."""

    def __init__(self, stream: EventStream) -> None:
        self._chunks = _encoded(stream.events)
        super().__init__(self._chunks, headers=STREAM_HEADERS)
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with aclosing(self._chunks):
                if scope["method"] == "HEAD":
                    await Response(headers=STREAM_HEADERS)(scope, receive, send)
                else:
                    await super().__call__(scope, receive, send)
        finally:
            self._stream.close()


async def _encoded(events: AsyncIterator[ServerEvent | None]) -> AsyncGenerator[bytes, None]:
    clock = asyncio.get_running_loop().time
    written = clock()
    async for event in events:
        if event is not None or clock() - written >= PING_SECONDS:
            yield PING if event is None else _event(event)
            written = clock()


def _event(event: ServerEvent) -> bytes:
    name = f"event: {event.name}\n" if event.name else ""
    number = f"id: {event.id}\n" if event.id else ""
    return f"{name}{number}data: {event.data}\n\n".encode()
