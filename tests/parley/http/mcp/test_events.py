"""A client learns of the events of its agents, pools and handoffs without asking again."""

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest
from mcp import Client
from mcp.client.subscriptions import ListenNotSupportedError, ResourceUpdated
from mcp.shared.exceptions import MCPError

from gateway.ports.clock import SystemClock
from memory.agents.model import AgentEvent, EventKind
from memory.agents.stores.events import SqlAgentEvents
from memory.mcp import resources
from memory.stores.api_tokens import ApiToken
from tests.parley.http.mcp.kit import Servers, served
from tests.support.patience import PATIENCE

EVENTS = "memory://events"


async def events_of(client: Client, after: int | None = None) -> dict[str, Any]:
    """The content of the resource."""
    uri = EVENTS if after is None else f"{EVENTS}/{after}"
    (content,) = (await client.read_resource(uri)).contents
    read: dict[str, Any] = json.loads(content.text)  # type: ignore[union-attr] # it is a text
    return read


async def registered(client: Client) -> str:
    result = await client.call_tool("register_agent", {"agent_type": "claude_code"})
    return str((result.structured_content or {})["agent_id"])


async def test_the_resource_has_the_events_of_the_caller_only(servers: Servers) -> None:
    async with servers.client() as ada, servers.client("eve") as eve:
        agent = await registered(ada)
        await registered(eve)
        read = await events_of(ada)
        (event,) = read["events"]
        assert (event["kind"], event["agent"]) == ("agent.registered", agent)
        assert (await events_of(ada, read["next"]))["events"] == []
        other = await registered(ada)
        assert [one["agent"] for one in (await events_of(ada, read["next"]))["events"]] == [other]


@pytest.mark.parametrize("after", ["-1", "x", "9" * 30, "1.5"])
async def test_something_else_than_a_number_is_not_found(servers: Servers, after: str) -> None:
    async with servers.client() as client:
        with pytest.raises(MCPError) as raised:
            await client.read_resource(f"{EVENTS}/{after}")
    assert raised.value.error.code == -32602


async def test_a_stream_reports_events_of_the_caller_only(servers: Servers) -> None:
    async with (
        servers.client() as ada,
        servers.client("eve") as eve,
        servers.client() as again,
        ada.listen(resource_subscriptions=[EVENTS]) as stream,
    ):
        await registered(eve)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await anext(aiter(stream))
    async with servers.client() as ada, ada.listen(resource_subscriptions=[EVENTS]) as stream:
        async with servers.client() as again:
            await registered(again)
        async with asyncio.timeout(10):
            assert await anext(aiter(stream)) == ResourceUpdated(EVENTS)


async def test_an_event_of_this_process_is_reported_before_the_next_poll(servers: Servers) -> None:
    async with (
        served(servers.program, poll_seconds=10 * PATIENCE) as own,
        own.client() as ada,
        own.client() as again,
        ada.listen(resource_subscriptions=[EVENTS]) as stream,
    ):
        for _ in range(2):
            await registered(again)
            async with asyncio.timeout(PATIENCE):
                assert await anext(aiter(stream)) == ResourceUpdated(EVENTS)


async def test_an_event_of_another_process_is_polled(servers: Servers) -> None:
    store = servers.program.app.storage.memory.agent_events
    assert isinstance(store, SqlAgentEvents)
    elsewhere = SqlAgentEvents(store._database)  # without the signal of the program
    at, kind = SystemClock().now(), EventKind.AGENT_REGISTERED
    async with servers.client() as ada, ada.listen(resource_subscriptions=[EVENTS]) as stream:
        await elsewhere.add([AgentEvent(kind, "default", at, person="web:main:ada")])
        async with asyncio.timeout(PATIENCE):
            assert await anext(aiter(stream)) == ResourceUpdated(EVENTS)


async def test_a_stream_ends_when_its_token_is_revoked(servers: Servers) -> None:
    tokens = servers.program.app.storage.memory.tokens
    now = SystemClock().now()
    kept = ApiToken("i", "laptop", "default", "web:main:ada", now, now + timedelta(days=1))
    assert await tokens.add(kept)
    token = servers.program.token("ada", known="i")
    async with (
        servers.client(token=token) as client,
        client.listen(resource_subscriptions=[EVENTS]) as stream,
    ):
        await tokens.revoke("laptop")
        async with asyncio.timeout(10):
            assert [event async for event in stream] == []


async def test_a_person_has_a_limited_number_of_streams(
    servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "MAX_STREAMS_PER_PERSON", 1)
    async with servers.client() as ada, servers.client("eve") as eve:
        async with ada.listen(resource_subscriptions=[EVENTS]):
            with pytest.raises(MCPError, match="too many open streams"):
                async with ada.listen(resource_subscriptions=[EVENTS]):
                    pass
            async with eve.listen(resource_subscriptions=[EVENTS]):
                pass
        async with asyncio.timeout(10):
            while True:
                try:
                    async with ada.listen(resource_subscriptions=[EVENTS]):
                        break
                except MCPError:
                    await asyncio.sleep(0.05)


async def test_an_older_client_reads_the_resource_instead(servers: Servers) -> None:
    async with servers.client(mode="legacy") as client:
        await registered(client)
        with pytest.raises(ListenNotSupportedError):
            async with client.listen(resource_subscriptions=[EVENTS]):
                pass
        assert len((await events_of(client))["events"]) == 1
