"""Asks the platforms for the names of rooms, for people who look at conversations. Ids decide,
names only help to read."""

import asyncio
from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Final

import structlog

from gateway.errors import DeliveryError
from gateway.latest import Latest
from gateway.platforms import ConnectedAccount
from gateway.ports import Clock
from safety.unicode import safe_unicode

ASK_SECONDS: Final = 0.4
"""The time limit of all answers together; a page waits for them."""
MOST_AT_ONCE: Final = 25
"""Rooms that are asked for at once."""
KEPT_FOR: Final = timedelta(hours=1)
DOUBTED_FOR: Final = timedelta(minutes=1)
"""The time for which a room without an answer is not asked for again."""
MAX_ROOMS: Final = 5_000
MAX_NAME: Final = 200
"""Characters of a name that are kept."""
log = structlog.get_logger(__name__)


class RoomNames:
    """Names of rooms over the connected accounts, with a bounded cache. A room is named as
    "platform:account:channel"."""

    def __init__(self, connected: Mapping[tuple[str, str], ConnectedAccount], clock: Clock) -> None:
        self._connected = connected
        self._clock = clock
        self._known: Latest[str, tuple[float, str]] = Latest(MAX_ROOMS)

    async def of(self, rooms: Collection[str]) -> Mapping[str, str]:
        """Return the names that are known or that the platforms tell in time. Never raises."""
        now = self._clock.monotonic()
        unknown = [one for one in dict.fromkeys(rooms) if self._known.get(one, (0.0, ""))[0] <= now]
        await self._ask(unknown[:MOST_AT_ONCE])
        named = ((one, self._known.get(one, (0.0, ""))[1]) for one in rooms)
        return {room: name for room, name in named if name}

    async def _ask(self, rooms: Collection[str]) -> None:
        asked = {asyncio.create_task(self._name(room)): room for room in rooms}
        if not asked:
            return
        try:
            done, late = await asyncio.wait(asked, timeout=ASK_SECONDS)
        finally:
            for task in asked:
                task.cancel()
        until = self._clock.monotonic()
        for task, room in asked.items():
            name = task.result() if task in done else ""
            lasts = KEPT_FOR if name else DOUBTED_FOR
            self._known.pop(room, None)
            self._known[room] = (until + lasts.total_seconds(), name)
        if late:
            log.info("room_names_late", rooms=len(late))

    async def _name(self, room: str) -> str:
        platform, _, rest = room.partition(":")
        account, _, channel = rest.partition(":")
        connected = self._connected.get((platform, account))
        if connected is None or connected.rooms is None:
            return ""
        try:
            name = await connected.rooms.room_name(channel)
        except DeliveryError as error:
            log.info("room_name_unknown", platform=platform, error=str(error))
            return ""
        except Exception:
            log.exception("room_name_failed", platform=platform)
            return ""
        return " ".join(safe_unicode(name[:MAX_NAME]).split())
