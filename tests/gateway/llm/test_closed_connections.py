"""Connections that a model's server closes between two requests, as llama.cpp does."""

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Literal

import pytest

from gateway.errors import ModelUnavailable
from gateway.llm.anthropic.provider import AnthropicProvider
from gateway.llm.openai_compatible import OpenAICompatibleProvider
from gateway.llm.responses import ResponsesProvider
from gateway.ports import LLMProvider
from tests.gateway.llm.asking import ask, question

Closing = Literal["after the answer", "at the next request", "by a reset"]
Event = tuple[str, object]

_CHAT: tuple[Event, ...] = (
    ("", {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}),
)
_RESPONSES: tuple[Event, ...] = (
    ("", {"type": "response.output_text.delta", "output_index": 0, "delta": "Hi"}),
    ("", {"type": "response.completed", "response": {
        "status": "completed",
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "Hi"}]}],
    }}),
)  # fmt: skip
_MESSAGES: tuple[Event, ...] = tuple(
    (name, {"type": name, "index": 0, **event})
    for name, event in (
        ("message_start", {"message": {"usage": {"input_tokens": 1}}}),
        ("content_block_start", {"content_block": {"type": "text", "text": ""}}),
        ("content_block_delta", {"delta": {"type": "text_delta", "text": "Hi"}}),
        ("content_block_stop", {}),
        ("message_delta", {"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}),
        ("message_stop", {}),
    )
)
Make = Callable[[str], LLMProvider]
PROVIDERS: tuple[tuple[Make, tuple[Event, ...]], ...] = (
    (lambda url: OpenAICompatibleProvider("k", "m", url), _CHAT),
    (lambda url: ResponsesProvider("k", "m", url), _RESPONSES),
    (lambda url: AnthropicProvider("k", "m", url), _MESSAGES),
)
NAMES = ("chat completions", "responses", "anthropic")


class Server:
    """Answers one request of each connection, keeps the connection, and closes it in its way.
    `silent`: it reads requests and closes without an answer."""

    def __init__(self, events: tuple[Event, ...], closing: Closing) -> None:
        self.url = ""
        self.requests = 0
        self.connections = 0
        self.silent = False
        self._closing = closing
        self._stream = b"".join(
            (f"event: {name}\n" if name else "").encode() + b"data: " + json.dumps(event).encode()
            + b"\n\n" for name, event in events
        )  # fmt: skip

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            await _read_request(reader)
            self.requests += 1
            if not self.silent:
                head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                size = f"Content-Length: {len(self._stream)}\r\n\r\n".encode()
                writer.write(head + size + self._stream)
                await writer.drain()
                if self._closing != "after the answer":
                    await reader.readexactly(1)  # the next request has begun
                if self._closing == "by a reset":
                    linger = struct.pack("ii", 1, 0)
                    handle = writer.get_extra_info("socket")
                    handle.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


async def _read_request(reader: asyncio.StreamReader) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = next(line for line in head.split(b"\r\n") if line.startswith(b"content-length:"))
    await reader.readexactly(int(length.partition(b":")[2]))


@asynccontextmanager
async def _running(
    make: Make, events: tuple[Event, ...], closing: Closing
) -> AsyncIterator[tuple[LLMProvider, Server]]:
    server = Server(events, closing)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    provider = make(server.url)
    try:
        yield provider, server
    finally:
        await provider.close()
        listening.close()


@pytest.mark.parametrize("closing", ["after the answer", "at the next request", "by a reset"])
@pytest.mark.parametrize(("make", "events"), PROVIDERS, ids=NAMES)
async def test_each_question_is_answered(
    make: Make, events: tuple[Event, ...], closing: Closing
) -> None:
    async with _running(make, events, closing) as (provider, server):
        for number in range(5):
            assert (await ask(provider, question(f"Hello {number}"))).text == "Hi"

    assert server.requests == 5


@pytest.mark.parametrize(("make", "events"), PROVIDERS, ids=NAMES)
async def test_people_who_write_at_once_are_answered(make: Make, events: tuple[Event, ...]) -> None:
    async with _running(make, events, "at the next request") as (provider, _server):
        for _ in range(3):
            heard = await asyncio.gather(*(ask(provider, question("Hello")) for _ in range(3)))
            assert [each.text for each in heard] == ["Hi"] * 3


@pytest.mark.parametrize(("make", "events"), PROVIDERS, ids=NAMES)
async def test_a_server_that_closes_every_connection_is_asked_twice_more_at_most(
    make: Make, events: tuple[Event, ...]
) -> None:
    async with _running(make, events, "after the answer") as (provider, server):
        server.silent = True
        with pytest.raises(ModelUnavailable):
            await ask(provider, question("Hello"))
        assert server.requests == 1  # the connection was new

        server.silent = False
        await ask(provider, question("Hello"))
        server.silent = True
        with pytest.raises(ModelUnavailable):
            await ask(provider, question("Hello"))

    assert server.requests <= 5
