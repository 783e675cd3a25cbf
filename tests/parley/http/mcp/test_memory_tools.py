"""The memory tools over MCP, with the SDK's client over a socket in both eras."""

import pytest

from gateway.immutable import replace
from memory.model.record import Kind, new_id
from tests.parley.http.mcp.kit import Servers, text_of

SECRET = "ghp_" + "a1B2" * 9


async def test_a_client_of_each_era_lists_the_same_tools_in_the_same_order(
    servers: Servers,
) -> None:
    lists = []
    for mode in ("2026-07-28", "legacy", "auto"):
        async with servers.client(mode=mode) as client:
            lists.append([tool.name for tool in (await client.list_tools()).tools])
    assert lists[0] == lists[1] == lists[2]
    assert {"memory_store", "memory_search", "memory_brief", "memory_delete"} <= set(lists[0])
    assert "update_customer_brain" in lists[0]


async def test_each_tool_has_hints_bounds_and_an_output_schema(servers: Servers) -> None:
    async with servers.client() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    for tool in tools.values():
        assert tool.annotations is not None
        assert tool.annotations.open_world_hint is False
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema is not None
        assert tool.output_schema["type"] == "object"
        assert tool.description
        assert tool.title
    assert tools["memory_delete"].annotations.destructive_hint is True  # type: ignore[union-attr] # checked above
    assert tools["memory_search"].annotations.read_only_hint is True  # type: ignore[union-attr] # checked above
    assert tools["memory_store"].annotations.read_only_hint is False  # type: ignore[union-attr] # checked above
    assert tools["memory_store"].input_schema["properties"]["content"]["maxLength"] == 2_000


async def test_lists_may_be_kept_for_minutes_and_contents_not_at_all(servers: Servers) -> None:
    async with servers.client(mode="2026-07-28") as client:
        tools = await client.list_tools()
        brief = await client.read_resource("memory://brief")
    assert (tools.ttl_ms, tools.cache_scope) == (300_000, "public")
    assert (brief.ttl_ms, brief.cache_scope) == (0, "private")


async def test_search_finds_the_memories_of_the_person_only(servers: Servers, era: str) -> None:
    known = await servers.remember("ada", "The staging cluster runs in Frankfurt.")
    await servers.remember("eve", "The staging cluster of Eve runs in Dublin.")
    async with servers.client(mode=era) as client:
        result = await client.call_tool("memory_search", {"query": "Where is the staging cluster?"})
    assert not result.is_error
    assert result.structured_content is not None
    assert [match["id"] for match in result.structured_content["results"]] == [known]
    assert "Frankfurt" in text_of(result)


async def test_the_brief_names_the_whole_ids(servers: Servers, era: str) -> None:
    known = await servers.remember("ada", "Ada wants short answers.", Kind.PREFERENCE)
    async with servers.client(mode=era) as client:
        result = await client.call_tool("memory_brief", {})
    assert result.structured_content is not None
    assert result.structured_content["ids"] == [known]
    assert "Ada wants short answers." in result.structured_content["brief"]


async def test_a_secret_that_is_stored_is_redacted_on_its_way_out(servers: Servers) -> None:
    handle = await servers.memory_of("ada")
    known = await handle.read.get(await servers.remember("ada", "The key of the build host."))
    assert known is not None
    leaked = replace(known, id=new_id(), content=f"The key of the deploy host is {SECRET}.")
    store = servers.program.app.storage.memory.memories
    await store.insert(handle.access, leaked, threshold=1.0, quota=None)
    async with servers.client() as client:
        result = await client.call_tool("memory_search", {"query": "key of the deploy host"})
        brief = await client.call_tool("memory_brief", {"include_provenance": True})
        read = await client.read_resource(f"memory://memories/{leaked.id}")
    for shown in (text_of(result), text_of(brief), str(read.contents)):
        assert "deploy host" in shown
        assert "[SECRET_REDACTED]" in shown
        assert SECRET not in shown


