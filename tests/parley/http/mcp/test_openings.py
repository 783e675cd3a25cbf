"""The first requests of Claude Code 2.1.317 and Codex 0.165.0, in their recorded order.

Claude Code opens with `server/discover` of 2026-07-28, and with a server that refuses it falls back
to `initialize` of 2025-11-25. Codex opens with `initialize` of 2025-06-18. Both are reported at
cljdoc.org (io.github.joshrotenberg/presa 0.1.1, recorded on 2026-11-03).
"""

from typing import Any

import httpx2
import pytest

from tests.parley.http.mcp.kit import Servers, message_of

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "claude-code", "version": "2.1.317"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "roots": {}},
}


def request(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


async def modern(servers: Servers, number: int, method: str, **params: Any) -> Any:
    headers = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": method}
    if "name" in params:
        headers["Mcp_Name"] = params["name"]
    response = await servers.post(request(number, method, _meta=META, **params), **headers)
    assert response.status_code == 200, response.text
    return message_of(response)["result"]


def result_of(told: httpx2.Response) -> Any:
    assert told.status_code == 200, told.text
    assert "mcp-session-id" not in told.headers
    return message_of(told)["result"]


async def test_claude_code_opens_with_discover(servers: Servers) -> None:
    known = await servers.remember("ada", "The staging cluster runs in Frankfurt.")
    result = await modern(servers, 0, "server/discover")
    assert result["supportedVersions"] == ["2026-07-28"]
    assert "tools" in result["capabilities"]
    assert "memory_brief" in result["instructions"]
    tools = await modern(servers, 1, "tools/list")
    assert "memory_search" in [tool["name"] for tool in tools["tools"]]
    called = await modern(
        servers, 2, "tools/call", name="memory_search", arguments={"query": "staging cluster"}
    )
    assert called["structuredContent"]["results"][0]["id"] == known


@pytest.mark.parametrize(
    ("version", "name"), [("2025-11-25", "claude-code"), ("2025-06-18", "codex-mcp-client")]
)
@pytest.mark.parametrize("session", ["", "of-a-server-before-its-restart"])
async def test_an_older_opening_needs_no_session(
    servers: Servers, version: str, name: str, session: str
) -> None:
    known = await servers.remember("ada", "The staging cluster runs in Frankfurt.")
    opening = request(
        0,
        "initialize",
        protocolVersion=version,
        capabilities={"elicitation": {}},
        clientInfo={"name": name, "version": "1"},
    )
    begun = result_of(await servers.post(opening))
    assert begun["protocolVersion"] == version
    headers = {"MCP_Protocol_Version": version}
    if session:
        headers["Mcp_Session_Id"] = session
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await servers.post(note, **headers)).status_code == 202
    tools = result_of(await servers.post(request(1, "tools/list"), **headers))
    assert "memory_search" in [tool["name"] for tool in tools["tools"]]
    call = request(2, "tools/call", name="memory_search", arguments={"query": "staging cluster"})
    called = result_of(await servers.post(call, **headers))
    assert called["structuredContent"]["results"][0]["id"] == known


async def test_an_unknown_tool_is_a_protocol_error(servers: Servers) -> None:
    for headers, meta in (
        ({"MCP_Protocol_Version": "2025-06-18"}, {}),
        (
            {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "tools/call", "Mcp_Name": "rm"},
            {"_meta": META},
        ),
    ):
        response = await servers.post(
            request(1, "tools/call", name="rm", arguments={}, **meta), **headers
        )
        assert message_of(response)["error"]["code"] == -32602
        assert "tools/list" in message_of(response)["error"]["message"]
