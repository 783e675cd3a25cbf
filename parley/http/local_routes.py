"""Routes of the local listener's port, served by aiohttp."""

import asyncio
from typing import Final

from aiohttp import web

from gateway.errors import BadInput
from gateway.ports.http_routes import (
    EventStream,
    LocalRequest,
    LocalResponse,
    LocalRoute,
    ServerEvent,
)

CHUNK: Final = 65_536
PING_SECONDS: Final = 15.0
"""Seconds without an event after which a comment keeps the connection of a stream open."""
PING: Final = b": still here\n\n"
STREAM_HEADERS: Final = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
}


def aiohttp_route(route: LocalRoute) -> web.RouteDef:
    """A route of the port as one of aiohttp's."""

    async def handle(request: web.Request) -> web.StreamResponse:
        answer = await route.handler(_as_port_request(request))
        if isinstance(answer, EventStream):
            return await _stream(request, answer)
        return _as_http(answer)

    return web.route(route.method, route.path, handle)


def _as_port_request(request: web.Request) -> LocalRequest:
    async def read(limit: int) -> bytes:
        data = bytearray()
        async for chunk in request.content.iter_chunked(CHUNK):
            data += chunk
            if len(data) > limit:
                raise BadInput(f"too large: at most {limit:,} bytes")
        return bytes(data)

    return LocalRequest(
        method=request.method,
        path=request.path,
        read=read,
        query=dict(request.query),
        headers={name.lower(): value for name, value in request.headers.items()},
        cookies=request.cookies,
        params=request.match_info,
        encrypted=request.secure or request.headers.get("X-Forwarded-Proto") == "https",
    )


def _as_http(answer: LocalResponse) -> web.Response:
    headers = {"Content-Type": answer.content_type, **answer.headers}
    return web.Response(body=answer.body, status=answer.status, headers=headers)


async def _stream(request: web.Request, stream: EventStream) -> web.StreamResponse:
    response = web.StreamResponse(headers=STREAM_HEADERS)
    clock = asyncio.get_running_loop().time
    try:
        await response.prepare(request)
        written = clock()
        async for event in stream.events:
            if request.transport is None or request.transport.is_closing():
                break
            if event is not None or clock() - written >= PING_SECONDS:
                await response.write(PING if event is None else _encoded(event))
                written = clock()
    except ConnectionError:
        pass  # the page was closed
    finally:
        stream.close()
    return response


def _encoded(event: ServerEvent) -> bytes:
    name = f"event: {event.name}\n" if event.name else ""
    number = f"id: {event.id}\n" if event.id else ""
    return f"{name}{number}data: {event.data}\n\n".encode()
