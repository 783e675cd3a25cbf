"""The address of the simulated Slack: Web API, sockets, uploads, downloads, response URLs."""

import asyncio
import json
import math
import secrets
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from aiohttp import web

from simulators.base import MAX_CALLS, ApiCall, Fault, Faults
from simulators.local_server import LocalServer, cut_within
from simulators.slack.api_chat import CHAT
from simulators.slack.api_read import READING
from simulators.slack.api_stream import STREAMS
from simulators.slack.blocks import check_message
from simulators.slack.call import Answer, Call, Method, Publish, SlackError
from simulators.slack.couriers import SocketCourier
from simulators.slack.world import (
    RESPONSE_URL_SECONDS,
    RESPONSE_URL_USES,
    Message,
    ResponseUrl,
    StoredFile,
    World,
)

_MAX_BODY: Final = 100_000_000
_DROPS: Final = {"drop_before", "drop_after"}


class SlackServer:
    """Answers on one free port of 127.0.0.1 like slack.com, files.slack.com and hooks.slack.com."""

    def __init__(
        self,
        world: World,
        sockets: SocketCourier,
        publish: Publish,
    ) -> None:
        self.world = world
        self.sockets = sockets
        self.publish = publish
        self.bot_token = f"xoxb-{secrets.token_hex(12)}"
        self.app_token = f"xapp-1-{world.app_id}-{secrets.token_hex(12)}"
        self.other_app_token = f"xapp-1-A0OTHERAPP-{secrets.token_hex(12)}"
        """The app token of another app, for which Slack opens a socket as well."""
        self.scopes: set[str] = set()
        self.faults = Faults()
        self.calls: deque[ApiCall] = deque(maxlen=MAX_CALLS)
        self._tickets: set[str] = set()
        self._transports: list[asyncio.Transport] = []
        self._server = LocalServer()
        self._methods: dict[str, Method] = {
            **CHAT,
            **READING,
            **STREAMS,
            "apps.connections.open": Method(self._open_socket, app_token=True),
        }

        self.portrait_requests: deque[dict[str, str]] = deque(maxlen=100)
        """The headers of the latest requests for pictures of people."""

    # --- life -----------------------------------------------------------------------------------

    @property
    def base(self) -> str:
        """The address, without a slash at the end."""
        return self._server.url

    async def start(self) -> None:
        """Listen."""
        app = web.Application(client_max_size=_MAX_BODY)
        app.router.add_route("*", "/api/{method}", self._api)
        app.router.add_get("/link/", self._socket)
        app.router.add_post("/upload/{file}", self._upload)
        app.router.add_get("/files-pri/{file}/{tail:.*}", self._download)
        app.router.add_get("/portraits/{user}/{name}", self._portrait)
        app.router.add_post("/response/{key}", self._respond)
        await self._server.start(web.AppRunner(app, access_log=None, shutdown_timeout=1.0))

    async def stop(self) -> None:
        """Close the port and what is open."""
        for transport in self._transports:
            if not transport.is_reading():
                transport.abort()
        await self.sockets.stop()
        await self._server.stop()

    def drop_sockets(self) -> None:
        """Cut the sockets without a farewell."""
        for transport in self._transports:
            transport.abort()
        for socket in list(self.sockets.sockets):
            self.sockets.lost(socket)

    def stop_responding(self) -> None:
        """Let nothing pass through the sockets that are open, in either direction; they stay open,
        and new ones work."""
        for transport in self._transports:
            transport.pause_reading()
        self.sockets.unresponsive.update(self.sockets.sockets)

    # --- the Web API ----------------------------------------------------------------------------

    async def _api(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["method"]
        arguments = await _arguments(request)
        call = Call(self.world, arguments, self.base, self.publish, frozenset(self.scopes))
        return await self._guarded(request, name, call.recorded(), lambda: self._run(name, call))

    async def _guarded(
        self,
        request: web.Request,
        name: str,
        body: dict[str, object],
        act: Callable[[], web.Response],
    ) -> web.StreamResponse:
        """Do as asked unless a fault is due, and remember the call."""
        fault = self.faults.take(name)
        kind = fault.kind if fault is not None else ""
        if fault is not None and kind in ("rate_limit", "server_error"):
            response = _failure(fault)
            self._remember(name, body, response.status)
            return response
        if fault is not None and kind == "slow":
            await asyncio.sleep(fault.delay)
        if kind != "drop_before":
            response = act()
            self._remember(name, body, response.status)
        else:
            response = web.Response(status=503)
            self._remember(name, body, 0)
        if kind == "drop_within":
            return await cut_within(request, response)
        if kind in _DROPS and request.transport is not None:
            # What is returned after this is never sent.
            request.transport.abort()
        return response

    def _remember(self, name: str, body: dict[str, object], status: int) -> None:
        self.calls.append(ApiCall(name, body, status, asyncio.get_running_loop().time()))
        self.world.changed.notify()

    def _run(self, name: str, call: Call) -> web.Response:
        headers = {"x-oauth-scopes": ",".join(sorted(self.scopes))}
        try:
            answer = self._permitted(name, call)
        except SlackError as error:
            answer = error.body()
        return web.json_response(answer, headers=headers)

    def _permitted(self, name: str, call: Call) -> Answer:
        method = self._methods.get(name)
        if method is None:
            raise SlackError("unknown_method", req_method=name)
        token = call.text("token")
        if not token:
            raise SlackError("not_authed")
        expected, other = self.bot_token, self.app_token
        if method.app_token:
            expected, other = other, expected
        if method.app_token and token == self.other_app_token:
            return method.run(call)
        if token == other:
            raise SlackError("not_allowed_token_type")
        if token != expected:
            raise SlackError("invalid_auth")
        call.require(method.scope)
        return method.run(call)

    # --- Socket Mode ----------------------------------------------------------------------------

    def _open_socket(self, call: Call) -> Answer:
        ticket = secrets.token_hex(8)
        self._tickets.add(ticket)
        host = self.base.removeprefix("http://")
        return {"ok": True, "url": f"ws://{host}/link/?ticket={ticket}&app_id={self.world.app_id}"}

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=403, text="expired ticket")
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse(autoping=True)
        await socket.prepare(request)
        transport = request.transport
        if isinstance(transport, asyncio.Transport):
            self._transports.append(transport)
        hello: dict[str, object] = {
            "type": "hello",
            "debug_info": {"host": "simulator", "approximate_connection_time": 18060},
            "connection_info": {"app_id": self.world.app_id},
        }
        try:
            await self.sockets.serve(socket, hello)
        finally:
            if transport in self._transports:
                self._transports.remove(transport)
            await socket.close()
        return socket

    # --- files ----------------------------------------------------------------------------------

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        file = self.world.uploads.get(request.match_info["file"])
        data = await _uploaded(request)

        def act() -> web.Response:
            if file is None:
                return web.Response(status=404, text="no such upload")
            file.data, file.mime = data, _guessed_type(file.name)
            return web.Response(text=f"OK - {len(data)}")

        return await self._guarded(request, "upload", {"length": len(data)}, act)

    async def _download(self, request: web.Request) -> web.StreamResponse:
        file_id = request.match_info["file"].partition("-")[2]
        file = self.world.files.get(file_id)
        allowed = request.headers.get("Authorization") == f"Bearer {self.bot_token}"

        def act() -> web.Response:
            if not allowed or "files:read" not in self.scopes:
                # Slack does not say no, it shows its sign-in page.
                return web.Response(status=302, headers={"Location": f"{self.base}/login"})
            if file is None:
                return web.Response(status=404)
            return web.Response(body=file.data, content_type=file.mime or "text/plain")

        return await self._guarded(request, "download", {"file": file_id}, act)

    async def _portrait(self, request: web.Request) -> web.StreamResponse:
        self.portrait_requests.append(dict(request.headers))
        if request.match_info["name"] == "redirect":
            return web.Response(status=302, headers={"Location": "http://127.0.0.1:9/"})
        picture = self.world.portraits.get(request.match_info["user"])
        if picture is None:
            return web.Response(status=404)
        return web.Response(body=picture.data, content_type=picture.mime)

    # --- response URLs --------------------------------------------------------------------------

    async def _respond(self, request: web.Request) -> web.StreamResponse:
        arguments = await _arguments(request)
        target = self.world.response_urls.get(request.match_info["key"])

        def act() -> web.Response:
            try:
                self._answer_at(target, arguments)
            except SlackError as error:
                status = 404 if error.error in ("expired_url", "used_url") else 400
                return web.json_response(error.body(), status=status)
            return web.Response(text="ok")

        return await self._guarded(request, "response_url", arguments, act)

    def _answer_at(self, target: ResponseUrl | None, arguments: dict[str, object]) -> None:
        if target is None or time.monotonic() - target.made_at > RESPONSE_URL_SECONDS:
            raise SlackError("expired_url")
        if target.used >= RESPONSE_URL_USES:
            raise SlackError("used_url")
        original = self.world.find(target.channel, target.message_ts) if target.message_ts else None
        if arguments.get("delete_original") is True and original is not None:
            target.used += 1
            original.deleted = True
            self.world.changed.notify()
            return
        blocks = check_message(arguments.get("text", ""), arguments.get("blocks", []))
        target.used += 1
        if arguments.get("replace_original") is True and original is not None:
            original.text, original.blocks = str(arguments.get("text", "")), blocks
            self.world.changed.notify()
            return
        in_channel = arguments.get("response_type") == "in_channel"
        self.world.add(
            Message(
                ts=self.world.new_ts(),
                channel=target.channel,
                user=self.world.bot_user,
                text=str(arguments.get("text", "")),
                blocks=blocks,
                thread_ts=str(arguments.get("thread_ts", "")),
                by_bot=True,
                only_for="" if in_channel else target.user,
                payload=arguments,
            )
        )


