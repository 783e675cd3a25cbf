"""The HTTP side: decodes requests, injects faults, encodes answers."""

import asyncio
import json
from collections import deque
from typing import Final

from aiohttp import StreamReader, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import RawRequestMessage

from simulators.base import MAX_CALLS, ApiCall, Fault, Faults
from simulators.local_server import LocalServer, cut_within, hang_up
from simulators.telegram.api import BotApi
from simulators.telegram.params import MAX_BODY, ApiError, Params, read_params
from simulators.telegram.updates import Waiting
from simulators.telegram.world import World

_JSON: Final = "application/json"


class ApiServer:
    """Serves `/bot<token>/<method>` and `/file/bot<token>/<path>` on 127.0.0.1."""

    def __init__(self, token: str, api: BotApi, world: World) -> None:
        self.token = token
        self._api = api
        self._world = world
        self.faults = Faults()
        self.calls: deque[ApiCall] = deque(maxlen=MAX_CALLS)
        self._server = LocalServer()

    @property
    def url(self) -> str:
        """The address of the Bot API."""
        return self._server.url

    @property
    def connected(self) -> int:
        """The number of open connections; what came over a closed one was dealt with."""
        return self._server.connected

    async def start(self, port: int = 0) -> None:
        """Listen; port 0 takes a free one."""
        server = web.Server(
            self._handle, request_factory=_request, handler_cancellation=True, access_log=None
        )
        await self._server.start(web.ServerRunner(server, shutdown_timeout=0.2), port)

    async def stop(self) -> None:
        """Close every socket."""
        self.drop_connections()
        await self._server.stop()

    def drop_connections(self) -> None:
        """Cut every connection without a farewell."""
        self._server.drop_connections()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        parts = request.path.split("/")
        if len(parts) >= 4 and parts[1] == "file":
            return self._file(request, parts)
        if len(parts) != 3 or not parts[1].startswith("bot"):
            return _failure(404, "Not Found")
        method = self._api.name_of(parts[2])
        if parts[1] != f"bot{self.token}":
            return _failure(401, "Unauthorized")
        fault = self.faults.take(method)
        if fault is not None and fault.kind == "drop_before":
            return hang_up(request)
        try:
            params = await read_params(request)
        except ApiError as problem:
            return _failure(problem.code, problem.description)
        answer = _injected(fault) or await self._answer(method, params)
        now = asyncio.get_running_loop().time()
        self.calls.append(ApiCall(method, params.values, answer.status, now))
        if fault is not None and fault.kind == "drop_after":
            return hang_up(request)
        if fault is not None and fault.kind == "drop_within":
            return await cut_within(request, answer)
        if fault is not None and fault.kind == "slow":
            await asyncio.sleep(fault.delay)
        return answer

    async def _answer(self, method: str, params: Params) -> web.Response:
        try:
            result = await self._api.call(method, params)
        except ApiError as problem:
            return _failure(problem.code, problem.description, problem.parameters)
        if isinstance(result, list) and result and isinstance(result[0], Waiting):
            joined = ",".join(one.text for one in result if isinstance(one, Waiting))
            return web.Response(text=f'{{"ok":true,"result":[{joined}]}}', content_type=_JSON)
        body = json.dumps({"ok": True, "result": result})
        return web.Response(text=body, content_type=_JSON)

    def _file(self, request: web.BaseRequest, parts: list[str]) -> web.StreamResponse:
        fault = self.faults.take("file")
        if fault is not None and fault.kind in ("drop_before", "drop_after"):
            return hang_up(request)
        injected = _injected(fault)
        if injected is not None:
            return injected
        file = self._world.files.get(parts[-1])
        if parts[2] != f"bot{self.token}" or file is None:
            return _failure(404, "Not Found")
        return web.Response(body=file.data, content_type="application/octet-stream")


def _request(
    message: RawRequestMessage,
    payload: StreamReader,
    protocol: web.RequestHandler,
    writer: AbstractStreamWriter,
    task: "asyncio.Task[None]",
) -> web.BaseRequest:
    loop = asyncio.get_running_loop()
    return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=MAX_BODY)


def _injected(fault: Fault | None) -> web.Response | None:
    if fault is None:
        return None
    if fault.kind == "rate_limit":
        seconds = int(fault.retry_after) if fault.retry_after >= 1 else fault.retry_after
        return _failure(429, f"Too Many Requests: retry after {seconds}", {"retry_after": seconds})
    if fault.kind == "server_error":
        return _failure(502, "Bad Gateway")
    return None


def _failure(code: int, description: str, parameters: object = None) -> web.Response:
    body: dict[str, object] = {"ok": False, "error_code": code, "description": description}
    if parameters:
        body["parameters"] = parameters
    return web.json_response(body, status=code)
