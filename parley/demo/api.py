"""The page and its JSON API, for the local listener (which checks host and origin).

GET  /                  the page          GET /demo/assets/{name}
GET  /demo/api/world    everything once   GET /demo/api/room      a room, as one person sees it
GET  /demo/api/events   a room (SSE)      GET /demo/api/file      a file below a message
POST /demo/api/act      one action, see `parley.demo.actions`
"""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from importlib import resources
from typing import Final
from urllib.parse import quote

from aiohttp import web
from pydantic import ValidationError

from parley.demo.actions import ACTIONS, MAX_REQUEST, perform
from parley.demo.player import DemoGateway
from parley.demo.view import room_view, world_view
from parley.demo.world import Refused, Where, World
from simulators.base import NotSupported, SimFile

ASSETS: Final[Mapping[str, tuple[str, str, str]]] = {
    "demo.css": ("parley.demo", "assets", "text/css"),
    "looks.css": ("parley.demo", "assets", "text/css"),
    "main.js": ("parley.demo", "assets", "text/javascript"),
    "messages.js": ("parley.demo", "assets", "text/javascript"),
    "composer.js": ("parley.demo", "assets", "text/javascript"),
    "why.js": ("parley.demo", "assets", "text/javascript"),
    "dom.js": ("parley.demo", "assets", "text/javascript"),
    "richtext.js": ("adapters.web", "assets", "text/javascript"),
    "icon.svg": ("adapters.web", "assets", "image/svg+xml"),
}
SAFE_INLINE: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
TRACES: Final = 200
REFRESH_SECONDS: Final = 1.0
"""Seconds until decisions without a new message appear beside the room."""
PING_SECONDS: Final = 15.0
MAX_STREAMS: Final = 32


class DemoPages:
    """The handlers for one world and one gateway."""

    def __init__(self, world: World, gateway: DemoGateway, *, assistant: str, model: str) -> None:
        self._world = world
        self._gateway = gateway
        self._assistant = assistant
        self._model = model
        self._streams = 0
        self._closing = False

    def routes(self) -> list[web.RouteDef]:
        """The routes on the local listener."""
        return [
            web.get("/", self._page),
            web.get("/demo/assets/{name}", self._asset),
            web.get("/demo/api/world", self._get_world),
            web.get("/demo/api/room", self._get_room),
            web.get("/demo/api/events", self._events),
            web.get("/demo/api/file", self._file),
            web.post("/demo/api/act", self._act),
        ]

    def close(self) -> None:
        """Let the open streams end, within `REFRESH_SECONDS`."""
        self._closing = True

    async def _page(self, _request: web.Request) -> web.StreamResponse:
        return _text("parley.demo", "assets", "demo.html", "text/html")

    async def _asset(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        if name not in ASSETS:
            raise web.HTTPNotFound
        package, folder, mime = ASSETS[name]
        return _text(package, folder, name, mime)

    async def _get_world(self, _request: web.Request) -> web.StreamResponse:
        return web.json_response(world_view(self._world, self._assistant, self._model))

    async def _get_room(self, request: web.Request) -> web.StreamResponse:
        try:
            return web.json_response(await self._look(_where(request)))
        except Refused as problem:
            return _error(404, str(problem))

    async def _events(self, request: web.Request) -> web.StreamResponse:
        where = _where(request)
        try:
            self._world.seen(where)
        except Refused as problem:
            return _error(404, str(problem))
        if self._streams >= MAX_STREAMS:
            return _error(503, "too many open pages; close one")
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "X-Accel-Buffering": "no"}
        )
        await response.prepare(request)
        self._streams += 1
        try:
            with suppress(ConnectionError):  # the page was closed
                await self._stream(request, response, where)
        finally:
            self._streams -= 1
        return response

    async def _stream(
        self, request: web.Request, response: web.StreamResponse, where: Where
    ) -> None:
        clock = asyncio.get_running_loop().time
        sent, written = "", clock()
        while not (self._closing or request.transport is None or request.transport.is_closing()):
            seen = self._world.seen(where)
            content = json.dumps(await self._look(where))
            if content != sent:
                await response.write(f"data: {content}\n\n".encode())
                sent, written = content, clock()
            elif clock() - written > PING_SECONDS:
                await response.write(b": still here\n\n")
                written = clock()
            await self._world.changed(where, seen, REFRESH_SECONDS)

    async def _file(self, request: web.Request) -> web.StreamResponse:
        where = _where(request)
        try:
            file = self._find_file(
                where, request.query.get("message", ""), request.query.get("index", "0")
            )
        except Refused as problem:
            return _error(404, str(problem))
        inline = file.mime in SAFE_INLINE
        return web.Response(
            body=file.data,
            headers={
                "Content-Type": file.mime if inline else "application/octet-stream",
                "Content-Disposition": f"{'inline' if inline else 'attachment'}; "
                f"filename*=UTF-8''{quote(file.name)}",
                "Content-Security-Policy": "default-src 'none'; sandbox",
            },
        )

    async def _act(self, request: web.Request) -> web.StreamResponse:
        if request.content_type != "application/json":
            return _error(415, "send application/json")
        body = bytearray()
        async for chunk in request.content.iter_chunked(65_536):
            body += chunk
            if len(body) > MAX_REQUEST:
                return _error(413, f"at most {MAX_REQUEST:,} bytes")
        try:
            action = ACTIONS.validate_json(bytes(body))
            return web.json_response(await perform(self._world, action))
        except ValidationError as problem:
            return _error(422, _first_error(problem))
        except Refused as problem:
            return _error(404, str(problem))
        except NotSupported as problem:
            return _error(409, str(problem) or "this platform has no such thing")

    async def _look(self, where: Where) -> dict[str, object]:
        return room_view(self._world, where, await self._gateway.decisions(TRACES))

    def _find_file(self, where: Where, message_id: str, index: str) -> SimFile:
        for seen in self._world.seen(where):
            if seen.shown.id == message_id and index in map(str, range(len(seen.shown.files))):
                return seen.shown.files[int(index)]
        raise Refused("no such file")


def _where(request: web.Request) -> Where:
    query = request.query
    return Where(query.get("platform", ""), query.get("room", ""), query.get("person", ""))


def _text(package: str, folder: str, name: str, mime: str) -> web.Response:
    text = resources.files(package).joinpath(folder, name).read_text("utf-8")
    return web.Response(text=text, content_type=mime, charset="utf-8")


def _error(status: int, message: str) -> web.Response:
    return web.json_response({"error": message}, status=status)


def _first_error(problem: ValidationError) -> str:
    """The first error of a request, with its field."""
    first = problem.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"][1:]) or "the request"
    return f"{place}: {first['msg']}"
