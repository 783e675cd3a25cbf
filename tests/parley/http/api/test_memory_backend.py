"""A memory backend that does not answer: 503 with the next step over HTTP, an error over MCP."""

from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError

from gateway.ports.memory_backend import BackendAccess, Statement
from tests.parley.http.api.kit import ApiClient, Program, running, settings_in
from tests.parley.http.mcp.kit import served, text_of
from tests.support.memory_backends import DictBackend

FAILING: set[str] = set()
"""Contains "all" while the backend does not answer."""


class Moody(DictBackend):
    async def list_statements(
        self, access: BackendAccess, after: Statement | None, limit: int
    ) -> Sequence[Statement]:
        _check()
        return await super().list_statements(access, after, limit)

    async def forget(self, access: BackendAccess, ids: Sequence[str]) -> Sequence[str]:
        _check()
        return await super().forget(access, ids)


def moody(_: Mapping[str, str]) -> Moody:
    return Moody()


def _check() -> None:
    if FAILING:
        raise ConnectionError("no route to the notes server")


@pytest.fixture
async def program(tmp_path: Path) -> AsyncIterator[Program]:
    FAILING.clear()
    memory = {"backend": "notes", "backend_load": {"notes": f"{__name__}:moody"}}
    async with running(settings_in(tmp_path, memory=memory)) as started:
        yield started
    FAILING.clear()


async def test_a_request_is_answered_with_503_and_the_next_step(ada: ApiClient) -> None:
    stored = await ada("POST", "/brain/memories", {"content": "I own a red boat."})
    path = f"/brain/memories/{stored.json['memory_id']}"
    FAILING.add("all")
    for method, question in (("GET", "/brain/memories"), ("GET", path), ("DELETE", path)):
        response = await ada(method, question)
        assert response.status == 503, (method, question, response.json)
        assert response.code == "memory_unavailable"
        assert response.headers["Retry-After"] == "30"
        message = response.json["error"]["message"]
        assert "notes does not answer" in message
        assert "Try again in 30 seconds" in message
        assert "no route" not in message
    FAILING.clear()
    assert (await ada("DELETE", path)).status == 204


async def test_a_memory_waits_for_review_and_its_approval_for_the_backend(ada: ApiClient) -> None:
    FAILING.add("all")
    waiting = await ada("POST", "/brain/memories", {"content": "I own a green kite."})
    assert waiting.status == 202
    path = f"/brain/reviews/{waiting.json['review_id']}/approve"
    assert (await ada("POST", path, {})).status == 503
    FAILING.clear()
    assert (await ada("POST", path, {})).status == 200


async def test_what_needs_no_backend_is_still_answered(ada: ApiClient) -> None:
    FAILING.add("all")
    assert (await ada("GET", "/brain/choices")).status == 200
    assert (await ada("GET", "/brain/agents")).status == 200


async def test_over_mcp_a_tool_and_a_resource_fail_with_the_same_sentence(
    program: Program, ada: ApiClient
) -> None:
    stored = await ada("POST", "/brain/memories", {"content": "I own a red boat."})
    FAILING.add("all")
    async with served(program) as servers, servers.client("ada") as client:
        memory = {"id": stored.json["memory_id"]}
        result = await client.call_tool("memory_delete", memory)
        assert result.is_error
        assert "notes does not answer" in text_of(result)
        with pytest.raises(MCPError, match="notes does not answer"):
            await client.read_resource(f"memory://memories/{stored.json['memory_id']}")
