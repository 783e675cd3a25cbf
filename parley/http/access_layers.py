"""The access rule of the local listener as ASGI layers: one around the pages, one around the
mounted applications, which check tokens of their own."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.people import Role
from gateway.ports.http_routes import LocalRequest, LocalResponse, LocalRoute
from gateway.ports.rights import LOCAL_PAGES, OPEN, Allowed, Credential, Proof, missing
from parley.http.access import authorize, is_same_origin
from parley.http.asgi import exchange_of, facts_of
from parley.http.host_header import is_known_host
from parley.http.login_links import COOKIE
from parley.http.refusal import refusal
from parley.http.starlette_routes import Served

PATH: Final = "/page-links"


class PageAccess(Struct, frozen=True):
    """Applies the access rule to the local pages. `open_paths` match the paths that are served to
    everybody who reaches the port."""

    app: ASGIApp
    token: str
    open_paths: tuple[re.Pattern[str], ...]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        decision = authorize(facts_of(scope, COOKIE), self.token)
        exchange = exchange_of(scope)
        exchange.page_access = decision
        if decision.allowed:
            exchange.proof = Proof(Credential.LOCAL, Role.GUEST)
        if decision.allowed or self._is_open(scope):
            await self.app(scope, receive, send)
        else:
            await refusal(scope, decision.status, decision.reason)(scope, receive, send)

    def _is_open(self, scope: Scope) -> bool:
        return any(one.match(scope["path"]) for one in self.open_paths)


def open_paths(routes: Iterable[LocalRoute | Served]) -> tuple[re.Pattern[str], ...]:
    """Return what matches the paths of the routes that everybody may call. A placeholder is one
    segment, as the router reads it."""
    opened = (one.path for one in routes if Credential.NONE in one.allowed.by)
    return tuple(compile_path(path)[0] for path in opened)


async def page_gate(scope: Scope, allowed: Allowed) -> None:
    """The gate of the local pages. Raises `HTTPException` (403)."""
    if missing(allowed, exchange_of(scope).proof):
        raise HTTPException(403)


class MountedAppAccess(Struct, frozen=True):
    """Refuses requests to a mounted application for other hosts than `hosts` and this machine, and
    those from pages of other sites."""

    app: ASGIApp
    token: str
    hosts: frozenset[str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        exchange, facts = exchange_of(scope), facts_of(scope, COOKIE)
        exchange.denial, exchange.page_access = "api_denied", authorize(facts, self.token)
        arrived = (scope.get("server") or ("",))[0]
        if not is_known_host(facts.headers.get("host", ""), self.hosts, arrived):
            await refusal(scope, 403, "unknown_host")(scope, receive, send)
        elif is_same_origin(facts):
            await self.app(scope, receive, send)
        else:
            await refusal(scope, 403, "strange_origin")(scope, receive, send)


def page_link_routes(links: Callable[[], Sequence[str]]) -> Iterable[LocalRoute]:
    """The route that makes new links; `links` returns one for each page."""

    async def make(_request: LocalRequest) -> LocalResponse:
        body = json.dumps({"links": list(links())}).encode()
        return LocalResponse(body, content_type="application/json")

    yield LocalRoute("POST", PATH, make, LOCAL_PAGES)


def start_routes(page: str) -> Iterable[LocalRoute]:
    """The route of the address without a path, which leads to the path `page`; none where that is
    empty. The page itself decides whom it admits."""

    async def lead(_request: LocalRequest) -> LocalResponse:
        return LocalResponse(status=303, headers={"Location": page})

    if page:
        yield LocalRoute("GET", "/", lead, OPEN)
