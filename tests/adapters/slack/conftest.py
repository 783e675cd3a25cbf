"""A Slack adapter connected to a simulated Slack, in either mode."""

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeVar

import pytest

from adapters.slack.connection import SlackAdapter
from adapters.slack.manifest import SlackSettings
from gateway.ports import AdapterContext
from gateway.ports.clock import SystemClock
from parley.http.webhook_listener import WebhookListener
from simulators.slack import SlackSimulator
from tests.support.adapter_context import EventRecorder, NoState

E = TypeVar("E")
Mode = Literal["socket", "http"]


@dataclass
class Rig:
    """Everything a test needs."""

    slack: SlackSimulator
    sink: EventRecorder
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
    sink = EventRecorder()
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
