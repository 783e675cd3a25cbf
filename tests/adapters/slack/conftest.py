"""A Slack adapter connected to a simulated Slack, in either mode."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal, TypeVar

import pytest

from adapters.slack.connection import SlackAdapter
from adapters.slack.manifest import SlackSettings
from db.errors import StoreUnavailable
from gateway.message import InboundEvent, MessageReceived
from gateway.ports import AdapterContext
from gateway.ports.clock import SystemClock
from parley.http.webhook_listener import WebhookListener
from simulators.base import ChangeSignal
from simulators.slack import SlackSimulator
from tests.support.patience import PATIENCE

E = TypeVar("E")
Mode = Literal["socket", "http"]


class NoState:
    """The Slack adapter remembers nothing."""

    async def get(self, key: str) -> str | None:
        raise AssertionError(key)

    async def put(self, key: str, value: str, ttl: timedelta) -> None:
        raise AssertionError(key)


class Sink:
    """Collects what arrives; `failures` is how many deliveries it refuses first.

    While `hold` is not set, nothing is stored; with `held`, only the message of that text is not.
    """

    def __init__(self) -> None:
        self.events: list[InboundEvent] = []
        self.failures = 0
        self.hold: asyncio.Event | None = None
        self.held = ""
        self._changed = ChangeSignal()

    async def __call__(self, event: InboundEvent) -> None:
        text = event.message.content if isinstance(event, MessageReceived) else ""
        if self.hold is not None and self.held in ("", text):
            await self.hold.wait()
        if self.failures:
            self.failures -= 1
            self._changed.notify()
            raise StoreUnavailable("the disk is full")
        self.events.append(event)
        self._changed.notify()

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    async def first(self, kind: type[E], count: int = 1) -> E:
        """The `count`-th event of that kind, as soon as it is there."""
        await self.until(lambda: len(self.of(kind)) >= count)
        return self.of(kind)[count - 1]

    async def until(self, ready: Callable[[], bool]) -> None:
        assert await self._changed.wait_until(ready, PATIENCE), self.events


@dataclass
class Rig:
    """Everything a test needs."""

    slack: SlackSimulator
    sink: Sink
    listener: WebhookListener
    adapter: SlackAdapter
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)


@asynccontextmanager
async def connected(
    mode: Mode = "socket",
    account: str = "main",
    slack: SlackSimulator | None = None,
    more: Mapping[str, object] | None = None,
) -> AsyncIterator[Rig]:
    """A connected adapter; its own simulator unless one is given."""
    path = "/webhook/slack" if account == "main" else f"/webhook/slack/{account}"
    simulator = slack or SlackSimulator(mode, ack_within=3.0, retry_after=(0.0, 0.1), path=path)
    if slack is None:
        await simulator.start()
    listener = WebhookListener()
    await listener.start()
    simulator.attach(listener.base_url)
    counts: Counter[tuple[str, str]] = Counter()

    def count(what: str, detail: str = "") -> None:
        counts[what, detail] += 1

    context = AdapterContext(account, "Parley", SystemClock(), NoState(), listener, count)
    settings = {**simulator.settings(), **(more or {})}
    adapter = SlackAdapter(SlackSettings.model_validate(settings), context)
    sink = Sink()
    try:
        await adapter.connect(sink)
        await simulator.wait_connected()
        yield Rig(simulator, sink, listener, adapter, counts)
    finally:
        await adapter.disconnect()
        await listener.stop()
        if slack is None:
            await simulator.stop()


@pytest.fixture(params=["socket", "http"])
async def rig(request: pytest.FixtureRequest) -> AsyncIterator[Rig]:
    """An adapter connected in each of the two modes."""
    async with connected(request.param) as made:
        yield made


@pytest.fixture
async def socket_rig() -> AsyncIterator[Rig]:
    """An adapter connected by Socket Mode."""
    async with connected("socket") as made:
        yield made


@pytest.fixture
async def http_rig() -> AsyncIterator[Rig]:
    """An adapter connected by HTTP events."""
    async with connected("http") as made:
        yield made
