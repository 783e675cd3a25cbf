"""A hostile MCP server over HTTP: a test chooses each byte of its answers."""

import asyncio
import json
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, Self, TypeAlias

Answer: TypeAlias = Callable[[dict[str, Any], asyncio.StreamWriter], Awaitable[None]]
"""Writes the whole HTTP response to a message."""

PIECE: Final = 1 << 20
GZIP: Final = zlib.MAX_WBITS | 16
TOOLS: Final = [
    {"name": "page", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
    {"name": "plain", "inputSchema": {"type": "object"}},
]
USUAL: Final[dict[str, Any]] = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "hostile", "version": "1"},
    },
    "tools/list": {"tools": TOOLS},
    "tools/call": {"content": [{"type": "text", "text": "fine"}]},
}


def result_of(message: dict[str, Any], result: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": result}).encode()


def head(status: int = 200, *more: str, kind: str = "application/json") -> bytes:
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Type: {kind}", "Connection: close", *more]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def plain(body: bytes, *more: str, kind: str = "application/json") -> Answer:
    """An answer of exactly these bytes."""

    async def answer(_: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        writer.write(head(200, *more, kind=kind) + body)
        await writer.drain()

    return answer


def endless(first: bytes, again: bytes, *more: str, kind: str = "text/event-stream") -> Answer:
    """An answer that repeats the same bytes until the client closes."""

    async def answer(_: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        writer.write(head(200, *more, kind=kind) + first)
        while not writer.is_closing():
            writer.write(again)
            await writer.drain()
            await asyncio.sleep(0)

    return answer


def bomb(size: int, number: object = 1, *, wbits: int = GZIP) -> bytes:
    """A valid answer to request `number` with a text of `size` bytes, packed to a thousandth."""
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    begin = b'{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"'
    parts = [packer.compress(begin % json.dumps(number).encode())]
    parts += [packer.compress(b"a" * PIECE) for _ in range(size // PIECE)]
    return b"".join((*parts, packer.compress(b'"}]}}'), packer.flush()))


def bombs(size: int, encoding: str = "gzip", wbits: int = GZIP) -> Answer:
    """Answers with a bomb that fits the request."""

    async def answer(message: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        body = await asyncio.to_thread(bomb, size, message["id"], wbits=wbits)
        writer.write(head(200, f"Content-Encoding: {encoding}") + body)
        await writer.drain()

    return answer


class HostileServer:
    """Serves `/mcp` on loopback. `answers` replaces the usual answer to a method."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.headers: list[dict[str, str]] = []
        self.methods: list[str] = []
        self.port = 0
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    @classmethod
    @asynccontextmanager
    async def started(cls) -> AsyncIterator[Self]:
        made = cls()
        server = await asyncio.start_server(made._connection, "127.0.0.1", 0)
        made.port = server.sockets[0].getsockname()[1]
        try:
            yield made
        finally:
            server.close()
            for task in made._tasks:
                task.cancel()
            await asyncio.gather(*made._tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._exchange(reader, writer)
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = (await reader.readline()).decode()
        headers = {}
        while line := (await reader.readline()).strip():
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        await self._answer(first.split(" ")[0], headers, body, writer)
        writer.close()
        await writer.wait_closed()

    async def _answer(
        self, verb: str, headers: dict[str, str], body: bytes, writer: asyncio.StreamWriter
    ) -> None:
        message = json.loads(body) if body else {}
        method = message.get("method") or ("answer" if message else verb)
        self.headers.append(headers)
        self.methods.append(method)
        if special := self.answers.get(method):
            await special(message, writer)
        elif method in USUAL:
            writer.write(head() + result_of(message, USUAL[method]))
        elif "id" in message and "method" in message:
            error = {"code": -32601, "message": "no such method"}
            text = json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error})
            writer.write(head() + text.encode())
        else:
            writer.write(head(202 if message else 405, "Content-Length: 0"))
        await writer.drain()
