"""The resources over MCP."""

import json

import pytest
from mcp.shared.exceptions import MCPError

from tests.parley.http.mcp.kit import Servers


async def test_the_list_has_the_brief_and_the_documents(servers: Servers, era: str) -> None:
    async with servers.client(mode=era) as client:
        listed = [str(one.uri) for one in (await client.list_resources()).resources]
        templates = (await client.list_resource_templates()).resource_templates
    documents = [f"memory://documents/{name}" for name in ("soul", "bible", "heartbeat")]
    assert listed == ["memory://events", "memory://brief", *documents]
    assert [one.uri_template for one in templates] == [
        "memory://documents/{name}",
        "memory://events/{after}",
        "memory://handoffs/{id}",
        "memory://memories/{id}",
    ]


async def test_the_brief_a_document_and_a_memory_are_read(servers: Servers, era: str) -> None:
    known = await servers.remember("ada", "The staging cluster runs in Frankfurt.")
    await (await servers.memory_of("ada")).documents.write("soul", "Call me Ada.")
    async with servers.client(mode=era) as client:
        texts = {}
        for uri in ("memory://brief", "memory://documents/soul", f"memory://memories/{known}"):
            (content,) = (await client.read_resource(uri)).contents
            texts[uri] = (content.mime_type, content.text)  # type: ignore[union-attr] # all are texts
    assert "Frankfurt" in texts["memory://brief"][1]
    assert texts["memory://documents/soul"] == ("text/markdown", "Call me Ada.")
    mime, text = texts[f"memory://memories/{known}"]
    assert mime == "application/json"
    assert json.loads(text)["content"] == "The staging cluster runs in Frankfurt."


@pytest.mark.parametrize(
    "uri",
    [
        "memory://documents/bible",
        "memory://documents/soul",
        "memory://documents/../soul",
        "memory://memories/mem-1",
        "memory://handoffs/0123456789abcdef0123456789abcdef",
        "memory://memories/" + "x" * 1_000,
        "memory://nothing",
        "file:///etc/passwd",
    ],
)
async def test_what_is_not_there_is_not_found(servers: Servers, uri: str) -> None:
    async with servers.client() as client:
        with pytest.raises(MCPError) as raised:
            await client.read_resource(uri)
    assert raised.value.error.code == -32602
    assert raised.value.error.message


async def test_a_memory_of_another_person_is_not_found(servers: Servers) -> None:
    known = await servers.remember("ada", "The staging cluster runs in Frankfurt.")
    async with servers.client("eve") as eve:
        with pytest.raises(MCPError) as raised:
            await eve.read_resource(f"memory://memories/{known}")
    assert raised.value.error.code == -32602
    assert "Frankfurt" not in str(raised.value)
