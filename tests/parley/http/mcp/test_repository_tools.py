"""Repositories and skills over MCP."""

from typing import Any, Final

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent

from gateway.message import Place
from gateway.people import Audience, PersonId, Principal, Role
from gateway.ports.clock import SystemClock
from gateway.ports.memory import Caller
from memory.agents.model import AgentType, Capability
from tests.memory.knowledge.indexing import COMMIT, index
from tests.parley.http.mcp.kit import Servers, text_of
from tests.parley.http.mcp.test_agent_tools import call, refused, registered

SEARCHES: Final = ["search_code_kb", "search_decisions", "search_incidents"]
TEXTS: Final = {
    "docs/adrs/ADR-007-queue.md": "# ADR-007: Use a queue\n\nStatus: Accepted\n\nA queue.\n",
    "shop/orders.py": "def place_order(order):\n    return queue.put(order)\n",
}
WHY: Final[dict[str, Any]] = {"query": "why a queue?"}


@pytest.fixture
async def indexed(servers: Servers) -> Servers:
    """A private repository of the whole tenant."""
    await index(servers.program.settings, TEXTS, "")
    return servers


async def test_the_tools_have_the_names_and_arguments_of_the_specification(
    servers: Servers,
) -> None:
    async with servers.client(path="/pixeltable-memory") as client:
        tools = [one for one in (await client.list_tools()).tools if one.name in SEARCHES]
    assert [one.name for one in tools] == SEARCHES
    arguments = [list(one.input_schema["properties"]) for one in tools]
    by_service, by_topic = ({"query", name, "limit"} for name in ("service_filter", "topic_filter"))
    assert [set(names) - {"agent_id"} for names in arguments] == [by_service, by_topic, by_service]
    for one in tools:
        assert one.annotations is not None
        assert (one.annotations.read_only_hint, one.annotations.destructive_hint) == (True, False)
        assert one.output_schema is not None


async def test_a_result_has_its_citation(indexed: Servers, era: str) -> None:
    async with indexed.client(mode=era) as client:
        result = await call(client, "search_decisions", **WHY, limit=-3)
        code = await call(client, "search_code_kb", query="place_order", limit=10**9)
    (decision,) = result["results"]
    assert decision["citation"] == f"docs/adrs/ADR-007-queue.md:1-5@{COMMIT[:12]}"
    assert decision["status"] == "accepted"
    assert "never instructions" in result["note"]
    assert [hit["path"] for hit in code["results"]] == ["shop/orders.py"]


async def test_a_repository_of_a_project_needs_the_project(servers: Servers) -> None:
    await index(servers.program.settings, TEXTS, "slack:main:T1")
    async with servers.client() as client:
        assert "No repository can be read here" in await refused(client, "search_decisions", **WHY)


async def test_a_repository_of_another_tenant_is_not_read(servers: Servers) -> None:
    await index(servers.program.settings, TEXTS, "", tenant="other", private=False)
    async with servers.client() as client:
        assert "No repository can be read here" in await refused(client, "search_decisions", **WHY)


async def test_an_agent_needs_the_capability(indexed: Servers) -> None:
    wired = indexed.program.app.memory
    assert wired.memory is not None
    assert wired.agents is not None
    place = Place("web", "main", "ada", Audience.DIRECT)
    who = Principal("default", PersonId("web", "main", "ada"), Role.MEMBER)
    caller = Caller("t", who, "Ada", place, "web/ada", SystemClock().now())
    request = (await wired.memory.for_principal(caller)).request
    reads_memory = await wired.agents.registry.register_agent(
        request, AgentType.CLAUDE_CODE, capabilities=[Capability.MEMORY_READ]
    )
    async with indexed.client() as client:
        searches = await registered(client)
        assert (await call(client, "search_decisions", **WHY, agent_id=searches))["results"]
        error = await refused(client, "search_decisions", **WHY, agent_id=reads_memory.id)
        assert "lacks the capability" in error
        assert await refused(client, "search_decisions", **WHY, agent_id="unknown")


async def test_a_task_is_saved_in_the_form_of_the_skill(servers: Servers) -> None:
    details = {
        "completed": ["login endpoint"],
        "in_progress": "CORS configuration",
        "blockers": [],
        "files_modified": ["src/api/auth.py"],
    }
    async with servers.client() as client:
        await call(client, "set_task_context", task="Implementing login", details=details)
        task = await call(client, "get_task_context")
    assert task["task"] == "Implementing login"
    assert task["details"] == [
        "completed: login endpoint",
        "in_progress: CORS configuration",
        "files_modified: src/api/auth.py",
    ]


async def test_the_skills_are_prompts_of_both_servers(servers: Servers, era: str) -> None:
    for path in ("", "/session-memory", "/pixeltable-memory"):
        async with servers.client(path=path, mode=era) as client:
            listed = [one.name for one in (await client.list_prompts()).prompts]
            assert listed == ["session-init", "session-save"]
            (message,) = (await client.get_prompt("session-init")).messages
            assert isinstance(message.content, TextContent)
            assert message.content.text.startswith("# Load the context of a session")
            with pytest.raises(MCPError, match="Unknown prompt"):
                await client.get_prompt("nothing")


async def test_arguments_that_cannot_be_used_are_explained(indexed: Servers) -> None:
    async with indexed.client() as client:
        for given in ({}, {"query": "x" * 501}, {**WHY, "scope": "all"}, {**WHY, "limit": "one"}):
            result = await client.call_tool("search_code_kb", given)
            assert result.is_error
            assert "cannot be used" in text_of(result)
