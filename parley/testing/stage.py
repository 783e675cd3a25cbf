"""One adapter, connected: people on one side, on the other a gateway that only records events, with
the durable state of the adapter."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Protocol, TypeVar, runtime_checkable

from gateway.commands.catalogue import REGISTERED
from gateway.immutable import replace
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
from gateway.platforms import adapter_class
from gateway.ports import AdapterContext, PlatformAdapter
from gateway.ports.clock import SystemClock
from gateway.stores.codec import event_from_json, event_to_json
from gateway.text import ENGLISH
from parley.http.webhook_listener import WebhookListener
from parley.testing.case import PATIENCE, AdapterCase, HostedPlatform
from simulators.base import ChangeSignal, PlatformSimulator, Shown, SimPerson, SimRoom

Event = TypeVar("Event")


class EventRecorder:
    """Implements `EventSink`: keeps what it is given, once `failures` have been raised.

    While `hold` is not set, no event is taken; with `held`, only the message of that text is not.
    `unstorable` are events that do not come back from JSON as they went in.
    """

    def __init__(self, failures: Sequence[Exception] = ()) -> None:
        self.events: list[InboundEvent] = []
        self.failures = list(failures)
        self.unstorable: list[InboundEvent] = []
        self.hold: asyncio.Event | None = None
        self.held = ""
        self._changed = ChangeSignal()

    async def __call__(self, event: InboundEvent) -> None:
        # As with a real store, others run before it has answered.
        await asyncio.sleep(0)
        text = event.message.content if isinstance(event, MessageReceived) else ""
        if self.hold is not None and self.held in ("", text):
            await self.hold.wait()
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

    def messages(self) -> list[ChatMessage]:
        """Return the messages of people, each once, in order of arrival."""
        messages = {event.message.id: event.message for event in self.of(MessageReceived)}
        return list(messages.values())

    async def until(self, ready: Callable[[], bool]) -> None:
        """Return once `ready()`. Raises `TimeoutError` with what arrived instead."""
        if not await self._changed.wait_until(ready, PATIENCE):
            raise TimeoutError(f"it never came; there was {self.events[-5:]!r}")

    async def wait(self, count: int = 1) -> list[InboundEvent]:
        """The events, as soon as there are `count`."""
        await self.until(lambda: len(self.events) >= count)
        return self.events

    async def first(self, kind: type[Event], number: int = 1) -> Event:
        """The `number`-th event of a kind, as soon as it is there."""
        await self.until(lambda: len(self.of(kind)) >= number)
        return self.of(kind)[number - 1]

    async def message(self, content: str) -> ChatMessage:
        """The message that says `content`, as soon as it is there."""
        await self.until(lambda: content in [m.content for m in self.messages()])
        return next(m for m in self.messages() if m.content == content)


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

    case: AdapterCase
    """The tested adapter and its options."""
    platform: PlatformSimulator
    """The platform, with the people on it."""
    adapter: PlatformAdapter
    """The connected adapter."""
    listener: WebhookListener
    """The public listener, for webhooks."""
    sink: EventRecorder = field(default_factory=EventRecorder)
    """The events that the adapter delivered."""
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """The numbers that the adapter counted, by name and detail."""
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

    def nothing(self, command: CommandInvoked) -> Outbound:
        """Return the message that ends a command without an answer."""
        key = f"test:{next(self._keys)}"
        return Outbound(key, command.place, reply_handle=command.reply_handle)

    def platform_waits(self, room: SimRoom) -> bool:
        """True if people see that a command in the room waits for its answer."""
        platform = self.platform
        return isinstance(platform, ShowsWaiting) and platform.waiting_commands(room) > 0

    async def shown(self, room: SimRoom, condition: Callable[[list[Shown]], bool]) -> list[Shown]:
        """The bot's messages in the room, as soon as `condition` is true of them."""
        shown = await self.platform.wait_for(room, lambda seen: condition(by_bot(seen)), PATIENCE)
        return by_bot(shown)

    def requests(self, what: str) -> list[int]:
        """The statuses of the requests that the platform got for "send", "typing" ..., in order."""
        method = self.case.methods[what]
        return [call.status for call in self.platform.calls if call.method == method]


def by_bot(messages: Sequence[Shown]) -> list[Shown]:
    """Return the messages of the bot that it did not delete."""
    return [message for message in messages if message.by_bot and not message.deleted]


def buttons(number: int) -> tuple[Button, ...]:
    """So many different buttons."""
    return tuple(Button(f"Choice {n}", f"value:{n}") for n in range(1, number + 1))


def make_adapter(
    case: AdapterCase,
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
        commands=tuple(command.shown(ENGLISH) for command in REGISTERED),
    )
    settings = case.settings_for(platform, account)
    return adapter_class(case.manifest)(settings, context)


@asynccontextmanager
async def on_stage(
    case: AdapterCase, account: str = "main", listener: WebhookListener | None = None
) -> AsyncIterator[Stage]:
    """A connected adapter on its own platform; `listener` is shared with another, if given."""
    platform = case.platform(account)
    heard = listener or WebhookListener()
    await platform.start()
    await heard.start()
    platform.attach(heard.base_url)
    counts = Counter[tuple[str, str]]()
    adapter = make_adapter(case, platform, heard, counts, account)
    stage = Stage(case, platform, adapter, heard, counts=counts)
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
