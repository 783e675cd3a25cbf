"""People and their views on the platforms without a simulator."""

import asyncio
from collections import deque
from collections.abc import Callable

from simulators.base import (
    ApiCall,
    ChangeSignal,
    Faults,
    NotSupported,
    RoomKind,
    Shown,
    SimPerson,
    SimRoom,
)
from tests.support.patience import PATIENCE


class DirectPeople:
    """The part of `PlatformSimulator` that is the same for every adapter that is its own server.

    Everybody has one direct conversation, under their own id.
    """

    def __init__(self) -> None:
        self.faults = Faults()
        self.calls: deque[ApiCall] = deque(maxlen=1_000)
        self.changed = ChangeSignal()
        self.seen: dict[str, dict[str, Shown]] = {}
        self.refused = 0
        """How often people were told that what they wrote could not be stored."""
        self._reading: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Do nothing: only the adapter listens."""

    def attach(self, base_url: str) -> None:
        """No webhook is called."""

    async def wait_connected(self, timeout: float = PATIENCE) -> None:
        """People are let in by `host`."""

    def room(self, title: str, kind: RoomKind = "public") -> SimRoom:
        raise NotSupported("there are direct conversations only")

    def direct(self, person: SimPerson) -> SimRoom:
        return SimRoom(person.id, "direct", person.name)

    async def open_thread(self, person: SimPerson, room: SimRoom, title: str) -> SimRoom:
        raise NotSupported("there are no threads")

    async def react(self, person: SimPerson, room: SimRoom, message_id: str, emoji: str) -> None:
        raise NotSupported("there are no reactions")

    async def drop_connections(self) -> None:
        raise NotSupported("nothing to connect again")

    def shown(self, room: SimRoom) -> list[Shown]:
        return list(self.seen.get(room.id, {}).values())

    async def wait_for(
        self, room: SimRoom, found: Callable[[list[Shown]], bool], timeout: float = PATIENCE
    ) -> list[Shown]:
        if not await self.changed.wait_until(lambda: found(self.shown(room)), timeout):
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
        for task in self._reading:
            task.cancel()
        await asyncio.gather(*self._reading, return_exceptions=True)
