"""The interface of all simulated platforms for tests and for the demo.

A simulator is a server on loopback that speaks a platform's real protocol to the platform's real
client library. On its other side, which no platform has, it is driven by the methods here: what a
person would do in the app (`say`, `press`, `edit` ...), and what people would then see (`shown`).
"""

import asyncio
import random
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, runtime_checkable

MAX_CALLS = 20_000
"""The number of latest requests that a simulator records."""
SEED: Final = 1
"""Of the faults that happen by chance, so that a run can be repeated."""

RoomKind = Literal["direct", "private", "public"]


@dataclass(frozen=True, slots=True)
class SimPerson:
    """Somebody who uses the platform."""

    id: str
    name: str
    is_bot: bool = False


@dataclass(frozen=True, slots=True)
class SimRoom:
    """A place to talk in. `thread_id` is set for a thread inside the room."""

    id: str
    kind: RoomKind
    title: str = ""
    thread_id: str = ""


@dataclass(frozen=True, slots=True)
class SimFile:
    """A file that a person sends, or that the bot sent."""

    name: str
    mime: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class ShownButton:
    """A button as people see it; `value` is what travels back."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A message as people on the platform see it.

    `text` is readable text without markup, `html` the same as safe HTML in the platform's own look
    (escaped by the simulator), `payload` the body of the request that made it. `only_for` is the
    id of the only person who sees it, empty for everybody.
    """

    id: str
    room_id: str
    thread_id: str
    author_id: str
    by_bot: bool
    text: str
    html: str = ""
    payload: Mapping[str, object] = field(default_factory=dict)
    buttons: tuple[ShownButton, ...] = ()
    files: tuple[SimFile, ...] = ()
    reply_to_id: str = ""
    edited: bool = False
    deleted: bool = False
    only_for: str = ""
    at: float = field(default_factory=time.time, compare=False)
    """When it was written, in Unix seconds."""


@dataclass(frozen=True, slots=True)
class ApiCall:
    """A request that a client made. `at` is the loop's time in seconds."""

    method: str
    body: Mapping[str, object]
    status: int
    at: float


FaultKind = Literal[
    "rate_limit",
    "server_error",
    "drop_before",
    "drop_after",
    "drop_within",
    "slow",
    # of the models' services only:
    "overloaded",
    "broken_stream",
    "stream_error",
    "slow_stream",
]


@dataclass(slots=True)
class Fault:
    """A fault of the next requests.

    `method` is the platform's name of the request ("sendMessage", "chat.postMessage",
    "POST /channels/{id}/messages", "messages"), or "*". `drop_before` closes the connection
    before anything happened, `drop_after` after it happened but before the answer, `drop_within`
    in the middle of the answer's body. Of a model's stream, `broken_stream` breaks off in the
    middle, and `stream_error` says an error there. `slow` waits `delay` seconds before the answer
    begins, the three faults of streams before each piece of it.

    `every`: only each so-many-th matching request, counted on from `seen`. `chance`: only this
    share of the requests that it would meet, from 0 to 1, at random with a fixed seed.
    """

    method: str
    kind: FaultKind
    times: int = 1
    retry_after: float = 1.0
    delay: float = 0.0
    every: int = 1
    seen: int = 0
    chance: float = 1.0


class Faults:
    """The faults that wait to happen, first in, first out."""

    def __init__(self) -> None:
        self._waiting: list[Fault] = []
        self._random = random.Random(SEED)

    def add(self, fault: Fault) -> None:
        """Let `fault` happen to the next `fault.times` matching requests."""
        self._waiting.append(fault)

    def take(self, method: str) -> Fault | None:
        """The fault for this request, if any; counts it as used."""
        due: Fault | None = None
        for fault in self._waiting:
            if fault.method in ("*", method):
                fault.seen += 1
                if due is None and fault.seen % fault.every == 0 and self._happens(fault):
                    due = fault
        if due is not None:
            due.times -= 1
            if due.times <= 0:
                self._waiting.remove(due)
        return due

    def _happens(self, fault: Fault) -> bool:
        return fault.chance >= 1.0 or self._random.random() < fault.chance

    @property
    def waiting(self) -> int:
        """The number of faults that have not happened as often as they should."""
        return len(self._waiting)

    def clear(self) -> None:
        """Remove all faults."""
        self._waiting.clear()


