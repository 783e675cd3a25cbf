"""A running program with its MCP servers on a socket, and clients of the SDK."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import mcp_types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from gateway.immutable import replace
from memory.model.record import Draft, Kind
from memory.service.handle import MemoryHandle
from parley.http.local_listener import LocalListener
from parley.wiring.mcp import add_mcp_servers
from parley.wiring.policies import policies_of
from tests.parley.http.api.kit import Program

POLL_SECONDS = 0.05
"""Seconds between two looks for events, which are 2 in the program."""
ERAS = ("2026-07-28", "legacy")
"""The revision without a session, and the handshake of older clients."""


@dataclass(frozen=True, slots=True)
class Servers:
    """The MCP servers of a program at `url`."""

    program: Program
    url: str
    stop: Callable[[], Awaitable[None]]

    @asynccontextmanager
    async def client(
        self,
        name: str = "ada",
        *,
        token: str | None = None,
        mode: str = "auto",
        path: str = "",
        answers: str | None = None,
        asked: list[str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> AsyncIterator[Client]:
        """A connected client of the SDK with this person's token. `answers`: the client shows
        questions, and the person gives this answer ("accept", "no", "decline", "cancel"); `asked`
        receives the questions."""
        token = self.program.token(name) if token is None else token
        sent = {"Authorization": f"Bearer {token}", **(headers or {})}
        ask: Any = None if answers is None else answering(answers, asked)
        async with httpx2.AsyncClient(
            headers=sent, timeout=30, trust_env=False, verify=False
        ) as http:
            transport = streamable_http_client(self.url + path, http_client=http)
            async with Client(
                transport, mode=mode, cache=None, elicitation_callback=ask
            ) as connected:
                yield connected

    async def post(
        self, body: object, *, token: str | None = None, **headers: str
    ) -> httpx2.Response:
        """The response to one request, as a client without the SDK sends it; a text is sent as it
        is."""
        token = self.program.token("ada") if token is None else token
        sent = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            **({"Authorization": f"Bearer {token}"} if token else {}),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        async with httpx2.AsyncClient(timeout=30, trust_env=False, verify=False) as http:
            content = body if isinstance(body, str) else json.dumps(body)
            return await http.post(self.url, content=content, headers=sent)

    @asynccontextmanager
    async def with_limits(self, **limits: int) -> AsyncIterator["Servers"]:
        """The servers of the same program with other limits."""
        settings = self.program.settings
        changed = settings.model_copy(update={"limits": settings.limits.model_copy(update=limits)})
        async with served(replace(self.program, settings=changed)) as running:
            yield running

    async def memory_of(self, name: str) -> MemoryHandle:
        """The memory of a person in private."""
        return await self.program.api_client(name).in_private()

    async def remember(self, name: str, content: str, kind: Kind = Kind.FACT) -> str:
        """Store a memory of a person, who approves it if it waits; returns its id."""
        handle = await self.memory_of(name)
        result = await handle.write.remember(Draft(content, kind))
        if result.review_id:
            result = await handle.review.approve(result.review_id)
        assert result.memory_id, result.reason
        return result.memory_id


def answering(
    answer: str, asked: list[str] | None
) -> Callable[..., Awaitable[mcp_types.ElicitResult]]:
    """The person who answers the questions of a client, which `asked` receives."""

    async def ask(
        _context: object, params: mcp_types.ElicitRequestParams
    ) -> mcp_types.ElicitResult:
        if asked is not None:
            asked.append(params.message)
        if answer in ("accept", "no"):
            return mcp_types.ElicitResult(action="accept", content={"confirm": answer == "accept"})
        return mcp_types.ElicitResult(action="decline" if answer == "decline" else "cancel")

    return ask


@asynccontextmanager
async def served(program: Program, poll_seconds: float = POLL_SECONDS) -> AsyncIterator[Servers]:
    """The MCP servers of a running program on a listener of their own, which looks for events
    more often than the program's."""
    app, listener = program.app, LocalListener()
    services = app.services.under(policies_of(program.settings))
    add_mcp_servers(
        *(listener, app.memory, app.storage.memory.tokens, program.settings, services),
        poll_seconds,
    )
    await listener.start()
    try:
        yield Servers(program, f"{listener.base_url}/mcp", listener.stop)
    finally:
        await listener.stop()


def message_of(response: httpx2.Response) -> Any:
    """The last JSON-RPC message of a response, one or a stream of events."""
    if response.headers["content-type"].startswith("application/json"):
        return response.json()
    events = [line for line in response.text.splitlines() if line.startswith("data:")]
    return json.loads(events[-1].removeprefix("data:"))


def text_of(result: mcp_types.CallToolResult) -> str:
    """The text of a result."""
    return "\n".join(part.text for part in result.content if part.type == "text")
