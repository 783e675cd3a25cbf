"""No arguments, of any shape, end a tool with an internal error or reach another person."""

import json
import random
from typing import Any

import pytest

from tests.parley.http.mcp.kit import Servers, message_of, text_of

SEED = 20_261_123
CALLS_PER_TOOL = 4
REFUSALS = (-32602, -32700)
"""Invalid parameters, and a text that is no JSON: one half of a character."""
STRANGE: list[Any] = [
    None,
    True,
    -1,
    2**70,
    1e308,
    "",
    " ",
    "\x00",
    "\ud800",
    "x" * 5_000,
    "'; DROP TABLE memories; --",
    "../../etc/passwd",
    "mem-00000000-0000-0000-0000-000000000000",
    "{}",
    "[1]",
    [],
    {},
    [[[[]]]],
    {"a": {"b": [None]}},
]


def strange_arguments(schema: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    """Some of a tool's arguments, mostly strange ones, sometimes one that it does not have."""
    given = {
        name: dice.choice(STRANGE) for name in schema.get("properties", {}) if dice.random() < 0.8
    }
    for name in schema.get("required", ()):
        if name not in given and dice.random() < 0.8:
            given[name] = dice.choice(STRANGE)
    if dice.random() < 0.1:
        given["owner"] = "web:main:eve"
    return given


def sent_call(era: str, name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, str]]:
    """The body and the headers of a call."""
    params: dict[str, Any] = {"name": name, "arguments": arguments}
    headers = {"MCP_Protocol_Version": "2025-06-18"}
    if era != "legacy":
        headers = {"MCP_Protocol_Version": era, "Mcp_Method": "tools/call", "Mcp_Name": name}
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": era,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return json.dumps(body, ensure_ascii=True), headers


async def test_strange_arguments_get_an_explanation(servers: Servers, era: str) -> None:
    await servers.remember("eve", "The secret place of Eve is behind the lighthouse.")
    dice = random.Random(SEED)
    async with servers.client() as client:
        tools = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
    for name, schema in tools.items():
        for _ in range(CALLS_PER_TOOL):
            given = strange_arguments(schema, dice)
            body, headers = sent_call(era, name, given)
            response = await servers.post(body, **headers)
            assert response.status_code in (200, 400), (name, given, response.status_code)
            message = message_of(response)
            assert "lighthouse" not in json.dumps(message), (name, given)
            if "error" in message:
                assert message["error"]["code"] in REFUSALS, (name, given, message)
                continue
            shown = "\n".join(part["text"] for part in message["result"]["content"])
            assert "internal error" not in shown, (name, given, shown)
            assert shown


@pytest.mark.parametrize("arguments", ["text", 7, [1], None])
async def test_arguments_that_are_no_object_are_refused(servers: Servers, arguments: Any) -> None:
    params = {"name": "memory_search", "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    response = await servers.post(body, MCP_Protocol_Version="2025-06-18")
    message = message_of(response)
    assert "error" in message or arguments is None


async def test_lists_given_as_text_are_read(servers: Servers) -> None:
    """Some clients send a list or an object as its JSON text."""
    async with servers.client() as client:
        result = await client.call_tool("memory_search", {"tags": '["work"]'})
        refused = await client.call_tool("memory_search", {"tags": '{"work": 1}'})
    assert result.structured_content == {"results": []}
    assert refused.is_error
    assert "tags" in text_of(refused)
