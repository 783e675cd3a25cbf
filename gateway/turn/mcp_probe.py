"""Contacts an MCP server once: whether it answers, with which tools, and how fast."""

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass

from gateway.turn.mcp_server import CONNECT_SECONDS, McpServer, cause_of, listed_tools, load_library
from gateway.turn.mcp_tools import MAX_TOOLS, kept_tools


@dataclass(frozen=True, slots=True)
class Probed:
    """The tools as the model would be offered them, how many could not be used, the seconds that it
    took to connect, initialise and list them; `problem` in their place where it failed."""

    tools: tuple[str, ...] = ()
    left_out: int = 0
    seconds: float = 0.0
    problem: str = ""


async def probe(server: McpServer) -> Probed:
    """Start or call the server, ask for its tools, and end it again. Never raises."""
    try:
        server.check()
        connect = await asyncio.to_thread(load_library)
        began = time.monotonic()
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(CONNECT_SECONDS):
                client = await connect(server, stack)
                tools = await listed_tools(client, MAX_TOOLS)
            took = time.monotonic() - began
    except Exception as error:  # noqa: BLE001 - whatever it is, the server cannot be used
        return Probed(problem=cause_of(error))
    kept = kept_tools(server.name, tools)
    return Probed(tuple(kept.names), len(tools) - len(kept.names), took)
