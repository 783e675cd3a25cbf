"""HTTP statuses and error codes of MCP servers: a session that has ended begins anew, and errors
say what happened."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.errors import ToolError
from gateway.turn.external_mcp_server import McpServer, probe
from gateway.turn.mcp_connection import McpTools
from tests.gateway.turn.hostile_mcp_server import USUAL, Answer, HostileServer, head, result_of
from tests.support.clock import HurriedClock
from tests.support.patience import LAUNCH
from tests.support.waiting import eventually


def status(code: int, error: dict[str, Any] | None = None) -> Answer:
    """An answer with this status, and an error of MCP if there is one."""

    async def answer(message: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        body = {"jsonrpc": "2.0", "id": message["id"], "error": error} if error else None
        writer.write(head(code) + (json.dumps(body).encode() if body else b""))

    return answer


async def opened(message: dict[str, Any], writer: asyncio.StreamWriter) -> None:
    """The answer to `initialize`, with a session."""
    writer.write(head(200, "Mcp-Session-Id: s1") + result_of(message, USUAL["initialize"]))


@pytest.fixture
async def web() -> AsyncIterator[tuple[HostileServer, McpTools]]:
    async with HostileServer.started() as server:
        server.answers["initialize"] = opened
        tools = McpTools(McpServer("far", url=server.url), HurriedClock())
        await tools.start()
        await eventually(lambda: tools.connected, LAUNCH)
        yield server, tools
        await tools.close()


@pytest.mark.parametrize("code", [404, 410])
@pytest.mark.parametrize("error", [None, {"code": -32600, "message": "Session not found"}])
async def test_a_session_that_the_server_forgot_begins_anew_at_once(
    web: tuple[HostileServer, McpTools], code: int, error: dict[str, Any] | None
) -> None:
    server, tools = web
    server.answers["tools/call"] = status(code, error)
    with pytest.raises(ToolError, match="the connection to the tool server far was lost"):
        await tools.call("far__page", {})
    del server.answers["tools/call"]
    await eventually(lambda: server.methods.count("initialize") == 2, LAUNCH)
    await eventually(lambda: tools.connected, LAUNCH)
    assert await tools.call("far__page", {}) == "fine"


@pytest.mark.parametrize("code", [401, 429, 500])
async def test_a_call_that_is_refused_over_http_names_the_status(
    web: tuple[HostileServer, McpTools], code: int
) -> None:
    server, tools = web
    server.answers["tools/call"] = status(code)
    with pytest.raises(ToolError, match=f"HTTP {code}"):
        await tools.call("far__page", {})
    assert tools.connected


async def test_a_servers_own_error_does_not_end_the_connection(
    web: tuple[HostileServer, McpTools],
) -> None:
    """Many servers use the code with which the library reports a lost connection."""
    server, tools = web
    server.answers["tools/call"] = status(200, {"code": -32000, "message": "the quota is used up"})
    with pytest.raises(ToolError, match="the tool server says: the quota is used up"):
        await tools.call("far__page", {})
    del server.answers["tools/call"]
    assert await tools.call("far__page", {}) == "fine"
    assert server.methods.count("initialize") == 1


async def test_an_error_while_connecting_is_named() -> None:
    async with HostileServer.started() as server:
        error = {"code": -32001, "message": "the licence has expired"}
        server.answers["tools/list"] = status(200, error)
        problem = (await probe(McpServer("far", url=server.url))).problem
    assert problem == "it reports: the licence has expired"