class PlatformSimulator(Protocol):
    """A simulated platform. Methods that a platform does not know raise `NotSupported`."""

    @property
    def platform(self) -> str: ...

    @property
    def faults(self) -> Faults: ...

    @property
    def calls(self) -> "deque[ApiCall]": ...

    async def start(self) -> None:
        """Listen on free ports of 127.0.0.1."""
        ...

    async def stop(self) -> None: ...

    def settings(self) -> dict[str, object]:
        """The section `platforms.<platform>` that points a gateway here."""
        ...

    async def wait_connected(self, timeout: float = 30.0) -> None:
        """Return once a client listens for events (or, for webhooks, once `attach` was called)."""
        ...

    def attach(self, base_url: str) -> None:
        """The address of the gateway's public listener, for platforms that call webhooks."""
        ...

    def person(self, name: str) -> SimPerson:
        """The person of that name; the same one every time."""
        ...

    def room(self, title: str, kind: RoomKind = "public") -> SimRoom:
        """The room of that title, which the bot is in; the same one every time."""
        ...

    def direct(self, person: SimPerson) -> SimRoom:
        """The direct conversation between this person and the bot."""
        ...

    async def say(
        self,
        person: SimPerson,
        room: SimRoom,
        text: str,
        *,
        mention: bool = False,
        reply_to: str = "",
        files: tuple[SimFile, ...] = (),
    ) -> str:
        """Write a message; with `mention`, one that mentions the bot. Returns its id."""
        ...

    async def open_thread(self, person: SimPerson, room: SimRoom, title: str) -> SimRoom:
        """A thread (or topic) in the room, started by this person."""
        ...

    async def edit(self, person: SimPerson, room: SimRoom, message_id: str, text: str) -> None: ...

    async def delete(self, person: SimPerson, room: SimRoom, message_id: str) -> None: ...

    async def command(
        self, person: SimPerson, room: SimRoom, name: str, arguments: str = ""
    ) -> None: ...

    async def press(
        self, person: SimPerson, room: SimRoom, message_id: str, label: str
    ) -> None: ...

    async def react(
        self, person: SimPerson, room: SimRoom, message_id: str, emoji: str
    ) -> None: ...

    def duplicate_next(self, times: int = 1) -> None:
        """Deliver the next event `times` more often, under the same id."""
        ...

    async def drop_connections(self) -> None:
        """Cut every socket to the client without a farewell; it may connect again."""
        ...

    def shown(self, room: SimRoom) -> list[Shown]:
        """Return the messages of the room or thread, oldest first, deleted ones marked."""
        ...

    async def wait_for(
        self, room: SimRoom, condition: Callable[[list[Shown]], bool], timeout: float = 30.0
    ) -> list[Shown]:
        """`shown(room)` as soon as `condition` is true. Raises TimeoutError with what was shown."""
        ...


@runtime_checkable
class CanForward(Protocol):
    """A platform on which a person can hand on a message of somebody else."""

    async def forward(self, person: SimPerson, room: SimRoom, text: str) -> str:
        """Forward a message that reads `text`. Returns its id."""
        ...


@runtime_checkable
class CanShareContacts(Protocol):
    """A platform on which a person can share a contact card."""

    async def share_contact(self, person: SimPerson, room: SimRoom, name: str) -> str:
        """Share a card. Returns the message's id."""
        ...


@runtime_checkable
class CanSendViaBots(Protocol):
    """A platform on which a person can send what another bot made."""

    async def send_via(self, person: SimPerson, room: SimRoom, text: str, bot: str) -> str:
        """Send a text that the bot made. Returns the message's id."""
        ...


@runtime_checkable
class CanShowPortraits(Protocol):
    """A platform on which people have pictures."""

    def show_portrait(self, person: SimPerson, picture: SimFile | None) -> None:
        """Give a person a picture; None takes it away."""
        ...


class NotSupported(Exception):
    """The platform has no such thing."""


class ChangeSignal:
    """Wakes everybody who waits for something to change."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def notify(self) -> None:
        """Something changed."""
        self._event.set()
        self._event = asyncio.Event()

    async def wait_until(self, ready: Callable[[], bool], timeout: float) -> bool:
        """True as soon as `ready()` holds, False when `timeout` seconds passed without."""
        try:
            async with asyncio.timeout(timeout):
                while not ready():
                    await self._event.wait()
        except TimeoutError:
            return ready()
        return True
