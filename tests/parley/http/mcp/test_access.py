"""Every request of an MCP client needs the token of a person, and no web page may send one."""

import asyncio
from datetime import timedelta

import httpx2
import pytest
from mcp.shared.exceptions import MCPError

from gateway.ports.clock import SystemClock
from memory.stores.api_tokens import ApiToken
from parley.security.keys import token_key
from tests.parley.http.mcp.kit import Servers

DISCOVER = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "server/discover",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
}
MODERN = {"MCP_Protocol_Version": "2026-07-28", "Mcp_Method": "server/discover"}


async def test_a_request_without_a_token_learns_what_is_needed(servers: Servers) -> None:
    response = await servers.post(DISCOVER, token="", **MODERN)
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"].startswith("Bearer")
    assert "resource_metadata" not in response.headers["WWW-Authenticate"]
    assert response.json()["error"]["code"] == "token_missing"
    assert "parley token" in response.json()["error"]["message"]


@pytest.mark.parametrize("token", ["x", "parley_x.y", "parley_.", "x" * 7_000])
async def test_a_wrong_token_is_refused(servers: Servers, token: str) -> None:
    response = await servers.post(DISCOVER, token=token, **MODERN)
    assert (response.status_code, response.json()["error"]["code"]) == (401, "token_wrong")


async def test_a_token_answers_in_the_present_revision(servers: Servers) -> None:
    response = await servers.post(DISCOVER, **MODERN)
    assert response.status_code == 200
    result = response.json()["result"]
    assert result["supportedVersions"] == ["2026-07-28"]
    assert result["resultType"] == "complete"
    assert (result["ttlMs"], result["cacheScope"]) == (300_000, "public")


async def test_a_token_that_is_revoked_during_a_session_is_refused_at_once(
    servers: Servers, era: str
) -> None:
    tokens = servers.program.app.storage.memory.tokens
    now = SystemClock().now()
    kept = ApiToken("i", "laptop", "default", "web:main:ada", now, now + timedelta(days=1))
    assert await tokens.add(kept)
    token = servers.program.token("ada", known="i")
    async with servers.client(token=token, mode=era) as client:
        assert not (await client.call_tool("get_task_context", {})).is_error
        assert await tokens.revoke("laptop") is not None
        with pytest.raises(MCPError, match="error response"):
            await client.call_tool("get_task_context", {})


async def test_a_new_key_revokes_every_token_during_a_session(servers: Servers) -> None:
    async with servers.client() as client:
        assert not (await client.call_tool("get_task_context", {})).is_error
        token_key(servers.program.settings).revoke_all()
        with pytest.raises(MCPError, match="error response"):
            await client.call_tool("get_task_context", {})


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "http://localhost:1"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
    ],
)
async def test_a_web_page_is_refused(servers: Servers, headers: dict[str, str]) -> None:
    response = await servers.post(DISCOVER, **MODERN, **headers)
    assert response.status_code == 403
    assert "strange_origin" in response.text


async def test_a_page_whose_name_leads_here_is_refused(servers: Servers) -> None:
    for origin in ({}, {"Origin": "http://evil.example"}):
        response = await servers.post(DISCOVER, **MODERN, Host="evil.example", **origin)
        assert (response.status_code, "unknown_host" in response.text) == (403, True)


async def test_only_post_is_served_and_only_to_people(servers: Servers) -> None:
    token = {"Authorization": f"Bearer {servers.program.token('ada')}"}
    async with httpx2.AsyncClient(trust_env=False) as http:
        for method in ("GET", "DELETE", "PUT"):
            response = await http.request(method, servers.url, headers=token)
            assert (response.status_code, response.headers["Allow"]) == (405, "POST")
            assert (await http.request(method, servers.url)).status_code == 401
        response = await http.post(servers.url + "/nothing", headers=token, json={})
        assert response.status_code == 404
        assert "/mcp/session-memory" in response.json()["error"]["message"]


async def test_a_large_body_is_refused(servers: Servers) -> None:
    response = await servers.post({**DISCOVER, "more": "x" * 300_000}, **MODERN)
    assert response.status_code == 413


@pytest.mark.parametrize(
    ("path", "has", "lacks"),
    [
        ("/session-memory", "get_task_context", "memory_store"),
        ("/pixeltable-memory", "memory_store", "get_task_context"),
    ],
)
async def test_each_server_has_its_own_tools(
    servers: Servers, path: str, has: str, lacks: str
) -> None:
    async with servers.client(path=path) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert client.server_info is not None
        assert client.server_info.name == path.strip("/")
    assert has in names
    assert lacks not in names


async def test_many_clients_at_once_reach_their_own_memory(servers: Servers) -> None:
    people = ["ada", "eve", "olga"] * 5
    for name in set(people):
        await servers.remember(name, f"The favourite city of {name} is city-{name}.")

    async def ask(name: str) -> str:
        async with servers.client(name) as client:
            result = await client.call_tool("memory_search", {"query": "favourite city"})
            return str(result.structured_content)

    answers = await asyncio.gather(*map(ask, people))
    for name, answer in zip(people, answers, strict=True):
        assert f"city-{name}" in answer
        assert all(f"city-{other}" not in answer for other in set(people) - {name})
