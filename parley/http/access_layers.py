"""The access rule of the local listener as ASGI layers: one around the pages, with their login
links, one around the mounted applications, which check tokens of their own."""

import json
import re
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import compile_path
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.people import Role
from gateway.ports.http_routes import LocalRequest, LocalResponse, LocalRoute
from gateway.ports.rights import LOCAL_PAGES, OPEN, Allowed, Credential, Proof, missing
from parley.http.access import authorize, is_same_origin, same_secret, session_value
from parley.http.asgi import exchange_of, facts_of, is_encrypted
from parley.http.host_header import is_known_host
from parley.http.refusal import refusal

COOKIE: Final = "parley_session"
COOKIE_DAYS: Final = 30
LINK_SECONDS: Final = 600.0
"""Seconds for which a login link works, once."""
MAX_LINKS: Final = 16
"""Maximum unused login links; the oldest is dropped first."""
PATH: Final = "/page-links"


class LoginLinks:
    """The codes of login links that are not used yet."""

    def __init__(self) -> None:
        self._until: OrderedDict[str, float] = OrderedDict()

    def new(self) -> str:
        """Return a code that works once."""
        code = secrets.token_urlsafe(24)
        self._until[code] = time.monotonic() + LINK_SECONDS
        while len(self._until) > MAX_LINKS:
            self._until.popitem(last=False)
        return code

    def use(self, given: str) -> bool:
        """Return True for a code that works; it does not work again."""
        now = time.monotonic()
        used = ""
        for code, until in list(self._until.items()):
            if until < now:
                del self._until[code]
            elif same_secret(given, code):
                used = code
        self._until.pop(used, None)
        return bool(used)


class PageAccess(Struct, frozen=True):
    """Applies the access rule to the local pages, and takes login links. `open_paths` match the
    paths that are served to everybody who reaches the port."""

    app: ASGIApp
    token: str
    links: LoginLinks
    open_paths: tuple[re.Pattern[str], ...]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        decision = authorize(facts_of(scope, COOKIE), self.token)
        exchange = exchange_of(scope)
        exchange.page_access = decision
        if decision.allowed:
            exchange.proof = Proof(Credential.LOCAL, Role.GUEST)
        code = _link_code(scope) if self.token else None
        if code is not None:
            await self._log_in(scope, code)(scope, receive, send)
        elif not decision.allowed and not self._is_open(scope):
            await refusal(scope, decision.status, decision.reason)(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _is_open(self, scope: Scope) -> bool:
        return any(one.match(scope["path"]) for one in self.open_paths)

    def _log_in(self, scope: Scope, code: str) -> Response:
        if not self.links.use(code):
            return refusal(scope, 401, "token_wrong")
        # Only the path: where to go next is never taken from the link itself.
        # Browsers read a backslash as a slash: two of them at the start would name a host.
        where = "/" + scope["path"].lstrip("/\\")
        cookie = f"{COOKIE}={session_value(self.token)}; Max-Age={COOKIE_DAYS * 86_400}; Path=/"
        secure = "; Secure" * is_encrypted(scope)
        headers = {"Location": where, "Set-Cookie": f"{cookie}; HttpOnly; SameSite=Strict{secure}"}
        return Response(status_code=303, headers=headers)


def open_paths(routes: Iterable[LocalRoute]) -> tuple[re.Pattern[str], ...]:
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


def _link_code(scope: Scope) -> str | None:
    """Return the code of a login link, None for any other request."""
    codes = QueryParams(scope["query_string"]).getlist("token")
    return codes[0] if scope["method"] == "GET" and codes else None


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
