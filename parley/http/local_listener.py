"""The local listener: the page, health, metrics and console, for people who run the program.

It refuses to open beyond this machine without a token, and applies `parley.http.access` to every
request. Other packages add their routes before it starts.
"""

import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import structlog
from aiohttp import web

from gateway.errors import ConfigurationError
from gateway.observe.security_log import SecurityLog
from gateway.ports.http_routes import LocalRoute
from parley.http.access import (
    AccessDecision,
    RequestFacts,
    authorize,
    is_same_origin,
    same_secret,
    session_value,
)
from parley.http.client_address import Network
from parley.http.connections import ConnectionBounds
from parley.http.denied_requests import AUDITED, DENIED, Denied, note_denial
from parley.http.host_header import has_valid_host
from parley.http.listener import Listener
from parley.http.local_routes import aiohttp_route
from safety.http.addresses import is_loopback_name

COOKIE: Final = "parley_session"
COOKIE_DAYS: Final = 30
LINK_SECONDS: Final = 600.0
"""Seconds for which a login link works, once."""
MAX_LINKS: Final = 16
"""Maximum unused login links; the oldest is dropped first."""
MIN_TOKEN: Final = 16
"""Minimum characters of a token that protects a port beyond this machine."""

SECURITY_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "font-src 'self'; connect-src 'self'; media-src 'self' blob:; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

OPEN_PATHS: Final = ("/healthz", "/readyz")
"""Paths that are served to everybody who reaches the port; without access they name no details."""

