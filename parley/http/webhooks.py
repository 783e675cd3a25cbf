"""The public listener: the platforms' webhook paths, and nothing else.

Whoever can reach it can reach only the registered paths; what is behind them checks the platform's
signature over the untouched body. Every size, count and wait is bounded here.
"""

import asyncio
from collections import Counter
from typing import Final

import structlog
from aiohttp import web
from aiohttp.web_protocol import RequestHandler
from multidict import MultiMapping

from gateway.errors import ConfigurationError
from gateway.ports import WebhookHandler, WebhookRequest, WebhookResponse
from parley.http.ports import unusable

MAX_BODY: Final = 3 * 1024 * 1024
"""Bytes of one request's body. Meta's webhooks are the largest, up to 3 MB (Graph API webhooks)."""

MAX_QUERY: Final = 32
"""Parameters in a query string; Meta's handshake has three."""

MAX_PATH: Final = 200
"""Characters of a registered path."""

MAX_CONNECTIONS: Final = 1024
"""Open connections; the platforms use a handful each."""

log = structlog.get_logger(__name__)


class WebhookListener:
    """Serves the paths that adapters add, on one port.

    `port` 0 takes a free one. `body_seconds` bounds how long a body may trickle in,
    `handler_seconds` how long an adapter may take, `max_at_once` how many requests run together.
    Implements `gateway.ports.WebhookRoutes`.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        max_body: int = MAX_BODY,
        body_seconds: float = 10.0,
        handler_seconds: float = 30.0,
        idle_seconds: float = 30.0,
        max_at_once: int = 256,
    ) -> None:
        self._host = host
        self._wanted_port = port
        self._max_body = max_body
        self._body_seconds = body_seconds
        self._handler_seconds = handler_seconds
        self._idle_seconds = idle_seconds
        self._max_at_once = max_at_once
        self._handlers: dict[str, WebhookHandler] = {}
        self._running = 0
        self._runner: web.ServerRunner | None = None
        self._site: web.TCPSite | None = None
        # Accounts connect beside each other, and each may be the first with a path.
        self._starting = asyncio.Lock()
        self.refused: Counter[int] = Counter()
        """How many requests were turned away, by status."""

    # --- routes ---------------------------------------------------------------------------------

    def add(self, path: str, handler: WebhookHandler) -> None:
        """Serve `path` (GET and POST). Raises `ConfigurationError` when it is taken or no path."""
        if not path.startswith("/") or len(path) > MAX_PATH or "?" in path:
            raise ConfigurationError(f"webhook path {path[:80]!r}: write it as /webhook/<platform>")
        if path in self._handlers:
            raise ConfigurationError(
                f"webhook path {path}: two accounts want it; give each account its own name"
            )
        self._handlers[path] = handler

    def remove(self, path: str) -> None:
        """Stop serving `path`; unknown paths are fine."""
        self._handlers.pop(path, None)

    @property
    def paths(self) -> tuple[str, ...]:
        """What is served now."""
        return tuple(self._handlers)

    @property
    def listening(self) -> bool:
        """Whether requests arrive."""
        return self._runner is not None

    # --- life -----------------------------------------------------------------------------------

    async def start(self) -> None:
        """Listen. Safe to call twice, also at once. Raises `StartError` when there is no port."""
        async with self._starting:
            if self._runner is None:
                self._runner, self._site = await self._listen()

    async def _listen(self) -> tuple[web.ServerRunner, web.TCPSite]:
        server = _QuietServer(
            self._answer,
            access_log=None,
            auto_decompress=False,
            keepalive_timeout=self._idle_seconds,
            max_line_size=4096,
            max_field_size=8190,
            max_headers=100,
            lingering_time=2.0,
        )
        runner = web.ServerRunner(server, shutdown_timeout=5.0)
        await runner.setup()
        site = web.TCPSite(runner, self._host, self._wanted_port)
        try:
            await site.start()
        except OSError as error:
            await runner.cleanup()
            where = (self._host, self._wanted_port)
            raise unusable("webhooks", "webhooks", *where, error) from error
        return runner, site

    async def start_if_needed(self) -> bool:
        """Listen if at least one path is registered; True when it is listening afterwards."""
        if self._handlers:
            await self.start()
        return self._runner is not None

    async def stop(self) -> None:
        """Close the port and what is open. Safe to call twice, and before `start`."""
        runner, self._runner, self._site = self._runner, None, None
        if runner is not None:
            await runner.cleanup()

    @property
    def port(self) -> int:
        """The port in use; before `start` the one asked for."""
        return self._site.port if self._site is not None else self._wanted_port

    @property
    def base_url(self) -> str:
        """Where this machine reaches the listener, without a slash at the end."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(self._host, self._host)  # noqa: S104 - names what to avoid
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    # --- one request ----------------------------------------------------------------------------

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        response = await self._decide(request)
        if response.status >= 400:
            self.refused[response.status] += 1
        return response

    async def _decide(self, request: web.BaseRequest) -> web.Response:
        handler = self._handlers.get(request.path)
        if handler is None:
            return _refusal(404)
        if request.method not in ("GET", "POST"):
            return _refusal(405, {"Allow": "GET, POST"})
        if len(request.query) > MAX_QUERY:
            return _refusal(400)
        if self._running >= self._max_at_once:
            return _refusal(503, {"Retry-After": "1"})
        self._running += 1
        try:
            return await self._handle(request, handler)
        finally:
            self._running -= 1

    async def _handle(self, request: web.BaseRequest, handler: WebhookHandler) -> web.Response:
        try:
            async with asyncio.timeout(self._body_seconds):
                body = await self._read(request)
        except TimeoutError:
            return _refusal(408, {"Connection": "close"})
        except (ConnectionError, web.RequestPayloadError):
            # Whoever asked went away in the middle, or garbled the body: no fault of ours to log.
            return _refusal(400, {"Connection": "close"})
        if body is None:
            return _refusal(413, {"Connection": "close"})
        try:
            async with asyncio.timeout(self._handler_seconds):
                answer = await handler(_as_port_request(request, body))
        except TimeoutError:
            log.warning("webhook_too_slow", path=request.path, seconds=self._handler_seconds)
            return _refusal(503)
        except Exception:
            # Details stay in the log: the answer goes to whoever asked.
            log.exception("webhook_failed", path=request.path)
            return _refusal(500)
        return _as_http(answer)

    async def _read(self, request: web.BaseRequest) -> bytes | None:
        """The body as it came, None when it is larger than allowed."""
        if (request.content_length or 0) > self._max_body:
            return None
        pieces = bytearray()
        async for piece in request.content.iter_any():
            pieces += piece
            if len(pieces) > self._max_body:
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
    """Repeated names joined by a comma, so that a second signature header never counts."""
    return {name: ", ".join(values.getall(name)) for name in values}


class _BareResponse(web.Response):
    """A response that does not say which software wrote it."""

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
    """Answers what is no HTTP at all without explaining why."""

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
    """Hands out quiet handlers, and drops connections beyond a number."""

    def __call__(self) -> RequestHandler:
        return _QuietHandler(self, loop=self._loop, **self._kwargs)

    def connection_made(self, handler: RequestHandler, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        if len(self._connections) > MAX_CONNECTIONS:
            transport.abort()
