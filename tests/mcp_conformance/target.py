"""What the suite runs against: a running program, with its own servers or with the fixtures."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

from parley.http.mcp_endpoint import McpEndpoint, McpServers, RequestHandler
from parley.wiring.mcp import mcp_endpoint
from tests.mcp_conformance.fixtures import fixture_server
from tests.parley.http.api.kit import Program


class WithToken:
    """Adds a person's token to every request: the suite sends none."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._header = (b"authorization", f"Bearer {token}".encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [*scope.get("headers", ()), self._header]
        await self._app({**scope, "headers": headers}, receive, send)


@asynccontextmanager
async def listening(app: ASGIApp) -> AsyncIterator[str]:
    """The address of an application on a free port of this machine."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        config = uvicorn.Config(app, lifespan="off", log_config=None, access_log=False, ws="none")
        server = uvicorn.Server(config)
        server.install_signal_handlers = lambda: None  # type: ignore[attr-defined] # not in a test
        task = asyncio.create_task(server.serve(sockets=[bound]))
        while not server.started:
            await asyncio.sleep(0.01)
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        server.should_exit = True
        await task


@asynccontextmanager
async def target(program: Program, *, fixtures: bool, sessions: bool) -> AsyncIterator[str]:
    """The address of the program's own servers, or of the fixtures behind the same authentication
    and the same checks. `sessions`: the fixtures keep sessions and stream."""
    app = program.app
    endpoint, servers = mcp_endpoint(
        program.settings, app.memory, app.storage.memory.tokens, app.services
    )
    if fixtures:
        servers = McpServers(lambda _: _fixture_handler(sessions=sessions))
        endpoint = McpEndpoint(servers, endpoint.entrance)
    with_token = WithToken(endpoint, program.token("ada"))
    async with servers.life(), listening(with_token) as address:
        yield f"{address}/mcp"


def _fixture_handler(*, sessions: bool) -> RequestHandler:
    server = fixture_server()
    server.streamable_http_app(
        stateless_http=not sessions,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return server.session_manager
