"""The gateway's side of an adapter in a test: the sink of its events and its durable state."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TypeVar

from gateway.message import ChatMessage, InboundEvent, MessageReceived
from gateway.stores.codec import event_from_json, event_to_json
from parley.testing.case import PATIENCE
from simulators.base import ChangeSignal

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
