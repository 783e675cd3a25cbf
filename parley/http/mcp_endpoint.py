"""The MCP servers over HTTP: authenticates every request, then hands it to the SDK's server.

The SDK is imported and a server built by its first authenticated request, so that a program without
MCP clients has neither the time nor the memory of it. Requests are stateless for clients of every
revision: no session is lost by a restart, and a revoked token is refused at the next request.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, MutableMapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Final, Protocol

import structlog
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from db.errors import StoreUnavailable
from gateway.people import Principal
from gateway.ports.memory import Caller
from memory.mcp.definitions import CALLER_KEY, RECHECK_KEY
from memory.mcp.names import KNOWLEDGE, PREFIX, SESSION, ServerName
from parley.http.access import RequestFacts, is_same_origin
from parley.http.api.operations import RETRY_SECONDS, Refused
from parley.http.host_header import read_host
from parley.security.tokens import TokenClaims
from safety.http.addresses import is_loopback_name

CONVERSATION: Final = "mcp"
NAMES: Final[Mapping[str, ServerName | None]] = {"": None, SESSION: SESSION, KNOWLEDGE: KNOWLEDGE}
"""The paths below the prefix: all tools, or those of one of the two servers."""
MAX_BODY: Final = 256 * 1024
START_SECONDS: Final = 30.0
UNAVAILABLE: Final = Refused(
    *(503, "unavailable", "The database does not answer. Try again in a minute.", ""),
    {"Retry-After": str(RETRY_SECONDS)},
)

log = structlog.get_logger(__name__)


class RequestHandler(Protocol):
    """The SDK's manager of requests to one server."""

    def run(self) -> AbstractAsyncContextManager[None]: ...

    async def handle_request(self, scope: Scope, receive: Receive, send: Send) -> None: ...


class Entrance(Protocol):
    """Authenticates people, as `parley.http.api.authentication.Authenticator` does."""

    def holder(self, authorization: str) -> TokenClaims: ...

    async def caller_of(self, holder: TokenClaims) -> Caller: ...

    async def admitted(self, holder: TokenClaims) -> Principal: ...


Denied = Callable[[Scope, Refused, TokenClaims | None], None]
"""Records a refused request."""


class McpServers:
    """The running servers by name. Each is built at its first use, in a thread: the import of the
    SDK takes a second."""

    def __init__(self, build: Callable[[ServerName | None], RequestHandler]) -> None:
        self._build = build
        self._running: dict[ServerName | None, asyncio.Task[None]] = {}
        self._ready: dict[ServerName | None, asyncio.Future[RequestHandler]] = {}
        self._stopped = asyncio.Event()

    async def named(self, name: ServerName | None) -> RequestHandler:
        """Return a running server. Raises what its start raised."""
        if name not in self._ready or (self._ready[name].done() and self._failed(name)):
            ready: asyncio.Future[RequestHandler] = asyncio.get_running_loop().create_future()
            self._ready[name] = ready
            self._running[name] = asyncio.create_task(self._run(name, ready), name=f"mcp {name}")
        async with asyncio.timeout(START_SECONDS):
            return await asyncio.shield(self._ready[name])

    @asynccontextmanager
    async def life(self) -> AsyncIterator[None]:
        """Stop every server at the end."""
        try:
            yield
        finally:
            self._stopped.set()
            await asyncio.gather(*self._running.values(), return_exceptions=True)

    def _failed(self, name: ServerName | None) -> bool:
        ready = self._ready[name]
        return ready.cancelled() or ready.exception() is not None

    async def _run(self, name: ServerName | None, ready: asyncio.Future[RequestHandler]) -> None:
        try:
            server = await asyncio.to_thread(self._build, name)
            async with server.run():
                ready.set_result(server)
                await self._stopped.wait()
        except Exception as error:
            log.exception("mcp_server_failed", server=name)
            if not ready.done():
                ready.set_exception(error)


class McpEndpoint:
    """The ASGI application for the prefix."""

    def __init__(self, servers: McpServers, entrance: Entrance, denied: Denied | None = None):
        self._servers = servers
        self.entrance = entrance
        self._denied = denied

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        holder: TokenClaims | None = None
        try:
            headers = Headers(scope=scope)
            check_origin(scope["method"], headers)
            holder = self.entrance.holder(headers.get("authorization", ""))
            name = _named(scope)
            if scope["method"] != "POST":
                raise Refused(405, "method_not_allowed", "Send POST.", "", {"Allow": "POST"})
            caller = await self.entrance.caller_of(holder)
            server = await self._servers.named(name)
        except Refused as refused:
            if self._denied is not None:
                self._denied(scope, refused, holder)
            await _refuse(refused, send)
        except StoreUnavailable as error:
            log.warning("mcp_without_store", error=str(error))
            await _refuse(UNAVAILABLE, send)
        else:
            scope[CALLER_KEY] = _in_own_conversation(caller)
            scope[RECHECK_KEY] = partial(self._recheck, headers.get("authorization", ""))
            await server.handle_request(scope, receive, send)

    async def _recheck(self, authorization: str) -> bool:
        """True while the token of an open stream is valid."""
        try:
            await self.entrance.admitted(self.entrance.holder(authorization))
        except Refused:
            return False
        return True


def check_origin(method: str, headers: Mapping[str, str]) -> None:
    """Raise `Refused` (403) for a request of a web page, unless the page is of this machine and
    this port: MCP clients are programs, and a page anywhere can call this machine."""
    origin = headers.get("origin")
    if origin is None and headers.get("sec-fetch-site", "none") == "none":
        return
    host = read_host(headers.get("host", ""))
    local = host is not None and is_loopback_name(host.name)
    if not (local and is_same_origin(RequestFacts(method, headers))):
        raise Refused(
            *(403, "strange_origin", "Requests of web pages of other hosts are refused."),
            "header.Origin",
        )


def _named(scope: Scope) -> ServerName | None:
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    rest = path.removeprefix(root if root and path.startswith(root) else PREFIX).strip("/")
    if rest not in NAMES:
        paths = ", ".join(f"{PREFIX}/{name}".rstrip("/") for name in NAMES)
        raise Refused(404, "not_found", f"The paths of the MCP servers are {paths}.", "path")
    return NAMES[rest]


def _in_own_conversation(caller: Caller) -> Caller:
    """Return the caller with the session limits of the agents, which are not those of the API."""
    return replace(caller, conversation=f"{CONVERSATION}/{caller.principal.person}")


async def _refuse(refused: Refused, send: Send) -> None:
    error = {"code": refused.code, "message": refused.message, "where": refused.where}
    body = json.dumps({"error": error}).encode()
    headers: MutableMapping[str, Any] = {
        "content-type": "application/json",
        "content-length": str(len(body)),
        **{name.lower(): value for name, value in refused.headers.items()},
    }
    raw = [(name.encode(), str(value).encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refused.status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
