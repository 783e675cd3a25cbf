"""The local listener: the page, health, metrics and console, for people who run the program.

It refuses to open beyond this machine without a token, and applies `parley.http.access` to every
request. Other packages add routes and applications before it starts. Starlette routes the requests,
uvicorn reads them.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Final, TypeAlias

import structlog
from msgspec import Struct
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Mount, Router
from starlette.types import ASGIApp, Scope

from gateway.errors import ConfigurationError, StartError
from gateway.observe.security_log import SecurityLog
from gateway.ports.http_routes import LocalRoute
from gateway.text import Language
from parley.http.access_layers import MountedAppAccess, PageAccess, open_paths, page_gate
from parley.http.asgi import LateApp, in_english
from parley.http.asgi_server import AsgiServer
from parley.http.client_address import Network
from parley.http.connections import ConnectionBounds
from parley.http.health_endpoints import (
    Health,
    HealthCheck,
    HealthEndpoints,
    Readiness,
    ReadyCheck,
)
from parley.http.listener import Listener
from parley.http.login_links import LoginLinks, login_routes
from parley.http.middlewares import (
    DeniedAudit,
    HostGate,
    Languages,
    PlainBodies,
    RequestBounds,
    SecurityHeaders,
    UnexpectedErrors,
)
from parley.http.refusal import refusal
from parley.http.starlette_routes import pages_of, routes_of
from safety.http.addresses import is_loopback_name

MakeLifespan: TypeAlias = Callable[[], AbstractAsyncContextManager[None]]
LIFESPAN_SECONDS: Final = 1.0
"""Seconds in which an application ends when the listener stops."""

log = structlog.get_logger(__name__)


class MountedApp(Struct, frozen=True):
    """An ASGI application and its prefix. `lifespan` is entered after `make`, before the port
    opens, and left when the port is closed."""

    prefix: str
    make: Callable[[], ASGIApp]
    lifespan: MakeLifespan | None = None


class AppMount(Mount):
    """Mounts an application also at its prefix itself, which it sees as the path `/`."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return the match, and what changes in the scope for the application."""
        if scope["path"] != self.path:
            return super().matches(scope)
        below = f"{self.path}/"
        match, changes = super().matches({**scope, "path": below})
        return match, {**changes, "path": below}


