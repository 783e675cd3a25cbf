"""The context that a gateway gives an adapter, small enough to inspect."""

import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from aiohttp import web

from adapters.telegram.connection import TelegramAdapter
from adapters.telegram.manifest import TelegramSettings
from adapters.telegram.receive import TelegramReceiver
from gateway.errors import ConfigurationError
from gateway.immutable import replace
from gateway.message import Outbound, Part, Place
from gateway.people import Audience
from gateway.ports import AdapterContext, Clock, CommandSpec, WebhookHandler, WebhookRequest
from gateway.ports.rights import IN_CHAT
from simulators.base import SimRoom
from simulators.telegram import TelegramSimulator
from tests.adapters.telegram.updates import ME
from tests.support.adapter_context import EventRecorder, MemoryState
from tests.support.clock import HurriedClock


class Listener:
    """The public listener: real HTTP on loopback."""

    def __init__(self) -> None:
        self.handlers: dict[str, WebhookHandler] = {}
        self.url = ""

    def add(
        self, path: str, handler: WebhookHandler, *, max_body: int = 0, proof: str = ""
    ) -> None:
        if path in self.handlers:
            raise ConfigurationError(f"{path} is taken")
        self.handlers[path] = handler

    def remove(self, path: str) -> None:
        self.handlers.pop(path, None)

    async def serve(self, request: web.BaseRequest) -> web.Response:
        handler = self.handlers.get(request.path)
        if handler is None:
            return web.Response(status=404)
        headers = {name.lower(): value for name, value in request.headers.items()}
        answer = await handler(
            WebhookRequest(
                request.method, request.path, dict(request.query), headers, await request.read()
            )
        )
        return web.Response(status=answer.status, text=answer.body)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["Listener"]:
        runner = web.ServerRunner(web.Server(self.serve), shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield self
        finally:
            await runner.cleanup()


@dataclass
class Bench:
    """An adapter connected to a simulator."""

    sim: TelegramSimulator
    adapter: TelegramAdapter
    sink: EventRecorder
    counts: "Counter[str]"
    state: MemoryState
    listener: Listener


COMMANDS = (
    CommandSpec("ask", "Ask a question", True, allowed=IN_CHAT),
    CommandSpec("clear", "Forget", allowed=IN_CHAT),
)


def adapter_for(
    sim: TelegramSimulator,
    listener: Listener,
    counts: "Counter[str]",
    state: MemoryState,
    account: str = "main",
    clock: Clock | None = None,
    **changes: object,
) -> TelegramAdapter:
    settings = TelegramSettings.model_validate({**sim.settings(), **changes})

    def count(what: str, detail: str = "") -> None:
        counts[f"{what}:{detail}"] += 1

    context = AdapterContext(
        account, "Parley", clock or HurriedClock(), state, listener, count, commands=COMMANDS
    )
    return TelegramAdapter(settings, context)


def receiver_for(sink: EventRecorder, clock: Clock) -> TelegramReceiver:
    """A receiver without an adapter around it."""

    def count(what: str, detail: str = "") -> None: ...

    async def answer(_: str) -> None: ...

    context = AdapterContext("main", "Parley", clock, MemoryState(), Listener(), count)
    return TelegramReceiver(ME, context, sink, answer)


@contextlib.asynccontextmanager
async def connected(
    mode: str,
    sink: EventRecorder | None = None,
    *,
    privacy: bool = True,
    clock: Clock | None = None,
) -> AsyncIterator[Bench]:
    sim = TelegramSimulator(mode="webhook" if mode == "webhook" else "polling", retry_delay=0.05)
    sim.api.privacy = privacy
    await sim.start()
    listener, counts, state = Listener(), Counter[str](), MemoryState()
    sink = sink or EventRecorder()
    adapter = adapter_for(sim, listener, counts, state, clock=clock)
    try:
        async with listener.running():
            await adapter.connect(sink)
            sim.attach(listener.url)
            await sim.wait_connected()
            yield Bench(sim, adapter, sink, counts, state, listener)
            await adapter.disconnect()
    finally:
        await adapter.disconnect()
        await sim.stop()


MODES = pytest.mark.parametrize("mode", ["polling", "webhook"])
PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


def place_in(room: SimRoom, audience: Audience = Audience.DIRECT) -> Place:
    return Place("telegram", "main", room.id, audience, thread_id=room.thread_id)


def text(place: Place, html: str, plain: str = "", **more: object) -> Outbound:
    outbound = Outbound("k1", place, Part(html, plain or html))
    return replace(outbound, **more)  # type: ignore[arg-type]
