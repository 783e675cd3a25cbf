"""The program serves MCP on its local listener, and loads the library at the first request."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from parley.http.local_listener import LocalListener
from parley.wiring.mcp import add_mcp_servers
from tests.parley.http.api.kit import Program, running, settings_in
from tests.parley.http.mcp.kit import Servers


def servers_of(program: Program) -> Servers:
    """The servers on the program's own port."""
    local = program.app.local
    return Servers(program, f"{local.base_url}/mcp", local.stop)


async def test_the_program_serves_mcp_on_its_local_port(program: Program) -> None:
    servers = servers_of(program)
    known = await servers.remember("ada", "The staging cluster runs in Frankfurt.")
    async with servers.client() as client:
        result = await client.call_tool("memory_search", {"query": "staging cluster"})
    assert (result.structured_content or {})["results"][0]["id"] == known


@pytest.mark.parametrize(
    "sections", [{"mcp_server": {"enabled": False}}, {"memory": {"enabled": False}}]
)
async def test_nothing_is_served_when_it_or_memory_is_off(
    tmp_path: Path, sections: dict[str, dict[str, object]]
) -> None:
    async with running(settings_in(tmp_path, **sections)) as program:
        answer = await servers_of(program).post({})
    assert answer.status_code in (401, 404)
    assert "jsonrpc" not in answer.text


async def test_a_stopped_listener_serves_again_after_a_start(program: Program) -> None:
    app, listener = program.app, LocalListener()
    add_mcp_servers(listener, app.memory, app.storage.memory.tokens, program.settings, app.services)
    for _ in range(2):
        await listener.start()
        async with Servers(program, f"{listener.base_url}/mcp", listener.stop).client() as client:
            assert (await client.list_tools()).tools
        await listener.stop()


async def test_an_open_stream_does_not_hold_up_the_end_of_the_program(tmp_path: Path) -> None:
    async with running(settings_in(tmp_path)) as program:
        servers = servers_of(program)
        async with servers.client() as client:
            stream = client.listen(resource_subscriptions=["memory://events"])
            await stream.__aenter__()
            async with asyncio.timeout(10):
                await program.app.local.stop()


def test_the_start_of_the_program_does_not_load_the_library() -> None:
    check = (
        "import sys, parley.app\n"
        "sys.exit(any(name == 'mcp' or name.startswith('mcp.') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


async def test_requests_of_many_clients_start_one_server(program: Program) -> None:
    servers = servers_of(program)

    async def ask() -> int:
        async with servers.client() as client:
            return len((await client.list_tools()).tools)

    assert len(set(await asyncio.gather(*(ask() for _ in range(8))))) == 1
