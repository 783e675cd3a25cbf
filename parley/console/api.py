"""The console's functions as JSON: for programs with a person's token, and for a browser with a
session."""

from typing import Any, Final

from msgspec import Struct
from starlette.responses import Response
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.ports.action import Input, Nothing
from gateway.ports.rights import Credential
from parley.console.app import with_id
from parley.console.route import AnyRoute
from parley.console.security import check_csrf, session_secret
from parley.console.services import ConsoleServices
from parley.console.sessions import Viewers, csrf_of
from parley.console.viewer import Viewer
from parley.http.api import PREFIX as API
from parley.http.api.errors import UniformErrors
from parley.http.api.operations import (
    MAX_BODY,
    Operation,
    OperationAnswer,
    Plain,
    has_body,
    read_json,
    read_query,
)
from parley.http.asgi import exchange_of, headers_of
from parley.http.starlette_routes import Served, proven, routes_of

BELOW: Final = "/console"
PREFIX: Final = f"{API}{BELOW}"
_REFUSALS: Final = {
    404: "It does not exist, or you may not see it.",
    409: "It changed meanwhile.",
    422: "It was refused; `message` says why.",
}
_VIEWER: Final = "parley.viewer"


class ConsoleApi(Struct, frozen=True):
    """Serves the routes below `/api/v1/console`."""

    routes: tuple[AnyRoute, ...]
    services: ConsoleServices
    """The running program."""
    identity: Viewers
    """Finds the viewer of a request."""

    def app(self) -> ASGIApp:
        """Return the application."""
        served = [
            Served(one.method, one.path, _Call(self, one), one.allowed) for one in self.routes
        ]
        routes = Router(routes_of(served, proven), redirect_slashes=False)
        return UniformErrors(_WithViewer(routes, self.identity))


class _WithViewer(Struct, frozen=True):
    """Authenticates first: an unknown caller does not learn which paths exist. A request with a
    token is one of a program, also if it has the cookie of a session."""

    app: ASGIApp
    identity: Viewers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        viewer = await self._viewer(scope)
        scope[_VIEWER], exchange_of(scope).proof = viewer, viewer.proof
        await self.app(scope, receive, send)

    async def _viewer(self, scope: Scope) -> Viewer:
        """Return the viewer of a token or a session. Raises `CallRefused` (401, 403, 429)."""
        headers, secret = headers_of(scope), session_secret(scope)
        if "authorization" not in headers and secret:
            session = await self.identity.sessions.find(secret)
            if session is not None:
                if scope["method"] != "GET":
                    check_csrf(scope, (), csrf_of(secret))
                return await self.identity.of_session(session)
        claims = self.identity.authenticator.holder(headers.get("authorization", ""))
        exchange_of(scope).holder = claims
        return await self.identity.of_token(claims)


class _Call(Struct, frozen=True):
    """Runs one route."""

    api: ConsoleApi
    route: AnyRoute

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        viewer, route = scope[_VIEWER], self.route
        if not isinstance(viewer, Viewer):
            raise TypeError("the caller was not authenticated")
        params = with_id(await _params_of(scope, receive, route), scope)
        result = await route.run(viewer, self.api.services, params)
        headers = {"Content-Type": "application/json; charset=utf-8"}
        await Response(result.model_dump_json(), headers=headers)(scope, receive, send)


async def _params_of(scope: Scope, receive: Receive, route: AnyRoute) -> Input:
    params: Input
    if route.method == "GET":
        params = read_query(scope, route.params)
    elif _needs_body(route.params) or has_body(scope):
        params = await read_json(scope, receive, route.params, MAX_BODY)
    else:
        params = route.params()
    return params


def _has_fields(model: type[Input]) -> bool:
    return bool(set(model.model_fields) - {"id"})


def _needs_body(model: type[Input]) -> bool:
    return any(field.is_required() for field in model.model_fields.values())


def operations_of(routes: tuple[AnyRoute, ...]) -> tuple[Operation, ...]:
    """Return the routes as operations, for the OpenAPI description."""
    return tuple(map(_operation_of, routes))


def _operation_of(route: AnyRoute) -> Operation:
    reads = route.method == "GET"
    query: type[Any] = route.params if reads else Nothing
    return Operation(
        route.method,
        f"{BELOW}{route.path}",
        f"console_{route.name}",
        str(route.summary),
        route.allowed,
        _not_run,
        query,
        Nothing if reads or not _has_fields(route.params) else route.params,
        {200: (route.result, "The result.")},
        {**_REFUSALS, 403: _refusal_of(route)},
    )


def _refusal_of(route: AnyRoute) -> str:
    role = f"Only for the role {route.allowed.role.value} and above"
    by_token = Credential.TOKEN in route.allowed.by
    return f"{role}." if by_token else f"{role}, with a session: no token does this."


async def _not_run(_call: object, _query: Plain, _body: object) -> OperationAnswer:
    """Raise an error: `ConsoleApi` runs the route itself."""
    raise RuntimeError("a described operation of the console is not run")