class Lifespans:
    """Enters and leaves the lifespans in one task: a task group must end in the task in which it
    began."""

    def __init__(self, lifespans: Iterable[MakeLifespan]) -> None:
        self._lifespans = tuple(lifespans)
        self._ending = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Enter all lifespans. Raises `StartError` if one of them fails; the log has its error."""
        if not self._lifespans:
            return
        begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live(begun), name="mounted-apps")
        self._task.add_done_callback(_report)
        await asyncio.wait({self._task, begun}, return_when=asyncio.FIRST_COMPLETED)
        if not begun.done():
            raise StartError(
                "local listener: an application of it did not start.", "The log has details."
            )

    async def stop(self) -> None:
        """Leave all lifespans, within `LIFESPAN_SECONDS`."""
        self._ending.set()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=LIFESPAN_SECONDS)
            self._task.cancel()

    async def _live(self, begun: "asyncio.Future[None]") -> None:
        async with AsyncExitStack() as stack:
            for lifespan in self._lifespans:
                await stack.enter_async_context(lifespan())
            begun.set_result(None)
            await self._ending.wait()


def _report(task: "asyncio.Task[None]") -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("mounted_app_failed", exc_info=error)


MIN_TOKEN: Final = 16
"""Minimum characters of a token that protects a port beyond this machine."""
BOUNDS: Final = ConnectionBounds(connections=256, body_seconds=30.0, idle_seconds=60.0)
"""Seconds; long enough for a file that a person sends from the page, up to `max_body`."""
_HTTP_ERRORS: Final[Mapping[int, str]] = {404: "not_found", 405: "method_not_allowed"}


class LocalListener(Listener):
    """Serves `/healthz`, `/readyz` and added routes on one port.

    `token` protects it: as `Authorization: Bearer`, or through a login link that sets a cookie.
    `hosts` are the names under which clients reach the mounted applications, beside this machine's.
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
        hosts: Iterable[str] = (),
        proxies: Iterable[Network] = (),
        security: SecurityLog | None = None,
        language_of: Callable[[str], Language] = in_english,
    ) -> None:
        """`language_of` returns the language of a refusal for a header `Accept-Language`."""
        super().__init__("local listener", "server", host, port, bounds, proxies)
        self._token = token
        self._endpoints = HealthEndpoints(health or Health, ready or (lambda: Readiness(True)))
        self._hosts = frozenset(one.lower() for one in (host, *hosts))
        self._max_body = max_body
        self._stalled_seconds = bounds.idle_seconds
        self.app = Starlette()
        """The applications that serve the requests: empty before the start."""
        self._routes: list[LocalRoute] = []
        self._apps: list[MountedApp] = []
        self._late: dict[str, LateApp] = {}
        self._links = LoginLinks()
        self._security = security or SecurityLog()
        self._language_of = language_of

    def add_routes(self, routes: Iterable[LocalRoute]) -> None:
        """Add routes. Raises `RuntimeError` after the start."""
        if self.listening:
            raise RuntimeError("routes are added before the listener starts")
        self._routes.extend(routes)

    def mount_app(
        self, prefix: str, make: Callable[[], ASGIApp], lifespan: MakeLifespan | None = None
    ) -> None:
        """Serve an application below `prefix`, which refuses requests without a token of its own.

        `make` returns an ASGI application for HTTP. It sees paths as they were sent (still
        percent-encoded), with `prefix` as its `root_path`; `prefix` itself is the path `/`.
        `lifespan` is entered after `make`, before the port opens, and left after the requests have
        ended. Both are called at each start. The listener adds bounds, audit, and the checks of the
        Host header and the origin. Raises `RuntimeError` after the start.
        """
        if self.listening:
            raise RuntimeError("applications are added before the listener starts")
        self._apps.append(MountedApp(prefix, make, lifespan))

    async def start(self) -> None:
        """Listen. Raises `ConfigurationError` for an open port without a token, `StartError` if the
        port is not available. Safe to call twice."""
        if self.listening:
            return
        check_exposure(self._host, self._token)
        self.app = self._made()
        server = AsgiServer(self.app)
        lifespans = Lifespans(one.lifespan for one in self._apps if one.lifespan is not None)

        async def finish() -> None:
            await server.stop()
            await lifespans.stop()

        await lifespans.start()
        await self._listen(server.protocol, finish)

    async def load_apps(self) -> None:
        """Load the applications that the start leaves out. Raises `StartError` if one of them
        cannot be built, such as one with a route that does not declare who may use it."""
        for prefix, app in self._late.items():
            try:
                await app.load()
            except Exception as error:
                raise StartError(f"{prefix} cannot be served: {error}.") from error

    def login_link(self, path: str = "/") -> str:
        """Return a link that gives one browser access within ten minutes, and leads to `path`;
        without a token the plain page."""
        if not self._token:
            return self.base_url + path
        return self.base_url + self._links.new(path)

    def _made(self) -> Starlette:
        declared = [*self._endpoints.routes(), *self._routes]
        served = [*pages_of(declared), *login_routes(self._links, self._token)]
        router = Router(routes_of(served, page_gate), redirect_slashes=False)
        pages = PageAccess(router, self._token, open_paths(served))
        made = {one.prefix: one.make() for one in self._apps}
        self._late = {prefix: app for prefix, app in made.items() if isinstance(app, LateApp)}
        mounts: list[BaseRoute] = [
            AppMount(prefix, MountedAppAccess(app, self._token, self._hosts))
            for prefix, app in made.items()
        ]
        return Starlette(
            routes=[*mounts, Mount("", pages)],
            middleware=[
                Middleware(Languages, language_of=self._language_of),
                Middleware(SecurityHeaders),
                Middleware(UnexpectedErrors),
                Middleware(DeniedAudit, security=self._security),
                Middleware(
                    RequestBounds, connections=self.connections, seconds=self._stalled_seconds
                ),
                Middleware(PlainBodies, most=self._max_body),
                Middleware(HostGate),
            ],
            exception_handlers={HTTPException: _http_error},
        )


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


async def _http_error(request: Request, error: Exception) -> Response:
    """Return the refusal of a path or method that is not served."""
    if not isinstance(error, HTTPException):
        raise error
    reason = _HTTP_ERRORS.get(error.status_code, f"http_{error.status_code}")
    return refusal(request.scope, error.status_code, reason, error.headers)
