"""A real Discord adapter, its simulator, and everything it hands over."""

import asyncio
from collections import Counter as Tally
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TypeVar

from adapters.discord.connection import DiscordAdapter
from adapters.discord.manifest import DiscordSettings
from gateway.clock import SystemClock
from gateway.errors import ConfigurationError
from gateway.message import InboundEvent, MessageReceived, Outbound, Part, Place
from gateway.people import Audience
from gateway.ports import AdapterContext, AdapterState, CommandSpec, WebhookHandler
from simulators.base import ChangeSignal, SimRoom
from simulators.discord import DiscordSimulator
from tests.support.patience import PATIENCE

COMMANDS = (
    CommandSpec("ask", "Ask a question", takes_arguments=True),
    CommandSpec("context", "Show the conversation"),
)
Event = TypeVar("Event")


class Inbox:
    """An `EventSink` that keeps what it is given, and can be made to fail."""

    def __init__(self) -> None:
        self.events: list[InboundEvent] = []
        self.failures: list[Exception] = []
        self.hold: asyncio.Event | None = None
        self.held = ""
        """The message of this text is stored only when `hold` is set."""
        self._signal = ChangeSignal()

    async def __call__(self, event: InboundEvent) -> None:
        text = event.message.content if isinstance(event, MessageReceived) else ""
        if self.hold is not None and text == self.held:
            await self.hold.wait()
        if self.failures:
            raise self.failures.pop(0)
        self.events.append(event)
        self._signal.notify()

    async def wait(self, count: int) -> list[InboundEvent]:
        """The events, as soon as there are `count`."""
        if not await self._signal.wait_until(lambda: len(self.events) >= count, 10.0):
            raise TimeoutError(f"only {self.events!r}")
        return self.events

    async def next(self, kind: type[Event]) -> Event:
        """The first event of a kind, as soon as there is one."""

        def found() -> list[Event]:
            return [event for event in self.events if isinstance(event, kind)]

        if not await self._signal.wait_until(lambda: bool(found()), 10.0):
            raise TimeoutError(f"no {kind.__name__} in {self.events!r}")
        return found()[0]


class NoState:
    async def get(self, key: str) -> str | None:
        return None

    async def put(self, key: str, value: str, ttl: timedelta) -> None:
        return None


class NoWebhooks:
    def add(
        self, path: str, handler: WebhookHandler, *, max_body: int = 0, proof: str = ""
    ) -> None:
        raise ConfigurationError("Discord needs no webhook")

    def remove(self, path: str) -> None:
        return None


class Rig:
    """One connected account."""

    def __init__(
        self,
        sim: DiscordSimulator,
        account: str = "main",
        state: AdapterState | None = None,
        **settings: object,
    ) -> None:
        self.sim = sim
        self.inbox = Inbox()
        self.counted: Tally[tuple[str, str]] = Tally()
        context = AdapterContext(
            account=account,
            assistant_name="Assistant",
            clock=SystemClock(),
            state=state or NoState(),
            webhooks=NoWebhooks(),
            count=self._count,
            commands=COMMANDS,
        )
        self.settings = DiscordSettings.model_validate(sim.settings() | settings)
        self.adapter = DiscordAdapter(self.settings, context)

    def _count(self, what: str, detail: str = "") -> None:
        self.counted[what, detail] += 1

    def place(self, room: SimRoom) -> Place:
        """Where an answer goes that belongs into the room."""
        audience = Audience.DIRECT if room.kind == "direct" else Audience.PUBLIC_ROOM
        return Place("discord", self.adapter.account, room.id, audience, thread_id=room.thread_id)


def text(key: str, place: Place, content: str, **more: object) -> Outbound:
    """An outbound text."""
    return Outbound(key, place, Part(content, content), **more)  # type: ignore[arg-type]  # test data


@asynccontextmanager
async def connected(
    sim: DiscordSimulator,
    account: str = "main",
    state: AdapterState | None = None,
    **settings: object,
) -> AsyncIterator[Rig]:
    """A connected rig, and a clean end."""
    rig = Rig(sim, account, state, **settings)
    await rig.adapter.connect(rig.inbox)
    try:
        yield rig
    finally:
        await rig.adapter.disconnect()


async def begun_anew(sim: DiscordSimulator, gone: str) -> None:
    """Return once a client listens in another session than the one that is gone."""

    def another() -> bool:
        sessions = (line.session for line in sim.gateway.connections)
        return any(one and one.introduced and one.id != gone for one in sessions)

    await sim.wait_until(another, PATIENCE)
