"""Null for an optional argument counts as left out, in every tool and in nested objects."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from tests.parley.http.mcp.kit import Servers, text_of

UNKNOWN = "0123456789abcdef0123456789abcdef"
NEEDED: Mapping[str, Any] = {
    "agent_id": UNKNOWN,
    "agent_type": "claude_code",
    "content": "The tests run on Mondays",
    "context": {"task_description": "Write the tests"},
    "handoff_id": UNKNOWN,
    "id": f"mem-{UNKNOWN}",
    "invitation_id": UNKNOWN,
    "max_scope": "project",
    "memory_id": f"mem-{UNKNOWN}",
    "name": "A pool",
    "pool_id": UNKNOWN,
    "query": "tests",
    "result": {"done": True},
    "scope": "user",
    "source_id": UNKNOWN,
    "target": "memory",
    "target_id": UNKNOWN,
    "task": "Write the tests",
    "type": "fact",
}
"""A value for each name that a tool needs; none of them exists."""


def objects_in(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schema of the arguments and those of nested objects."""
    yield schema
    yield from schema.get("$defs", {}).values()


OTHER = "Deliveries go to the back door."


async def test_the_schema_of_each_optional_argument_allows_null(servers: Servers) -> None:
    async with servers.client() as client:
        tools = (await client.list_tools()).tools
    assert len(tools) > 20
    for tool in tools:
        for schema in objects_in(tool.input_schema):
            needed, rest = schema.get("required", []), {"$defs": tool.input_schema.get("$defs", {})}
            for name, one in schema["properties"].items():
                accepts = Draft202012Validator(rest | one).is_valid(None)
                assert accepts is (name not in needed), (tool.name, name)


@pytest.mark.parametrize("path", ["/session-memory", "/pixeltable-memory"])
async def test_a_call_with_nulls_is_the_call_without_them(servers: Servers, path: str) -> None:
    async with servers.client(path=path) as client:
        for tool in (await client.list_tools()).tools:
            needed = {name: NEEDED[name] for name in tool.input_schema.get("required", ())}
            optional = tool.input_schema["properties"].keys() - needed.keys()
            nulls = dict.fromkeys(optional)
            Draft202012Validator(tool.input_schema).validate(needed | nulls)
            plain = await client.call_tool(tool.name, needed)
            again = {"content": OTHER} if "content" in needed else {}  # the same is asked once
            result = await client.call_tool(tool.name, needed | again | nulls)
            assert "validation error" not in text_of(result), (tool.name, text_of(result))
            assert result.is_error == plain.is_error, (tool.name, text_of(result))


async def test_nulls_in_nested_objects_count_as_left_out(servers: Servers) -> None:
    details = {"completed": None, "in_progress": None, "blockers": ["None known"]}
    context = {"task_description": "Write the tests", "relevant_files": None}
    async with servers.client() as client:
        agent = await client.call_tool("register_agent", {"agent_type": "CLAUDE_CODE"})
        assert agent.structured_content is not None
        name = agent.structured_content["agent_id"]
        task = await client.call_tool("set_task_context", {"task": "Tests", "details": details})
        assert task.structured_content == {"task": "Tests", "details": ["blockers: None known"]}
        handed = await client.call_tool(
            "initiate_handoff",
            {"source_id": name, "target_id": name, "context": context, "ttl_seconds": None},
        )
        assert "relevant_files" not in text_of(handed)


async def test_null_for_a_needed_argument_is_refused(servers: Servers) -> None:
    async with servers.client() as client:
        for tool in (await client.list_tools()).tools:
            for name in tool.input_schema.get("required", ()):
                given = {one: NEEDED[one] for one in tool.input_schema["required"]} | {name: None}
                result = await client.call_tool(tool.name, given)
                assert result.is_error, (tool.name, name)
                assert name in text_of(result)
