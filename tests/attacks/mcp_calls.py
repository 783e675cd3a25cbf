"""Calls of an MCP client in an attack, as one writes them without an SDK."""

import json
from collections.abc import Mapping
from typing import Any, Final

from tests.attacks.scene import Scene

VERSION: Final = "2026-07-28"


async def asked(
    scene: Scene,
    method: str,
    params: Mapping[str, Any],
    *,
    by: str = "mallory",
    token: str = "",
    name: str = "",
    asks: bool = False,
    headers: Mapping[str, str] | None = None,
) -> tuple[int, Any]:
    """The status and the JSON-RPC message of a request to `/mcp`. `asks`: the client can show
    questions to its person."""
    scene.member(by)
    capabilities: dict[str, object] = {"elicitation": {}} if asks else {}
    meta = {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    }
    sent = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": VERSION,
        "Mcp-Method": method,
        **({"Mcp-Name": name} if name else {}),
        **(headers or {}),
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    status, text = await scene.http(
        "POST",
        "/mcp",
        by=by,
        token=token or scene.token(by),
        data=scene.filled(json.dumps(body)),
        headers=sent,
    )
    return status, message_of(text)


def message_of(text: str) -> Any:
    """The message of a response, one or a stream of events; None for another text."""
    lines = [line for line in text.splitlines() if line.startswith("data:")]
    try:
        return json.loads(lines[-1].removeprefix("data:") if lines else text)
    except ValueError:
        return None


async def tool(scene: Scene, name: str, by: str = "mallory", /, **arguments: Any) -> dict[str, Any]:
    """The result of a tool; empty where it was refused."""
    params = {"name": name, "arguments": arguments}
    _, message = await asked(scene, "tools/call", params, by=by, name=name)
    result = (message or {}).get("result") or {}
    if result.get("isError"):
        return {}
    match = result.get("structuredContent") or {}
    return match if match.get("success", True) else {}


async def agent_of(scene: Scene, name: str) -> str:
    """Register an agent of a person over MCP; its id, also as `$NAME_agent`."""
    made = await tool(scene, "register_agent", name, agent_type="claude_code")
    scene.words[f"{name}_agent"] = made["agent_id"]
    return str(made["agent_id"])


async def pool_of(scene: Scene, name: str, scope: str = "team") -> str:
    """Create a pool of a person with their agent, and share their planted memory in it; its id,
    also as `$NAME_pool`."""
    agent = scene.words[f"{name}_agent"]
    made = await tool(scene, "create_pool", name, name=f"pool {scene.tag}", scope=scope)
    pool = str(made["pool_id"])
    await tool(scene, "join_pool", name, pool_id=pool, agent_id=agent, permission="write")
    scene.words[f"{name}_pool"] = pool
    memory = scene.words.get(f"{name}_record", "")
    if memory:
        shared = {"pool_id": pool, "memory_id": memory, "agent_id": agent, "scope": "user"}
        await confirmed(scene, "share_memory_to_scope", name, **shared)
    return pool


async def confirmed(scene: Scene, name: str, by: str, /, **arguments: Any) -> dict[str, Any]:
    """The result of a tool that asks for a confirmation, which the person gives with its code."""
    params = {"name": name, "arguments": arguments}
    _, message = await asked(scene, "tools/call", params, by=by, name=name)
    first = ((message or {}).get("result") or {}).get("structuredContent") or {}
    if "confirm" not in first:
        return {}
    return await tool(scene, name, by, **arguments, confirm=first["confirm"])
