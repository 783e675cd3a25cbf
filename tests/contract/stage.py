"""One adapter, connected: people on one side, on the other a gateway that only writes down."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import count
from typing import Protocol, TypeVar, runtime_checkable

from gateway.commands.catalogue import REGISTERED
from gateway.message import (
    Button,
    ChatMessage,
    CommandInvoked,
    InboundEvent,
    MessageReceived,
    Outbound,
    OutboundFile,
    Part,
    Place,
    Receipt,
)
from gateway.ports import AdapterContext, PlatformAdapter
from gateway.ports.clock import SystemClock
from gateway.stores.codec import event_from_json, event_to_json
from parley.config.platforms import adapter_class
from parley.http.webhook_listener import WebhookListener
from simulators.base import ChangeSignal, PlatformSimulator, Shown, SimPerson, SimRoom
from tests.contract.variants import HostedPlatform, Variant
from tests.support.patience import PATIENCE

Event = TypeVar("Event")


class Sink:
    """Implements `EventSink`: keeps what it is given, once `failures` have been raised.

    `unstorable` are events that do not come back from JSON as they went in.
    """

    def __init__(self) -> None:
        self.events: list[InboundEvent] = []
        self.failures: list[Exception] = []
        self.unstorable: list[InboundEvent] = []
        self._changed = ChangeSignal()

    async def __call__(self, event: InboundEvent) -> None:
        # As with a real store, others run before it has answered.
        await asyncio.sleep(0)
        if self.failures:
            failure = self.failures.pop(0)
            self._changed.notify()
            raise failure
        if event_from_json(event_to_json(event)) != event:
            self.unstorable.append(event)
        self.events.append(event)
        self._changed.notify()

    def of(self, kind: type[Event]) -> list[Event]:
        """The events of a kind."""
        return [event for event in self.events if isinstance(event, kind)]

    async def until(self, ready: Callable[[], bool]) -> None:
        """Return once `ready()`. Raises TimeoutError with what arrived instead."""
        if not await self._changed.wait_until(ready, PATIENCE):
            raise TimeoutError(f"it never came; there was {self.events[-5:]!r}")

    async def first(self, kind: type[Event], number: int = 1) -> Event:
        """The `number`-th event of a kind, as soon as it is there."""
        await self.until(lambda: len(self.of(kind)) >= number)
        return self.of(kind)[number - 1]

    async def message(self, content: str) -> ChatMessage:
        """The message that says `content`, as soon as it is there."""
        await self.until(lambda: content in [m.content for m in self.messages()])
        return next(m for m in self.messages() if m.content == content)

    def messages(self) -> list[ChatMessage]:
        """What people wrote, each message once, in the order it came."""
        found = {event.message.id: event.message for event in self.of(MessageReceived)}
        return list(found.values())


class MemoryState:
    """Implements `AdapterState`, and holds its bounds."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    async def get(self, key: str) -> str | None:
        assert len(key) <= 200
        return self.values.get(key)

    async def put(self, key: str, value: str, ttl: timedelta) -> None:
        assert len(key) <= 200
        assert len(value) <= 4_000
        assert ttl > timedelta()
        self.values[key] = value


@runtime_checkable
class ShowsWaiting(Protocol):
    """A platform on which people see that a command waits."""

    def waiting_commands(self, room: SimRoom) -> int: ...


@dataclass(slots=True)
class Stage:
    """Everything that a test looks at. `person` is Ada, `room` her direct conversation."""

    variant: Variant
    platform: PlatformSimulator
    adapter: PlatformAdapter
    listener: WebhookListener
    sink: Sink = field(default_factory=Sink)
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    _keys: "count[int]" = field(default_factory=lambda: count(1))

    @property
    def person(self) -> SimPerson:
        return self.platform.person("Ada")

    @property
    def room(self) -> SimRoom:
        return self.platform.direct(self.person)

    async def hear(
        self, text: str = "hello", room: SimRoom | None = None, *, mention: bool = False
    ) -> ChatMessage:
        """Let Ada write, and wait until the gateway has it."""
        await self.platform.say(self.person, room or self.room, text, mention=mention)
        return await self.sink.message(text)

    async def send(self, text: str, place: Place, **more: object) -> Receipt:
        """Send a text, under a fresh key unless one is given."""
        return await self.adapter.send(self.outbound(text, place, **more))

    def outbound(self, text: str, place: Place, **more: object) -> Outbound:
        """A text without markup as the gateway would send it."""
        made = Outbound(f"test:{next(self._keys)}", place, Part(text, text))
        return replace(made, **more)  # type: ignore[arg-type]  # tests name real fields

    def file(self, file: OutboundFile, place: Place) -> Outbound:
        """A file as the gateway would send it."""
        return Outbound(f"test:{next(self._keys)}", place, file=file)

    def nothing(self, asked: CommandInvoked) -> Outbound:
        """What ends a command that is not answered."""
        key = f"test:{next(self._keys)}"
        return Outbound(key, asked.place, reply_handle=asked.reply_handle)

    def platform_waits(self, room: SimRoom) -> bool:
        """Whether people see that a command in the room waits for its answer."""
        platform = self.platform
        return isinstance(platform, ShowsWaiting) and platform.waiting_commands(room) > 0

    async def shown(self, room: SimRoom, found: Callable[[list[Shown]], bool]) -> list[Shown]:
        """The bot's messages in the room, as soon as `found` says yes of them."""
        shown = await self.platform.wait_for(room, lambda seen: found(by_bot(seen)), PATIENCE)
        return by_bot(shown)

    def requests(self, what: str) -> list[int]:
        """The statuses of the requests that the platform got for "send", "typing" ..., in order."""
        method = self.variant.methods[what]
        return [call.status for call in self.platform.calls if call.method == method]


def by_bot(messages: Sequence[Shown]) -> list[Shown]:
    """What the bot said and did not take back."""
    return [message for message in messages if message.by_bot and not message.deleted]


def buttons(number: int) -> tuple[Button, ...]:
    """So many different buttons."""
    return tuple(Button(f"Choice {n}", f"value:{n}") for n in range(1, number + 1))


def make_adapter(
    variant: Variant,
    platform: PlatformSimulator,
    listener: WebhookListener,
    counts: Counter[tuple[str, str]],
    account: str = "main",
) -> PlatformAdapter:
    """The adapter as the program makes it, not connected yet."""

    def note(what: str, detail: str = "") -> None:
        counts[what, detail] += 1

    context = AdapterContext(
        account=account,
        assistant_name="Parley",
        clock=SystemClock(),
        state=MemoryState(),
        webhooks=listener,
        count=note,
        commands=REGISTERED,
    )
    settings = variant.settings_for(platform, account)
    return adapter_class(variant.manifest)(settings, context)


@asynccontextmanager
async def on_stage(
    variant: Variant, account: str = "main", listener: WebhookListener | None = None
) -> AsyncIterator[Stage]:
    """A connected adapter on its own platform; `listener` is shared with another, if given."""
    platform = variant.platform(account)
    heard = listener or WebhookListener()
    await platform.start()
    await heard.start()
    platform.attach(heard.base_url)
    counts = Counter[tuple[str, str]]()
    adapter = make_adapter(variant, platform, heard, counts, account)
    stage = Stage(variant, platform, adapter, heard, counts=counts)
    try:
        await adapter.connect(stage.sink)
        if isinstance(platform, HostedPlatform):
            await platform.host(adapter)
        await platform.wait_connected()
        yield stage
        assert stage.sink.unstorable == [], "these would be lost in the inbox"
    finally:
        await adapter.disconnect()
        await platform.stop()
        if listener is None:
            await heard.stop()
