"""A server is built once, at its first request, and again after a failure."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from starlette.types import Receive, Scope, Send

from memory.mcp.names import SESSION, ServerName
from parley.http.mcp_endpoint import McpServers, RequestHandler


class Handler:
    """A handler that notes if it runs."""

    def __init__(self) -> None:
        self.running = False

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        self.running = True
        try:
            yield
        finally:
            self.running = False

    async def handle_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer nothing."""


async def test_requests_at_once_build_each_server_once() -> None:
    built: list[ServerName | None] = []

    def build(name: ServerName | None) -> RequestHandler:
        built.append(name)
        return Handler()

    servers = McpServers(build)
    async with servers.lifespan():
        names: list[ServerName | None] = [None, SESSION] * 5
        results = await asyncio.gather(*map(servers.named, names))
    assert sorted(map(str, built)) == ["None", SESSION]
    assert len(set(map(id, results))) == 2


async def test_servers_end_with_their_listener() -> None:
    handler = Handler()
    servers = McpServers(lambda _: handler)
    for _ in range(2):
        async with servers.lifespan():
            assert await servers.named(None) is handler
            assert handler.running
        assert not handler.running


async def test_a_server_that_could_not_be_built_is_tried_again() -> None:
    attempts: list[int] = []

    def build(_: ServerName | None) -> RequestHandler:
        attempts.append(1)
        if len(attempts) == 1:
            raise RuntimeError("a library is missing")
        return Handler()

    servers = McpServers(build)
    async with servers.lifespan():
        with pytest.raises(RuntimeError, match="a library is missing"):
            await servers.named(None)
        assert isinstance(await servers.named(None), Handler)