ENTRY: Final = web.RequestKey("parley.entry", AccessDecision)
"""The decision of the listener's own rule, for parts with their own tokens."""
BOUNDS: Final = ConnectionBounds(connections=256, body_seconds=30.0, idle_seconds=60.0)
"""Seconds; long enough for a file that a person sends from the page, up to `max_body`."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Readiness:
    """The readiness of the program; `parts` has the state of each part, `problems` the reasons of
    failures."""

    ready: bool
    parts: Mapping[str, str] = field(default_factory=dict)
    problems: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Health:
    """The health of the process; `loop_lag` is the delay of its loop in seconds."""

    well: bool = True
    loop_lag: float = 0.0


HealthCheck: TypeAlias = Callable[[], Health]
ReadyCheck: TypeAlias = Callable[[], Readiness]
MakeApp: TypeAlias = Callable[[], web.Application]
_Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]


class LocalListener(Listener):
    """Serves `/healthz`, `/readyz` and added routes on one port.

    `token` protects it: as `Authorization: Bearer`, or through a login link that sets a cookie.
    """

    def __init__(
        self,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str = "",
        *,
        ready: ReadyCheck | None = None,
        health: HealthCheck | None = None,
        max_body: int = 32 * 1024 * 1024,
        bounds: ConnectionBounds = BOUNDS,
        proxies: Iterable[Network] = (),
        security: SecurityLog | None = None,
    ) -> None:
        super().__init__("local listener", "server", host, port, bounds, proxies)
        self._token = token
        self._ready: ReadyCheck = ready or (lambda: Readiness(True))
        self._health: HealthCheck = health or Health
        self._max_body = max_body
        self._routes: list[web.RouteDef] = []
        self._parts: list[tuple[str, MakeApp]] = []
        self._guarded: frozenset[web.Application] = frozenset()
        self._links: OrderedDict[str, float] = OrderedDict()
        self._security = security or SecurityLog()

    def add_routes(self, routes: Iterable[LocalRoute]) -> None:
        """Add routes. Raises `RuntimeError` after the start."""
        if self._runner is not None:
            raise RuntimeError("routes are added before the listener starts")
        self._routes.extend(map(aiohttp_route, routes))

    def add_guarded(self, prefix: str, make: MakeApp) -> None:
        """Serve a part with its own tokens under `prefix`, which refuses requests without one.

        Raises `RuntimeError` after the start.
        """
        if self._runner is not None:
            raise RuntimeError("parts are added before the listener starts")
        self._parts.append((prefix, make))

    async def start(self) -> None:
        """Listen. Raises `ConfigurationError` for an open port without a token, `StartError` if the
        port is not available. Safe to call twice."""
        if self._runner is not None:
            return
        check_exposure(self._host, self._token)
        app = web.Application(
            middlewares=[self._bounded, self._guard], client_max_size=self._max_body
        )
        app.on_response_prepare.append(_protect)
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        app.add_routes(self._routes)
        parts = [(prefix, make()) for prefix, make in self._parts]
        self._guarded = frozenset(part for _, part in parts)
        for prefix, part in parts:
            app.add_subapp(prefix, part)
        runner = web.AppRunner(
            app,
            access_log=None,
            handle_signals=False,
            shutdown_timeout=5.0,
            max_line_size=8190,
            max_field_size=8190,
            max_headers=64,
            auto_decompress=False,
            lingering_time=2.0,
        )
        await self._listen(runner)

    def login_link(self, path: str = "/") -> str:
        """Return a link that gives one browser access within ten minutes; without a token the plain
        page."""
        if not self._token:
            return self.base_url + path
        code = secrets.token_urlsafe(24)
        self._links[code] = time.monotonic() + LINK_SECONDS
        while len(self._links) > MAX_LINKS:
            self._links.popitem(last=False)
        return f"{self.base_url}{path}?token={code}"

    # --- every request --------------------------------------------------------------------------

    @web.middleware
    async def _bounded(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        with self.connections.answering(request) as has_room:
            if not has_room:
                return _refused(AccessDecision(False, "too_many_requests", 503))
            if "Content-Encoding" in request.headers:
                return _refused(AccessDecision(False, "compressed", 415))
            response = await handler(request)
            if response.status in AUDITED:
                guarded = not self._guarded.isdisjoint(request.match_info.apps)
                what = "api_denied" if guarded else "local_denied"
                sender = self.connections.sender(request)
                note_denial(self._security, what, request, response, sender)
            return response

    @web.middleware
    async def _guard(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        if not has_valid_host(request):
            return _refused(AccessDecision(False, "bad_host", 400))
        facts = _facts(request)
        entry = request[ENTRY] = authorize(facts, self._token)
        if not self._guarded.isdisjoint(request.match_info.apps):
            if not is_same_origin(facts):
                return _refused(AccessDecision(False, "strange_origin", 403))
            return await handler(request)
        if request.method == "GET" and "token" in request.query and self._token:
            return self._log_in(request)
        if not entry.allowed and request.path not in OPEN_PATHS:
            return _refused(entry)
        return await handler(request)

    def _log_in(self, request: web.Request) -> web.StreamResponse:
        given = request.query["token"]
        now = time.monotonic()
        used = ""
        for code, until in list(self._links.items()):
            if until < now:
                del self._links[code]
            elif same_secret(given, code):
                used = code
        if not used:
            return _refused(AccessDecision(False, "token_wrong", 401))
        del self._links[used]
        # Only the path: where to go next is never taken from the link itself.
        answer = web.Response(
            status=303, headers={"Location": "/" + request.rel_url.raw_path.lstrip("/")}
        )
        answer.set_cookie(
            COOKIE,
            session_value(self._token),
            max_age=COOKIE_DAYS * 86_400,
            path="/",
            httponly=True,
            samesite="Strict",
            secure=request.secure or request.headers.get("X-Forwarded-Proto") == "https",
        )
        return answer

    async def _healthz(self, _request: web.Request) -> web.Response:
        health = self._health()
        state = "ok" if health.well else "stalled"
        body = {"status": state, "loop_lag": round(health.loop_lag, 3)}
        return web.json_response(body, status=200 if health.well else 503)

    async def _readyz(self, request: web.Request) -> web.Response:
        state = self._ready()
        body: dict[str, object] = {"ready": state.ready}
        if request[ENTRY].allowed:
            body["parts"] = dict(state.parts)
            if state.problems:
                body["problems"] = dict(state.problems)
        return web.json_response(body, status=200 if state.ready else 503)


def check_exposure(host: str, token: str) -> None:
    """Raise `ConfigurationError` if `host` opens the port beyond this machine without
    protection."""
    if is_loopback_name(host):
        return
    if not token:
        raise ConfigurationError(
            f"server.host: {host} can be reached from other machines, and server.token is empty. "
            "Set server.token (at least 16 characters), or server.host: 127.0.0.1."
        )
    if len(token) < MIN_TOKEN:
        raise ConfigurationError(
            f"server.token: {len(token)} characters are too few for a port that other machines "
            f"reach; use at least {MIN_TOKEN}, for example from `openssl rand -hex 24`."
        )


def _facts(request: web.Request) -> RequestFacts:
    return RequestFacts(
        method=request.method,
        headers={name.lower(): value for name, value in request.headers.items()},
        cookie=request.cookies.get(COOKIE, ""),
    )


def _refused(entry: AccessDecision) -> web.Response:
    advice = {
        "token_missing": "Open the login link that `parley run` prints, or send server.token as "
        "Authorization: Bearer.",
        "token_wrong": "The token or login link is wrong, used or too old.",
        "forwarded_without_token": "Requests through a proxy need server.token.",
        "bad_host": "Send a path, and this host in one Host header.",
        "strange_host": "Use the host name localhost, or set server.token.",
        "too_many_requests": "Too many requests from this address at once; try again.",
        "compressed": "Send the body without Content-Encoding.",
        "strange_origin": "Requests from pages of other sites are refused. A proxy must pass the "
        "Host header on.",
    }.get(entry.reason, "")
    headers = {"WWW-Authenticate": "Bearer"} if entry.status == 401 else None
    answer = web.json_response(
        {"error": entry.reason, "advice": advice}, status=entry.status, headers=headers
    )
    answer[DENIED] = Denied(entry.reason)
    return answer


async def _protect(_request: web.Request, response: web.StreamResponse) -> None:
    for name, value in SECURITY_HEADERS.items():
        response.headers.setdefault(name, value)
    response.headers.pop("Server", None)