def stored(name: str, mime: str, data: bytes, user: str, world: World) -> StoredFile:
    """A file that a person uploaded."""
    file = StoredFile(world.new_id("F"), name, mime, data, user, shared=True)
    world.files[file.id] = file
    return file


def _failure(fault: Fault) -> web.Response:
    if fault.kind == "rate_limit":
        # Slack counts in whole seconds.
        wait = str(max(1, math.ceil(fault.retry_after)))
        body = {"ok": False, "error": "ratelimited"}
        return web.json_response(body, status=429, headers={"Retry-After": wait})
    return web.Response(status=503, text="<html>upstream error</html>", content_type="text/html")


async def _arguments(request: web.Request) -> dict[str, object]:
    """A request's arguments, wherever they are; the token, if there is one, among them."""
    arguments: dict[str, object] = dict(request.query)
    if request.content_type == "application/json":
        try:
            decoded = json.loads(await request.text() or "{}")
        except ValueError:
            decoded = {}
        arguments |= decoded if isinstance(decoded, dict) else {}
    elif request.method == "POST":
        arguments |= {k: v for k, v in (await request.post()).items() if isinstance(v, str)}
    bearer = request.headers.get("Authorization", "")
    if bearer.startswith("Bearer "):
        arguments["token"] = bearer.removeprefix("Bearer ")
    return arguments


async def _uploaded(request: web.Request) -> bytes:
    """The bytes of an upload: the body itself, or the file of a form."""
    if request.content_type != "multipart/form-data":
        return await request.read()
    for value in (await request.post()).values():
        if isinstance(value, web.FileField):
            return value.file.read()
    return b""


def _guessed_type(name: str) -> str:
    ending = name.rpartition(".")[2].lower()
    known = {"png": "image/png", "jpg": "image/jpeg", "gif": "image/gif", "pdf": "application/pdf"}
    known |= {"txt": "text/plain", "md": "text/markdown", "csv": "text/csv"}
    return known.get(ending, "application/octet-stream")
