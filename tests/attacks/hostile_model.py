"""A model's server that does whatever an attack says, in the dialect of each provider."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, Literal, Self

Dialect = Literal["chat", "responses", "messages"]
DIALECTS: Final[tuple[Dialect, ...]] = ("chat", "responses", "messages")
PROVIDERS: Final[Mapping[Dialect, Mapping[str, str]]] = {
    "chat": {"provider": "openai", "api": "chat"},
    "responses": {"provider": "openai", "api": "responses"},
    "messages": {"provider": "anthropic"},
}
TRIGGER: Final = "misbehave"
"""The word of a question that is answered as the attack says; every other one is answered well."""
HEAD: Final = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n"
Event = Mapping[str, Any]


class HostileModel:
    """One server. `behave` writes the whole response to a question with `TRIGGER`; `gets` are the
    responses to GET requests by path. `sent` counts the bytes of hostile responses, `asked` the
    questions that got one."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.url = ""
        self.asked = 0
        self.sent = 0
        self.behave: Callable[[HostileModel, asyncio.StreamWriter], Awaitable[None]] | None = None
        self.gets: dict[str, bytes] = {}
        self.paths: list[str] = []
        self._tasks: set[asyncio.Task[None]] = set()

    @classmethod
    @asynccontextmanager
    async def started(cls, dialect: Dialect) -> AsyncIterator[Self]:
        """One that listens on a free port."""
        made = cls(dialect)
        server = await asyncio.start_server(made._connected, "127.0.0.1", 0, limit=2**24)
        made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield made
        finally:
            server.close()
            for task in list(made._tasks):
                task.cancel()
            await asyncio.gather(*made._tasks, return_exceptions=True)

    @property
    def base_url(self) -> str:
        """The address to configure."""
        return self.url if self.dialect == "messages" else f"{self.url}/v1"

    # --- responses ------------------------------------------------------------------------------

    async def write(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        """Send bytes of a hostile response."""
        writer.write(data)
        self.sent += len(data)
        await writer.drain()

    def stream(self, *events: Event) -> bytes:
        """Events as they are sent."""
        return b"".join(
            (f"event: {event['type']}\n" if self.dialect == "messages" else "").encode()
            + b"data: " + json.dumps(event).encode() + b"\n\n" for event in events
        )  # fmt: skip

    def begin(self) -> list[Event]:
        """The events before the first text."""
        if self.dialect != "messages":
            return []
        block = {"type": "text", "text": ""}
        return [
            {"type": "message_start", "message": {"usage": {"input_tokens": 1}}},
            {"type": "content_block_start", "index": 0, "content_block": block},
        ]

    def text(self, text: str) -> Event:
        """A piece of text."""
        match self.dialect:
            case "chat":
                return {"choices": [{"index": 0, "delta": {"content": text}}]}
            case "responses":
                return {"type": "response.output_text.delta", "output_index": 0, "delta": text}
            case "messages":
                delta = {"type": "text_delta", "text": text}
                return {"type": "content_block_delta", "index": 0, "delta": delta}

    def thought(self, text: str) -> Event:
        """A piece of reasoning that is not for people."""
        match self.dialect:
            case "chat":
                return {"choices": [{"index": 0, "delta": {"reasoning_content": text}}]}
            case "responses":
                return {"type": "response.reasoning_text.delta", "output_index": 0, "delta": text}
            case "messages":
                delta = {"type": "thinking_delta", "thinking": text}
                return {"type": "content_block_delta", "index": 0, "delta": delta}

    def end(self, usage: Mapping[str, Any] | None = None) -> list[Event]:
        """The events after the last text."""
        match self.dialect:
            case "chat":
                choice = {"index": 0, "delta": {}, "finish_reason": "stop"}
                return [{"choices": [choice], "usage": usage}]
            case "responses":
                ended = {"status": "completed", "usage": usage}
                return [{"type": "response.completed", "response": ended}]
            case "messages":
                delta = {"stop_reason": "end_turn"}
                return [
                    {"type": "content_block_stop", "index": 0},
                    {"type": "message_delta", "delta": delta, "usage": usage or {}},
                    {"type": "message_stop"},
                ]

    def calls(self, calls: Iterable[tuple[str, str, str]]) -> list[Event]:
        """A whole answer of tool calls: id, name and arguments of each."""
        events: list[Event] = []
        match self.dialect:
            case "chat":
                for index, (call_id, name, arguments) in enumerate(calls):
                    function = {"name": name, "arguments": arguments}
                    call = {"index": index, "id": call_id, "function": function}
                    events.append({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
                choice = {"index": 0, "delta": {}, "finish_reason": "tool_calls"}
                return [*events, {"choices": [choice]}]
            case "responses":
                for index, (call_id, name, arguments) in enumerate(calls):
                    item = {"type": "function_call", "call_id": call_id, "name": name}
                    item["arguments"] = arguments
                    done = {"type": "response.output_item.done", "output_index": index}
                    events.append({**done, "item": item})
                return [*events, *self.end()]
            case "messages":
                events = self.begin()[:1]
                for index, (call_id, name, arguments) in enumerate(calls):
                    block = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
                    at = {"index": index}
                    delta = {"type": "input_json_delta", "partial_json": arguments}
                    events += [
                        {"type": "content_block_start", **at, "content_block": block},
                        {"type": "content_block_delta", **at, "delta": delta},
                        {"type": "content_block_stop", **at},
                    ]
                return [*events, *self.end()[1:]]

    def whole(self, text: str, usage: Mapping[str, Any] | None = None) -> bytes:
        """A whole answer that says this."""
        return self.stream(*self.begin(), self.text(text), *self.end(usage))

    # --- requests -------------------------------------------------------------------------------

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._answer(reader, writer)
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        method, path, _ = head.split(b"\r\n", 1)[0].decode().split(" ", 2)
        self.paths.append(f"{method} {path}")
        if method == "GET":
            default = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            writer.write(self.gets.get(path, default))
            await writer.drain()
            return
        lines = head.lower().split(b"\r\n")
        length = next(line for line in lines if line.startswith(b"content-length:"))
        body = json.loads(await reader.readexactly(int(length.partition(b":")[2])))
        said = json.dumps((body.get("messages") or body.get("input"))[-1:])
        if self.behave is not None and TRIGGER in said:
            self.asked += 1
            await self.behave(self, writer)
        else:
            writer.write(HEAD + b"\r\n" + self.whole("Understood."))
            await writer.drain()
