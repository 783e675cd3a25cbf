"""The MCP servers over HTTP: authenticates every request, then hands it to the SDK's server.

The SDK is imported and a server built by its first authenticated request, so that a program without
MCP clients has neither the time nor the memory of it. Requests are stateless for clients of every
revision: no session is lost by a restart, and a revoked token is refused at the next request.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Final, Protocol

import structlog
from msgspec import Struct
from starlette.types import Receive, Scope, Send

from gateway.immutable import replace
from gateway.ports.memory import Caller
from memory.mcp.names import KNOWLEDGE, PREFIX, SESSION, ServerName
from memory.mcp.tool_definition import CALLER_KEY, PROOF_KEY, RECHECK_KEY
from parley.http.access import RequestFacts, is_same_origin
from parley.http.api.authentication import Authenticator
from parley.http.api.errors import CallRefused
from parley.http.asgi import exchange_of, headers_of
from parley.http.host_header import read_host
from safety.http.addresses import is_loopback_name

CONVERSATION: Final = "mcp"
NAMES: Final[Mapping[str, ServerName | None]] = {"": None, SESSION: SESSION, KNOWLEDGE: KNOWLEDGE}
"""The paths below the prefix: all tools, or those of one of the two servers."""
MAX_BODY: Final = 256 * 1024
START_SECONDS: Final = 30.0

log = structlog.get_logger(__name__)


class RequestHandler(Protocol):
    """The SDK's manager of requests to one server."""

    def run(self) -> AbstractAsyncContextManager[None]: ...

    async def handle_request(self, scope: Scope, receive: Receive, send: Send) -> None: ...


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
    async def lifespan(self) -> AsyncIterator[None]:
        """Build servers from here on, and stop them at the end."""
        self._stopped = asyncio.Event()
        self._running, self._ready = {}, {}
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


class McpEndpoint(Struct, frozen=True):
    """The ASGI application for the prefix, which the local listener mounts."""

    servers: McpServers
    authenticator: Authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Raises `CallRefused` and `StoreUnavailable`."""
        exchange, headers = exchange_of(scope), headers_of(scope)
        check_origin(scope["method"], headers)
        authorization = headers.get("authorization", "")
        exchange.holder = self.authenticator.holder(authorization)
        name = _named(scope)
        if scope["method"] != "POST":
            raise CallRefused("method_not_allowed", "Send POST.", "method", {"Allow": "POST"})
        caller, exchange.proof = await self.authenticator.caller_of(exchange.holder)
        server = await self.servers.named(name)
        scope[CALLER_KEY] = _in_own_conversation(caller)
        scope[PROOF_KEY] = exchange.proof
        scope[RECHECK_KEY] = partial(self._recheck, authorization)
        await server.handle_request(scope, receive, send)

    async def _recheck(self, authorization: str) -> bool:
        """True while the token of an open stream is valid."""
        try:
            await self.authenticator.admitted(self.authenticator.holder(authorization))
        except CallRefused:
            return False
        return True


def check_origin(method: str, headers: Mapping[str, str]) -> None:
    """Raise `CallRefused` (403) for a request of a web page, unless the page is of this machine and
    this port: MCP clients are programs, and a page anywhere can call this machine."""
    origin = headers.get("origin")
    if origin is None and headers.get("sec-fetch-site", "none") == "none":
        return
    host = read_host(headers.get("host", ""))
    local = host is not None and is_loopback_name(host.name)
    if not (local and is_same_origin(RequestFacts(method, headers))):
        raise CallRefused(
            *("strange_origin", "Requests of web pages of other hosts are refused."),
            "header.Origin",
        )


def _named(scope: Scope) -> ServerName | None:
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    rest = path.removeprefix(root if root and path.startswith(root) else PREFIX).strip("/")
    if rest not in NAMES:
        paths = ", ".join(f"{PREFIX}/{name}".rstrip("/") for name in NAMES)
        raise CallRefused("not_found", f"The paths of the MCP servers are {paths}.", "path")
    return NAMES[rest]


def _in_own_conversation(caller: Caller) -> Caller:
    """Return the caller with the session limits of the agents, which are not those of the API."""
    return replace(caller, conversation=f"{CONVERSATION}/{caller.principal.person}")
