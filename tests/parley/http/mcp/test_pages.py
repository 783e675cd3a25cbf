"""Answers of tools fit into what clients accept, and a cursor leads to the rest."""

import pytest

from memory.turns.pages import ANSWER_BYTES, NO_PAGE
from tests.parley.http.mcp.kit import Servers, text_of
from tests.parley.http.mcp.test_agent_tools import call, refused, registered

LONG = " und dann noch vieles über Bücher" * 45


async def test_pages_of_a_list_contain_every_memory_once(servers: Servers) -> None:
    kept = [
        await servers.remember("ada", f"Regal {number}{LONG[: 1200 + number]}")
        for number in range(60)
    ]
    seen: list[str] = []
    given: dict[str, object] = {"limit": "100", "query": "", "tags": "[]", "type": None}
    async with servers.client() as client:
        for _ in range(10):
            result = await client.call_tool("memory_search", given)
            assert len(text_of(result).encode()) < ANSWER_BYTES + 2_000
            assert result.structured_content is not None
            page = [one["id"] for one in result.structured_content["results"]]
            assert page
            seen += page
            following = result.structured_content.get("next_cursor")
            if following is None:
                break
            assert following == page[-1]
            given["cursor"] = following
        assert len(seen) == len(set(seen)) == 60
        assert set(seen) == set(kept)
        assert len(page) < 60, "they do not fit into one answer"
        missing = kept[0].replace(kept[0][4:12], "00000000")
        for cursor in (missing, "mem-none", "x" * 70):
            for query in ("", "Regal"):
                text = await refused(client, "memory_search", query=query, cursor=cursor)
                assert NO_PAGE in text


async def test_pages_of_a_search_contain_every_result_once(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        await servers.remember("ada", f"Auf Regal {number} stehen Bücher")
    asked = {"query": "Welche Bücher stehen im Regal?"}
    async with servers.client() as client:
        whole = await call(client, "memory_search", **asked)
        assert len(whole["results"]) > 5
        assert "next_cursor" not in whole
        monkeypatch.setattr("memory.turns.pages.ANSWER_BYTES", 1_000)
        page, seen = await call(client, "memory_search", **asked), []
        for _ in range(12):
            assert 0 < len(page["results"]) < 5
            seen += page["results"]
            if "next_cursor" not in page:
                break
            page = await call(client, "memory_search", **asked, cursor=page["next_cursor"])
        assert [one["id"] for one in seen] == [one["id"] for one in whole["results"]]


async def test_a_page_that_is_full_leads_to_the_next(servers: Servers) -> None:
    kept = [await servers.remember("ada", f"Shelf {number} is blue") for number in range(3)]
    async with servers.client() as client:
        first = await call(client, "memory_search", limit=2.0)
        second = await call(client, "memory_search", limit="2", cursor=first["next_cursor"])
        assert "next_cursor" not in second
        assert [one["id"] for one in (*first["results"], *second["results"])] == kept[::-1]
        assert "next_cursor" not in await call(client, "memory_search", limit=4)


async def test_memories_of_others_are_no_cursor(servers: Servers) -> None:
    theirs = await servers.remember("eve", "The shelf is blue")
    await servers.remember("ada", "The shelf is red")
    async with servers.client() as client:
        for query in ("", "shelf"):
            assert NO_PAGE in await refused(client, "memory_search", query=query, cursor=theirs)


async def test_pages_of_a_pool_contain_every_memory_once(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.turns.pages.ANSWER_BYTES", 900)
    kept = [await servers.remember("ada", f"The mill {number} is blue") for number in range(4)]
    async with servers.client(answers="accept") as client:
        agent = await registered(client)
        pool = (await call(client, "create_pool", name="mills", scope="team"))["pool_id"]
        await call(client, "join_pool", pool_id=pool, agent_id=agent, permission="write")
        who = {"pool_id": pool, "agent_id": agent}
        for one in kept:
            await call(client, "share_memory_to_scope", **who, memory_id=one, scope="team")
        seen: list[str] = []
        page = await call(client, "query_shared", **who, max_scope="team")
        for _ in range(4):
            assert 0 < len(page["memories"]) < 4
            seen += [one["memory_id"] for one in page["memories"]]
            if "next_cursor" not in page:
                break
            cursor = page["next_cursor"]
            page = await call(client, "query_shared", **who, max_scope="team", cursor=cursor)
        assert sorted(seen) == sorted(kept)
        text = await refused(client, "query_shared", **who, max_scope="team", cursor="mem-none")
        assert NO_PAGE in text
