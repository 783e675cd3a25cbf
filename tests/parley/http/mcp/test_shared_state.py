"""A question that one process asked is answered at another one, by the same person only."""

from typing import Any

from tests.parley.http.mcp.kit import Servers, message_of, served

VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
}
HEADERS = {
    "MCP_Protocol_Version": VERSION,
    "Mcp_Method": "tools/call",
    "Mcp_Name": "memory_delete",
}


async def call(servers: Servers, memory_id: str, token: str, **more: Any) -> Any:
    """The message that answers a deletion."""
    params = {"name": "memory_delete", "arguments": {"id": memory_id}, "_meta": META, **more}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return message_of(await servers.post(body, token=token, **HEADERS))


async def test_any_process_takes_the_answer_of_the_same_person(servers: Servers) -> None:
    token = servers.program.token("ada")
    known = await servers.remember("ada", "The staging cluster runs in Frankfurt.")
    other = await servers.remember("ada", "The production cluster runs in Dublin.")
    question = (await call(servers, known, token))["result"]
    assert question["resultType"] == "input_required"
    (name,) = question["inputRequests"]
    yes = {
        "inputResponses": {name: {"action": "accept", "content": {"confirm": True}}},
        "requestState": question["requestState"],
    }
    async with served(servers.program) as second:
        eve = await call(second, known, servers.program.token("eve"), **yes)
        assert "error" in eve
        elsewhere = await call(second, other, token, **yes)
        assert "error" in elsewhere or elsewhere["result"]["resultType"] == "input_required"
        changed = await call(
            second, known, token, **{**yes, "requestState": question["requestState"][:-2] + "xx"}
        )
        assert "error" in changed
        done = await call(second, known, token, **yes)
    assert done["result"]["structuredContent"] == {"success": True, "id": known}
    handle = await servers.memory_of("ada")
    assert await handle.read.get(known) is None
    assert await handle.read.get(other) is not None
