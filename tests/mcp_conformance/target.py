"""The target of the suite: a running program, with its own servers or with the fixtures."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.immutable import replace
from gateway.policy.rate_limits import RateLimits
from parley.http.api.authentication import Authenticator
from parley.http.local_listener import LocalListener, MakeLifespan
from parley.http.mcp_endpoint import McpServers, RequestHandler
from parley.security.keys import token_key
from parley.wiring.mcp import add_endpoint, add_mcp_servers
from tests.mcp_conformance.fixtures import fixture_server
from tests.parley.http.api.kit import Program


class ListenerWithToken(LocalListener):
    """A local listener that adds a person's token to every request: the suite sends none."""

    def __init__(self, token: str) -> None:
        super().__init__()
        self._added = (b"authorization", f"Bearer {token}".encode())

    def mount_app(
        self, prefix: str, make: Callable[[], ASGIApp], lifespan: MakeLifespan | None = None
    ) -> None:
        super().mount_app(prefix, lambda: self._with_token(make()), lifespan)

    def _with_token(self, app: ASGIApp) -> ASGIApp:
        async def serve(scope: Scope, receive: Receive, send: Send) -> None:
            scope["headers"] = [*scope["headers"], self._added]
            await app(scope, receive, send)

        return serve


@asynccontextmanager
async def target(program: Program, *, fixtures: bool, sessions: bool) -> AsyncIterator[str]:
    """The address of the program's own servers, or of the fixtures behind the same authentication
    and the same checks. `sessions`: the fixtures keep sessions."""
    app, settings = program.app, program.settings
    listener = ListenerWithToken(program.token("ada"))
    tokens = app.storage.memory.tokens
    if fixtures:
        servers = McpServers(lambda _: _fixture_handler(sessions=sessions))
        unlimited = replace(app.services.policies, limits=RateLimits(api_per_minute=0))
        services = app.services.under(unlimited)
        agents = app.storage.memory.agents
        authenticator = Authenticator(token_key(settings), tokens, agents, services)
        add_endpoint(listener, servers, authenticator)
    else:
        add_mcp_servers(listener, app.memory, tokens, settings, app.services)
    await listener.start()
    try:
        yield f"{listener.base_url}/mcp"
    finally:
        await listener.stop()


def _fixture_handler(*, sessions: bool) -> RequestHandler:
    server = fixture_server()
    server.streamable_http_app(
        stateless_http=not sessions,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return server.session_manager
