"""MCP over PostgreSQL: memory, agents, handoffs, events and tasks, once each."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.parley.http.api.kit import Program, postgres_settings_in, running
from tests.parley.http.mcp.kit import Servers, served
from tests.support.servers import PostgresServer

pytestmark = pytest.mark.xdist_group("postgres")


@pytest.fixture
async def program(tmp_path: Path, postgres: PostgresServer) -> AsyncIterator[Program]:
    async with running(postgres_settings_in(tmp_path, postgres)) as started:
        yield started


@pytest.fixture
async def servers(program: Program) -> AsyncIterator[Servers]:
    async with served(program) as started:
        yield started


async def test_a_memory_is_found_and_deleted(servers: Servers, era: str) -> None:
    known = await servers.remember("ada", "The staging cluster runs in Frankfurt.")
    async with servers.client(mode=era) as client, servers.client("eve") as eve:
        result = await client.call_tool("memory_search", {"query": "staging cluster"})
        assert (result.structured_content or {})["results"][0]["id"] == known
        assert (await eve.call_tool("memory_search", {"query": "staging"})).structured_content == {
            "results": []
        }
        first = (await client.call_tool("memory_delete", {"id": known})).structured_content
        assert first is not None
        given = {"id": known, "confirm": first["confirm"]}
        done = await client.call_tool("memory_delete", given)
    assert done.structured_content == {"success": True, "id": known}


async def test_a_task_is_kept_and_handed_over(servers: Servers) -> None:
    async with servers.client() as client:
        agents = []
        for _ in range(2):
            result = await client.call_tool("register_agent", {"agent_type": "claude_code"})
            agents.append((result.structured_content or {})["agent_id"])
        await client.call_tool("set_task_context", {"task": "Plan", "agent_id": agents[0]})
        task = await client.call_tool("get_task_context", {"agent_id": agents[0]})
        assert (task.structured_content or {})["task"] == "Plan"
        handed = await client.call_tool(
            "initiate_handoff",
            {
                "source_id": agents[0],
                "target_id": agents[1],
                "context": {"task_description": "Finish the plan"},
            },
        )
        waiting = await client.call_tool("get_pending_handoffs", {"agent_id": agents[1]})
        events = (await client.read_resource("memory://events")).contents[0]
    number = (handed.structured_content or {})["handoff"]["handoff_id"]
    assert (waiting.structured_content or {})["handoffs"][0]["handoff_id"] == number
    assert number in str(events)
