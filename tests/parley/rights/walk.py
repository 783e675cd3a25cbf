"""Every route of a running program with its declaration, found in the applications that serve
it."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from starlette.routing import Mount, Route

from gateway.ports.rights import Allowed
from parley.http.asgi import LateApp
from parley.http.mcp_endpoint import McpEndpoint
from parley.http.starlette_routes import Methods


class Found(Struct, frozen=True):
    """A route. Its path begins at the root of the listener."""

    method: str
    path: str
    allowed: Allowed

    @property
    def name(self) -> str:
        """The route as the documentation names it."""
        return f"{self.method} {self.path}"


class Undeclared(AssertionError):
    """Something is served without a declaration."""


def routes_of(app: Any, prefix: str = "") -> Iterator[Found]:
    """The routes below an application. Raises `Undeclared` for what has no declaration.

    Applications that are loaded with their first request must have been."""
    if isinstance(app, McpEndpoint):
        return  # its tools and resources are listed by the protocol
    if isinstance(app, LateApp):
        if app._app is None:
            raise Undeclared(f"{prefix}: not loaded yet")
        yield from routes_of(app._app, prefix)
        return
    if not hasattr(app, "routes") or not all(map(_is_route, app.routes)):
        inner = getattr(app, "app", None)
        if inner is None:
            raise Undeclared(f"{prefix}: {app!r}")
        yield from routes_of(inner, prefix)
        return
    for route in app.routes:
        if isinstance(route, Mount):
            yield from routes_of(route.app, prefix + route.path)
            continue
        methods = route.endpoint
        if not isinstance(methods, Methods):
            raise Undeclared(f"{prefix}{route.path}: {methods!r}")
        for method, served in methods.served.items():
            yield Found(method, prefix + route.path, served.allowed)


def _is_route(route: object) -> bool:
    return isinstance(route, (Mount, Route))
