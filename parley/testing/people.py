"""People of a platform on which everybody talks to the assistant alone, and what they see."""

import asyncio
from collections import deque
from collections.abc import Callable

from parley.testing.case import PATIENCE
from simulators.base import (
    ApiCall,
    ChangeSignal,
    Faults,
    NotSupported,
    RoomKind,
    Shown,
    SimFile,
    SimPerson,
    SimRoom,
)


class DirectPeople:
    """The part of `PlatformSimulator` that is the same wherever everybody has one direct
    conversation, under their own id.

    A subclass has `platform`, `settings`, `say`, and `start` and `stop` or `host`; it overrides the
    methods of what its platform has beside.
    """

    platform = ""

    def __init__(self) -> None:
        self.faults = Faults()
        self.calls: deque[ApiCall] = deque(maxlen=1_000)
        self.changed = ChangeSignal()
        self.seen: dict[str, dict[str, Shown]] = {}
        self.refused = 0
        """The number of times that people were told that their message could not be stored."""
        self.reading: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Do nothing: only the adapter listens."""

    async def stop(self) -> None:
        """Stop to read what people see."""
        await self.stop_reading()

    def settings(self) -> dict[str, object]:
        """The section of the configuration that points an adapter here."""
        return {}

    def attach(self, base_url: str) -> None:
        """No webhook is called."""

    async def wait_connected(self, timeout: float = PATIENCE) -> None:
        """People are let in by `host`."""

    def person(self, name: str) -> SimPerson:
        """The person of that name, under the name in lower case."""
        return SimPerson(name.lower(), name)

    def room(self, title: str, kind: RoomKind = "public") -> SimRoom:
        raise NotSupported("there are direct conversations only")

    def direct(self, person: SimPerson) -> SimRoom:
        return SimRoom(person.id, "direct", person.name)

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
        raise NotSupported("people cannot write")

    async def command(
        self, person: SimPerson, room: SimRoom, name: str, arguments: str = ""
    ) -> None:
        """Write it as a message: there are no commands."""
        await self.say(person, room, f"/{name} {arguments}".strip())

    async def edit(self, person: SimPerson, room: SimRoom, message_id: str, text: str) -> None:
        raise NotSupported("a message stays as it was written")

    async def delete(self, person: SimPerson, room: SimRoom, message_id: str) -> None:
        raise NotSupported("a message cannot be deleted")

    async def press(self, person: SimPerson, room: SimRoom, message_id: str, label: str) -> None:
        raise NotSupported("there are no buttons")

    def duplicate_next(self, times: int = 1) -> None:
        raise NotSupported("no event is delivered twice")

    async def open_thread(self, person: SimPerson, room: SimRoom, title: str) -> SimRoom:
        raise NotSupported("there are no threads")

    async def react(self, person: SimPerson, room: SimRoom, message_id: str, emoji: str) -> None:
        raise NotSupported("there are no reactions")

    async def drop_connections(self) -> None:
        raise NotSupported("nothing to connect again")

    def shown(self, room: SimRoom) -> list[Shown]:
        return list(self.seen.get(room.id, {}).values())

    async def wait_for(
        self, room: SimRoom, condition: Callable[[list[Shown]], bool], timeout: float = PATIENCE
    ) -> list[Shown]:
        if not await self.changed.wait_until(lambda: condition(self.shown(room)), timeout):
            raise TimeoutError(f"not shown; there was {self.shown(room)[-5:]!r}")
        return self.shown(room)

    def show(self, person_id: str, message: Shown) -> None:
        """The person sees a message, new or changed."""
        self.seen.setdefault(person_id, {})[message.id] = message
        self.changed.notify()

    def refuse(self) -> None:
        """Somebody was told to write it again."""
        self.refused += 1
        self.changed.notify()

    async def stop_reading(self) -> None:
        """Nobody looks any more."""
        for task in self.reading:
            task.cancel()
        await asyncio.gather(*self.reading, return_exceptions=True)
