"""The public listener: the platforms' webhook paths, and nothing else.

Only registered paths are served; their handlers check the platform's signature over the untouched
body. Every size, count and wait is bounded here and in `parley.http.connections`.
"""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Final

import structlog
from aiohttp import HttpVersion11, web
from aiohttp.web_protocol import RequestHandler
from msgspec import Struct
from multidict import MultiMapping

from gateway.errors import ConfigurationError
from gateway.immutable import replace
from gateway.observe.security_log import SecurityLog
from gateway.ports import WebhookHandler, WebhookRequest, WebhookResponse
from gateway.ports.http_routes import MAX_BODY
from gateway.ports.work_guard import UNGUARDED, WorkGuard, WorkItem
from parley.http.client_address import Network
from parley.http.connections import ConnectionBounds
from parley.http.host_header import is_valid_host_request
from parley.http.listener import Listener
from parley.http.middlewares import audit_refusal

MAX_QUERY: Final = 32
"""Parameters in a query string; Meta's handshake has three."""

MAX_PATH: Final = 200
"""Characters of a registered path."""

BODY_GRACE: Final = 2.0
"""Seconds until a connection is closed with a late body that could not be answered by 408."""

log = structlog.get_logger(__name__)


class WebhookListener(Listener):
    """Serves the paths that adapters add, on one port. Implements `gateway.ports.WebhookRoutes`.

    `port` 0 takes a free one. `bounds` hold for connections, `handler_seconds` for an adapter, and
    at most `max_at_once` complete requests run together. `proxies` are the networks of trusted
    reverse proxies.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        max_body: int = MAX_BODY,
        bounds: ConnectionBounds | None = None,
        handler_seconds: float = 30.0,
        max_at_once: int = 256,
        proxies: Iterable[Network] = (),
        guard: WorkGuard = UNGUARDED,
        security: SecurityLog | None = None,
    ) -> None:
        self._max_body = max_body
        self._bounds = bounds or ConnectionBounds()
        late = replace(self._bounds, body_seconds=self._bounds.body_seconds + BODY_GRACE)
        super().__init__("webhooks", "webhooks", host, port, late, proxies)
        self._handler_seconds = handler_seconds
        self._max_at_once = max_at_once
        self._routes: dict[str, _Route] = {}
        self._guard = guard
        self._security = security or SecurityLog()
        self._running = 0
        # Accounts connect beside each other, and each may be the first with a path.
        self._starting = asyncio.Lock()
        self.refused: Counter[int] = Counter()
        """The number of refused requests, by status."""

    # --- routes ---------------------------------------------------------------------------------

    def add(
        self, path: str, handler: WebhookHandler, *, proof: str, max_body: int = MAX_BODY
    ) -> None:
        """Serve `path` (GET and POST), see `gateway.ports.WebhookRoutes`. Raises
        `ConfigurationError` when it is taken or no path, and without `proof`."""
        if not path.startswith("/") or len(path) > MAX_PATH or "?" in path:
            raise ConfigurationError(f"webhook path {path[:80]!r}: write it as /webhook/<platform>")
        if not proof:
            raise ConfigurationError(f"webhook path {path}: name the header that proves its sender")
        if path in self._routes:
            raise ConfigurationError(
                f"webhook path {path}: two accounts use it; give each account its own name"
            )
        self._routes[path] = _Route(handler, min(max_body, self._max_body), proof)

    def remove(self, path: str) -> None:
        """Stop serving `path`; unknown paths are fine."""
        self._routes.pop(path, None)

    @property
    def paths(self) -> dict[str, str]:
        """The paths that are served now, each with the header that proves its sender."""
        return {path: route.proof for path, route in self._routes.items()}

    # --- life -----------------------------------------------------------------------------------

    async def start(self) -> None:
        """Listen. Safe to call twice, also at once. Raises `StartError` when there is no port."""
        async with self._starting:
            if not self.listening:
                runner = self._make_runner()
                await runner.setup()
                if runner.server is None:
                    raise RuntimeError("the runner is not set up")
                await self._listen(runner.server, runner.cleanup)

    def _make_runner(self) -> web.ServerRunner:
        server = _QuietServer(
            self._answer,
            access_log=None,
            auto_decompress=False,
            max_line_size=4096,
            max_field_size=8190,
            max_headers=64,
            lingering_time=2.0,
        )
        return web.ServerRunner(server, shutdown_timeout=5.0)

    async def start_if_needed(self) -> bool:
        """Listen if at least one path is registered; True when it is listening afterwards."""
        if self._routes:
            await self.start()
        return self.listening

    # --- one request ----------------------------------------------------------------------------

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        transport, hops = request.transport, request.headers.getall("X-Forwarded-For", ())
        with self.connections.answering(transport, request.content.is_eof, hops) as has_room:
            busy = _refusal(503, {"Retry-After": "1", "Connection": "close"})
            response = await self._decide(request) if has_room else busy
            if response.status in (401, 403):
                sender, reason = self.connections.sender(transport), f"http_{response.status}"
                audit_refusal(self._security, "webhook_denied", reason, sender)
        if response.status >= 400:
            self.refused[response.status] += 1
        return response

    async def _decide(self, request: web.BaseRequest) -> web.Response:
        if not _has_valid_host(request):
            return _refusal(400, {"Connection": "close"})
        route = self._routes.get(request.path)
        if route is None:
            return _refusal(404)
        if request.method not in ("GET", "POST"):
            return _refusal(405, {"Allow": "GET, POST"})
        if len(request.query) > MAX_QUERY:
            return _refusal(400)
        if request.method == "POST" and not request.headers.get(route.proof):
            return _refusal(401, {"Connection": "close"})
        if (request.content_length or 0) > route.max_body:
            return _refusal(413, {"Connection": "close"})
        try:
            async with asyncio.timeout(self._bounds.body_seconds):
                await _ask_for_body(request)
                body = await _read(request, route.max_body)
        except TimeoutError:
            return _refusal(408, {"Connection": "close"})
        except (ConnectionError, web.RequestPayloadError):
            # The sender went away in the middle, or garbled the body.
            return _refusal(400, {"Connection": "close"})
        if body is None:
            return _refusal(413, {"Connection": "close"})
        if self._running >= self._max_at_once:
            return _refusal(503, {"Retry-After": "1"})
        self._running += 1
        try:
            return await self._handle(route.handler, _as_port_request(request, body))
        finally:
            self._running -= 1

    async def _handle(self, handler: WebhookHandler, request: WebhookRequest) -> web.Response:
        item = WorkItem("payload", hashlib.blake2b(request.body, digest_size=16).hexdigest())
        try:
            async with asyncio.timeout(self._handler_seconds):
                if request.body and self._guard.exhausted(item):
                    return _refusal(200)  # otherwise the platform delivers it for days
                with self._guard.working(item):
                    answer = await handler(request)
        except TimeoutError:
            log.warning("webhook_too_slow", path=request.path, seconds=self._handler_seconds)
            return _refusal(503)
        except Exception:
            # Details stay in the log: the answer goes to the sender.
            log.exception("webhook_failed", path=request.path)
            return _refusal(500)
        return _as_http(answer)


class _Route(Struct, frozen=True):
    handler: WebhookHandler
    max_body: int
    proof: str


def _has_valid_host(request: web.BaseRequest) -> bool:
    hosts = request.headers.getall("Host", [])
    return is_valid_host_request(request.raw_path, hosts, required=request.version >= HttpVersion11)


async def _ask_for_body(request: web.BaseRequest) -> None:
    """Answer `Expect: 100-continue`; aiohttp does that for applications only."""
    expected = request.headers.get("Expect", "").lower()
    if expected == "100-continue" and request.version >= HttpVersion11:
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0  # the answer itself has not begun


async def _read(request: web.BaseRequest, limit: int) -> bytes | None:
    """Return the unchanged body, None if it is larger than allowed."""
    pieces = bytearray()
    async for piece in request.content.iter_any():
        pieces += piece
        if len(pieces) > limit:
            return None
    return bytes(pieces)


def _as_port_request(request: web.BaseRequest, body: bytes) -> WebhookRequest:
    return WebhookRequest(
        method=request.method,
        path=request.path,
        query=_joined(request.query),
        headers={name.lower(): value for name, value in _joined(request.headers).items()},
        body=body,
    )


def _joined(values: MultiMapping[str]) -> dict[str, str]:
    """Return the headers, with repeated names joined by a comma, so that a second signature header
    never counts."""
    return {name: ", ".join(values.getall(name)) for name in values}


class _BareResponse(web.Response):
    """A response without the name of the software."""

    async def _prepare_headers(self) -> None:
        await super()._prepare_headers()
        self.headers.pop("Server", None)


def _as_http(answer: WebhookResponse) -> web.Response:
    return _BareResponse(
        status=answer.status,
        text=answer.body,
        content_type=answer.content_type,
        headers={"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"},
    )


def _refusal(status: int, headers: dict[str, str] | None = None) -> web.Response:
    return _BareResponse(status=status, headers=headers)


class _QuietHandler(RequestHandler):
    """Answers malformed HTTP without an explanation."""

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        response = _refusal(status, {"Connection": "close"})
        response.force_close()
        return response


class _QuietServer(web.Server):
    """Makes quiet handlers."""

    def __call__(self) -> RequestHandler:
        return _QuietHandler(self, loop=self._loop, **self._kwargs)