async def test_what_an_agent_stores_waits_for_the_person(servers: Servers, era: str) -> None:
    async with servers.client(mode=era) as client:
        stored = await client.call_tool(
            "memory_store", {"type": "fact", "content": "The API of billing moved to port 8443."}
        )
        result = await client.call_tool("memory_search", {"query": "port of the billing API"})
    assert not stored.is_error
    assert stored.structured_content is not None
    assert stored.structured_content["status"] == "waiting_for_the_person"
    assert "/memories review" in stored.structured_content["next"]
    assert result.structured_content == {"results": []}
    handle = await servers.memory_of("ada")
    (item,) = await handle.review.waiting()
    assert item.record.provenance.source.value == "ai_inference"
    assert item.record.provenance.trust.value == "low"


async def test_a_document_is_proposed_and_not_replaced(servers: Servers) -> None:
    async with servers.client() as client:
        result = await client.call_tool(
            "update_customer_brain", {"target": "soul", "content": "Call me Ada."}
        )
    assert result.structured_content is not None
    assert result.structured_content["status"] == "waiting_for_review"
    handle = await servers.memory_of("ada")
    assert await handle.documents.read("soul") is None


async def test_memory_that_is_off_is_neither_read_nor_written(servers: Servers) -> None:
    await servers.remember("ada", "The staging cluster runs in Frankfurt.")
    await (await servers.memory_of("ada")).privacy.choose(memory=False)
    async with servers.client() as client:
        for name, given in (
            ("memory_search", {"query": "staging"}),
            ("memory_brief", {}),
            ("memory_store", {"type": "fact", "content": "A fact."}),
            ("get_recent_activity", {}),
        ):
            result = await client.call_tool(name, given)
            assert result.is_error, name
            assert "/privacy memory on" in text_of(result)


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("memory_store", {}, "type: Field required"),
        ("memory_store", {"type": "fact", "content": "x" * 2_001}, "at most 2000 characters"),
        ("memory_store", {"type": "fact", "content": ""}, "at least 1 character"),
        ("memory_store", {"type": "wish", "content": "x"}, "type: Input should be"),
        ("memory_store", {"type": "fact", "content": "x", "trust": "high"}, "trust: Extra inputs"),
        ("memory_store", {"type": "fact", "content": 7}, "content: Input should be a valid string"),
        ("memory_store", {"type": "fact", "content": "x", "tags": ["t"] * 11}, "at most 10 items"),
        ("memory_search", {"limit": 101}, "less than or equal to 100"),
        ("memory_search", {"limit": -1}, "greater than or equal to 1"),
        ("memory_search", {"limit": "many"}, "limit: Input should be a valid integer"),
        ("memory_search", {"query": "x" * 501}, "at most 500 characters"),
        ("memory_search", {"query": 5}, "query: Input should be a valid string"),
        ("memory_delete", {"id": "x" * 101}, "at most 100 characters"),
        ("memory_delete", {"id": ["mem-1"]}, "id: Input should be a valid string"),
        ("update_customer_brain", {"target": "heartbeat", "content": "x"}, "target: Input should"),
        ("set_task_context", {"task": "x", "completed": ["y"] * 11}, "at most 10 items"),
    ],
)
async def test_unusable_arguments_are_explained(
    servers: Servers, name: str, given: dict[str, object], words: str
) -> None:
    async with servers.client() as client:
        result = await client.call_tool(name, given)
    assert result.is_error
    assert text_of(result).startswith("These arguments cannot be used: ")
    assert words in text_of(result)
    assert text_of(result).endswith(f"Correct them and call {name} again.")
    assert "\n" not in text_of(result)


async def test_an_agent_stores_further_fields_of_the_evidence_that_its_person_reads(
    servers: Servers,
) -> None:
    given = {"type": "fact", "content": "The tests run on Mondays", "evidence": {"ticket": "T-7"}}
    async with servers.client() as client:
        waiting = await client.call_tool("memory_store", given)
        assert waiting.structured_content is not None
        assert waiting.structured_content["status"] == "waiting_for_the_person"
        ada = await servers.memory_of("ada")
        (item,) = await ada.review.waiting()
        kept = await ada.review.approve(item.id)
        resource = await client.read_resource(f"memory://memories/{kept.memory_id}")
        assert '"ticket": "T-7"' in str(resource.contents[0])[:5_000].replace('\\"', '"')
        deep = {**given, "content": "Another", "evidence": {"a": "x" * 10_001}}
        refused = await client.call_tool("memory_store", deep)
        assert refused.is_error
        assert "evidence" in text_of(refused)
