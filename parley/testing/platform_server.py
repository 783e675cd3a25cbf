"""The HTTP API of a simulated platform, with its faults."""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from aiohttp import web

from simulators.base import ApiCall, Fault, Faults
from simulators.local_server import LocalServer, cut_within, hang_up

Handler = Callable[[Mapping[str, object]], Awaitable[object]]
"""Takes the query and the JSON body of a request as one mapping; returns the JSON of the answer."""
MAX_BODY: Final = 16 * 1024 * 1024


class Refused(Exception):
    """The platform refuses a request, with this HTTP status and error."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status = status


class PlatformServer:
    """Listens on a free port of 127.0.0.1. A request counts as "METHOD /path" in `calls` and for
    `faults`; without the token in `Authorization: Bearer` it is refused with 401."""

    def __init__(self, token: str, faults: Faults, calls: deque[ApiCall]) -> None:
        self._token = token
        self._faults = faults
        self._calls = calls
        self._handlers: dict[str, Handler] = {}
        self._server = LocalServer()

    @property
    def url(self) -> str:
        """The address, once started."""
        return self._server.url

    def on(self, request: str, handler: Handler) -> None:
        """Answer a request, such as "POST /messages"."""
        self._handlers[request] = handler

    async def start(self) -> None:
        """Listen."""
        server = web.Server(self._handle, handler_cancellation=True, access_log=None)
        await self._server.start(web.ServerRunner(server, shutdown_timeout=0.1))

    async def stop(self) -> None:
        """Close every connection. Safe to call twice."""
        await self._server.stop()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        name = f"{request.method} {request.path}"
        fault = self._faults.take(name)
        kind = fault.kind if fault is not None else ""
        if kind == "drop_before":
            return hang_up(request)
        try:
            values = await self._values_of(request)
            answer = _injected(fault) or web.json_response(await self._answer(name, values))
        except Refused as refused:
            values, error = {}, {"error": str(refused)}
            answer = web.json_response(error, status=refused.status)
        now = asyncio.get_running_loop().time()
        self._calls.append(ApiCall(name, values, answer.status, now))
        if kind == "drop_after":
            return hang_up(request)
        if kind == "drop_within":
            return await cut_within(request, answer)
        if fault is not None and kind == "slow":
            await asyncio.sleep(fault.delay)
        return answer

    async def _values_of(self, request: web.BaseRequest) -> Mapping[str, object]:
        """The query and the body. Raises `Refused`."""
        if request.headers.get("Authorization") != f"Bearer {self._token}":
            raise Refused(401, "the token is wrong")
        if (request.content_length or 0) > MAX_BODY:
            raise Refused(413, "the body is too large")
        body = await request.read()
        try:
            values = json.loads(body) if body else {}
        except ValueError:
            raise Refused(400, "the body is not JSON") from None
        if not isinstance(values, dict):
            raise Refused(400, "the body is not a JSON object")
        return {**request.query, **values}

    async def _answer(self, name: str, values: Mapping[str, object]) -> object:
        handler = self._handlers.get(name)
        if handler is None:
            raise Refused(404, f"there is no {name}")
        return await handler(values)


def _injected(fault: Fault | None) -> web.Response | None:
    if fault is not None and fault.kind == "rate_limit":
        headers = {"Retry-After": f"{fault.retry_after:g}"}
        return web.json_response({"error": "too many requests"}, status=429, headers=headers)
    if fault is not None and fault.kind == "server_error":
        return web.json_response({"error": "internal error"}, status=503)
    return None
