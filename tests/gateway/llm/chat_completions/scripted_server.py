"""A chat completions server that answers as real ones do: whole bodies, as they were recorded."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from gateway.llm.chat_completions.limits import Part
from gateway.llm.openai_compatible import OpenAICompatibleProvider

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Reply:
    """One response. `cut` breaks the connection off behind the body; `stays` leaves it open."""

    body: bytes
    status: int = 200
    kind: str = "text/event-stream"
    cut: bool = False
    stays: bool = False


def chunk(delta: Body | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """One chunk of a stream."""
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return {"object": "chat.completion.chunk", "model": "m", "choices": [choice], **more}


def sse(*events: Body | str, done: bool = True, **more: Any) -> Reply:
    """A stream of events; a text is sent as it is."""
    parts = [e if isinstance(e, str) else f"data: {json.dumps(e)}\n\n" for e in events]
    return Reply("".join([*parts, "data: [DONE]\n\n" if done else ""]).encode(), **more)


def said(*texts: str, finish: str | None = "stop") -> Reply:
    """A stream with these pieces of text."""
    first = chunk({"role": "assistant", "content": ""})
    return sse(first, *(chunk({"content": text}) for text in texts), chunk({}, finish))


def refused(message: str, status: int = 400, **more: Any) -> Reply:
    """An error in OpenAI's shape."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    return as_json({"error": {**error, **more}}, status)


def as_json(value: Any, status: int = 200) -> Reply:
    """A JSON document."""
    return Reply(json.dumps(value).encode(), status, "application/json")


@dataclass
class Server:
    """`reply` answers each request; `bodies` are those that arrived, from `provider`."""

    reply: Callable[[Body], Reply]
    bodies: list[Body] = field(default_factory=list)
    url: str = ""
    provider: OpenAICompatibleProvider = field(init=False)


@asynccontextmanager
async def serving(
    *script: Reply | Callable[[Body], Reply], without: tuple[Part, ...] = ()
) -> AsyncIterator[Server]:
    """Serve the replies in order, the last one for every further request."""

    def next_reply(body: Body) -> Reply:
        item = script[min(len(server.bodies), len(script)) - 1]
        return item if isinstance(item, Reply) else item(body)

    async def handle(request: web.Request) -> web.StreamResponse:
        body = await request.json()
        server.bodies.append(body)
        reply = server.reply(body)
        headers = {"Content-Type": reply.kind, "x-request-id": "req-1"}
        response = web.StreamResponse(status=reply.status, headers=headers)
        await response.prepare(request)
        await response.write(reply.body)
        if reply.cut and request.transport is not None:
            request.transport.abort()
        if reply.stays:
            await stop.wait()
        return response

    stop = asyncio.Event()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", handle)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server = Server(next_reply, url=f"http://127.0.0.1:{runner.addresses[0][1]}/v1")
    server.provider = OpenAICompatibleProvider("key", "m", server.url, without=without)
    try:
        yield server
    finally:
        await server.provider.close()
        stop.set()
        await runner.cleanup()
