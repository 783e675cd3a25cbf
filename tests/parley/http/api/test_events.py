"""Agent events over HTTP: a page, a stream that continues, refusals."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import aiohttp
import pytest

from gateway.ports.clock import SystemClock
from memory.agents.model import AgentType
from memory.stores.api_tokens import ApiToken
from parley.http.api import events as routes
from tests.parley.http.api.kit import ApiClient, Program, running, settings_in
from tests.support.patience import PATIENCE

STREAM = {"Accept": "text/event-stream"}


async def registers(program: Program, client: ApiClient) -> str:
    """Somebody registers an agent; its id."""
    agents = program.app.memory.agents
    assert agents is not None
    handle = await client.in_private()
    made = await agents.registry.register_agent(handle.request, AgentType.CLAUDE_CODE)
    return made.id


@asynccontextmanager
async def asked(
    program: Program, token: str, query: str = "", **headers: str
) -> AsyncIterator[aiohttp.ClientResponse]:
    url = f"{program.app.local.base_url}{routes.PATH}{query}"
    own = {"Authorization": f"Bearer {token}"} if token else {}
    async with aiohttp.ClientSession() as http, http.get(url, headers=own | headers) as response:
        yield response


async def next_event(response: aiohttp.ClientResponse) -> dict[str, str]:
    """The fields of the next event of a stream."""
    fields: dict[str, str] = {}
    async with asyncio.timeout(PATIENCE):
        while True:
            line = (await response.content.readline()).decode().rstrip("\n")
            if not line and fields:
                return fields
            name, _, value = line.partition(": ")
            if name:
                fields[name] = value


async def test_a_person_reads_their_own_events_page_by_page(
    program: Program, ada: ApiClient, eve: ApiClient
) -> None:
    made = [await registers(program, ada) for _ in range(3)]
    await registers(program, eve)
    async with asked(program, ada.token, "?limit=2") as response:
        assert response.status == 200
        assert response.headers["Cache-Control"] == "no-store"
        first = await response.json()
    assert [one["agent"] for one in first["events"]] == made[:2]
    assert first["more"]
    assert first["events"][0].keys() == {
        *("number", "type", "at", "agent", "pool", "handoff", "memory"),
    }
    async with asked(program, ada.token, f"?after={first['last']}") as response:
        rest = await response.json()
    assert [one["agent"] for one in rest["events"]] == made[2:]


async def test_a_stream_has_new_events_and_continues_after_the_last_one(
    program: Program, ada: ApiClient, eve: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "POLL_SECONDS", 0.02)
    await registers(program, ada)
    async with asked(program, ada.token, **STREAM) as response:
        assert response.headers["Content-Type"] == "text/event-stream"
        await registers(program, eve)
        made = await registers(program, ada)
        got = await next_event(response)
    assert got["event"] == "agent.registered"
    assert json.loads(got["data"])["agent"] == made, "neither an earlier one nor another person's"
    later = await registers(program, ada)
    async with asked(program, ada.token, **STREAM, **{"Last-Event-ID": got["id"]}) as response:
        assert json.loads((await next_event(response))["data"])["agent"] == later


async def test_a_stream_has_an_event_of_this_process_before_the_next_poll(
    program: Program, ada: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "POLL_SECONDS", 10 * PATIENCE)
    async with asked(program, ada.token, **STREAM) as response:
        for _ in range(2):
            made = await registers(program, ada)
            assert json.loads((await next_event(response))["data"])["agent"] == made


@pytest.mark.parametrize(
    ("query", "where"),
    [("?after=x", "query.after"), ("?after=-1", "query.after"), ("?limit=0", "query"),
     ("?limit=501", "query"), ("?after=" + "9" * 19, "query.after")],
)  # fmt: skip
async def test_wrong_arguments_are_refused(
    program: Program, ada: ApiClient, query: str, where: str
) -> None:
    async with asked(program, ada.token, query) as response:
        assert response.status == 400
        assert (await response.json())["error"]["where"] == where


async def test_events_need_a_valid_token(program: Program, ada: ApiClient) -> None:
    for token, code in (("", "token_missing"), ("x", "token_wrong")):
        for headers in ({}, STREAM):
            async with asked(program, token, **headers) as response:
                assert response.status == 401
                assert (await response.json())["error"]["code"] == code


async def test_the_stream_of_a_revoked_token_ends(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(routes, "CHECK_SECONDS", 0.05)
    tokens, now = program.app.storage.memory.tokens, SystemClock().now()
    kept = ApiToken("i", "laptop", "default", "web:main:ada", now, now + timedelta(days=1))
    assert await tokens.add(kept)
    async with asked(program, program.token("ada", known="i"), **STREAM) as response:
        assert await tokens.revoke("laptop") is not None
        async with asyncio.timeout(PATIENCE):
            assert await response.content.read() == b""


async def test_streams_of_a_person_are_bounded(
    program: Program, ada: ApiClient, eve: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "MAX_OF_PERSON", 1)
    async with asked(program, ada.token, **STREAM) as response:
        assert response.status == 200
        async with asked(program, ada.token, **STREAM) as second:
            assert second.status == 429
        async with asked(program, eve.token, **STREAM) as other:
            assert other.status == 200


async def test_a_person_needs_no_token_of_the_listener(tmp_path: Path) -> None:
    server = {"port": 0, "token": "listener-token-0123456789"}
    async with running(settings_in(tmp_path, server=server)) as program:
        async with asked(program, program.token("ada")) as response:
            assert response.status == 200
        async with asked(program, "listener-token-0123456789") as response:
            assert response.status == 401
