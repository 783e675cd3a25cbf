"""A WhatsApp simulator, the real public listener and the real adapter, joined over sockets."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from adapters.whatsapp.connection import WhatsAppAdapter
from adapters.whatsapp.manifest import WhatsAppSettings
from db.errors import StoreUnavailable
from gateway.message import ChatMessage, MessageReceived, Outbound, Part, Place
from gateway.people import Audience
from gateway.ports import AdapterContext
from gateway.ports.work_guard import UNGUARDED, WorkGuard
from parley.http.webhook_listener import WebhookListener
from simulators.whatsapp import WhatsAppSimulator
from tests.support.adapter_context import EventRecorder


class MovableClock:
    """The wall clock plus an offset."""

    def __init__(self) -> None:
        self.offset = timedelta()

    def now(self) -> datetime:
        return datetime.now(UTC) + self.offset

    def monotonic(self) -> float:
        return self.now().timestamp()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class MemoryState:
    """An adapter's durable memory, as long as the test runs; checks the port's bounds."""

    def __init__(self, clock: MovableClock) -> None:
        self._clock = clock
        self.kept: dict[str, tuple[str, datetime]] = {}
        self.down = False

    async def get(self, key: str) -> str | None:
        if self.down:
            raise StoreUnavailable("the store is down")
        value, until = self.kept.get(key, ("", datetime.min.replace(tzinfo=UTC)))
        return value if until > self._clock.now() else None

    async def put(self, key: str, value: str, ttl: timedelta) -> None:
        if self.down:
            raise StoreUnavailable("the store is down")
        assert len(key) <= 200
        assert len(value) <= 4_000
        assert ttl > timedelta()
        self.kept[key] = (value, self._clock.now() + ttl)


@dataclass
class Rig:
    """Everything joined together."""

    sim: WhatsAppSimulator
    listener: WebhookListener
    adapter: WhatsAppAdapter
    sink: EventRecorder
    clock: MovableClock
    state: MemoryState
    counts: Counter[str]

    def later(self, **by: float) -> None:
        """Move both clocks."""
        passed = timedelta(**by)
        self.clock.offset += passed
        self.sim.advance(passed.total_seconds())

    async def message(self, index: int = -1) -> ChatMessage:
        """A message that arrived."""
        event = (await self.sink.wait())[index]
        assert isinstance(event, MessageReceived)
        return event.message


def text_to(place: Place, text: str, key: str = "k1", **more: object) -> Outbound:
    """A text for this place."""
    return Outbound(key=key, place=place, part=Part(text, text), **more)  # type: ignore[arg-type] # tests name real fields


def direct(key: str, account: str = "main") -> Place:
    """The chat with this person."""
    return Place("whatsapp", account, key, Audience.DIRECT)


def settings_of(sim: WhatsAppSimulator, **more: object) -> WhatsAppSettings:
    """Settings that point at the simulator."""
    return WhatsAppSettings.model_validate({**sim.settings(), **more})


def context_of(
    listener: WebhookListener,
    clock: MovableClock,
    state: MemoryState,
    counts: Counter[str],
    account: str = "main",
    guard: WorkGuard = UNGUARDED,
) -> AdapterContext:
    """Return the context that the program gives the adapter."""

    def count(what: str, detail: str = "") -> None:
        counts[f"{what}:{detail}" if detail else what] += 1

    return AdapterContext(account, "Parley", clock, state, listener, count, guard=guard)


@asynccontextmanager
async def running(
    sim: WhatsAppSimulator | None = None,
    listener: WebhookListener | None = None,
    account: str = "main",
    guard: WorkGuard = UNGUARDED,
    **settings: object,
) -> AsyncIterator[Rig]:
    """The rig, connected."""
    sim = sim or WhatsAppSimulator(pauses=(0.02, 0.05, 0.1, 0.2))
    own_listener = listener is None
    listener = listener or WebhookListener()
    clock, sink, counts = MovableClock(), EventRecorder(), Counter[str]()
    state = MemoryState(clock)
    await sim.start()
    context = context_of(listener, clock, state, counts, account, guard)
    adapter = WhatsAppAdapter(settings_of(sim, **settings), context)
    try:
        await listener.start()
        await adapter.connect(sink)
        sim.attach(listener.base_url)
        await sim.wait_connected()
        yield Rig(sim, listener, adapter, sink, clock, state, counts)
    finally:
        await adapter.disconnect()
        await sim.stop()
        if own_listener:
            await listener.stop()
